"""Outer joins: what has no partner is put out at the time from which on none can come."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework import Count, KeyWindow, OPlus, TopologyBuilder, Tuple
from framework.model.errors import TopologyError
from framework.operators.components import JoinBolt
from framework.operators.sinks import CollectingSink
from framework.operators.windows.joins import Band, Equal, How, OpenJoin, SameWindow, Within
from tests.framework.operators.windows.joins.joined import (
    FIELDS,
    LEFT,
    RIGHT,
    Event,
    Left,
    Right,
    Row,
    drawn,
    joining,
)
from tests.framework.runtime.durability.checkpoints.suspended import (
    Suspending,
    check_cut_at,
    check_suspended_at,
    run_suspended,
)
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from viper.hashing import group_of_hash, stable_hash

HOWS: tuple[How, ...] = ("left", "right", "full")
SAME = Equal(left="k", right="l") & Band(2, left="x", right="a")
TIMES = (
    (Within(before="3ms", after="9ms"), lambda time, side: time * 1000 + (9000, 3000)[side] + 1),
    (SameWindow("10ms"), lambda time, side: (time // 10 + 1) * 10_000),
)


def matches(left: Row, right: Row) -> bool:
    return left[1] == right[1] and None not in (left[2], right[2]) and abs(left[2] - right[2]) <= 2


def expected(events: list[Event], how: How, end_of: Any, by_key: bool) -> list[Row]:
    """Pairs at the later tuple; others at their end, by key group, and then as they came."""
    found, partners = [], set[int]()
    for number, (side, time, values) in enumerate(events):
        for before, (other, stored_time, stored) in enumerate(events[:number]):
            left, right = (values, stored) if side == 0 else (stored, values)
            if other == side or not matches(left, right) or end_of(stored_time, other) <= time * 1000:
                continue
            if end_of is TIMES[0][1] and side == 0 and stored_time < time - 3:
                continue
            partners |= {number, before}
            found.append(((time * 1000, 1, number, before), left + right))
    for number, (side, time, values) in enumerate(events):
        if number not in partners and how in ("full", ("left", "right")[side]):
            group = group_of_hash(stable_hash(values[1]), 256) if by_key else 0
            row = (*values, *[None] * len(RIGHT)) if side == 0 else (*[None] * len(LEFT), *values)
            found.append(((end_of(time, side), 0, group, number), row))
    return [row for _, row in sorted(found, key=lambda one: one[0])]


def run(
    events: list[Event], how: How, condition: Any, par: int, keys: Any, workers: Workers = INLINE,
    **given: Any,
) -> list[tuple[Row, Row]]:  # fmt: skip
    bolt = JoinBolt("left", "right", SAME & condition, FIELDS, how=how, index=["k"])
    found: list[tuple[Row, Row]] = workers.run(joining(events, bolt, par, keys), **given).result("sink")
    assert [at for _, at in found] == sorted({at for _, at in found})
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("time", (0, 1))
@pytest.mark.parametrize("seed", range(3))
def test_tuples_without_a_partner_are_put_out_at_their_end(seed: int, time: int, how: How) -> None:
    condition, end_of = TIMES[time]
    events = drawn(Random(seed), 150, with_none=True)
    serial = run(events, how, condition, 1, ("k", "l"))
    assert [row for row, _ in serial] == expected(events, how, end_of, by_key=True)
    for par, options in ((2, {"viper__slice__tuples": 3}), (3, {}), (6, {"viper__jumbo__size": 2})):
        assert run(events, how, condition, par, ("k", "l"), **options) == serial
    whole = run(events, how, condition, 1, None)
    assert [row for row, _ in whole] == expected(events, how, end_of, by_key=False)


@pytest.mark.few(2)
@every_kind
def test_they_do_not_depend_on_workers(workers: Workers) -> None:
    events = drawn(Random(5), 200)
    serial = run(events, "full", TIMES[0][0], 1, ("k", "l"))
    assert run(events, "full", TIMES[0][0], 3, ("k", "l"), workers) == serial


NAMES = [f"{side}_{name}" for side in ("left", "right") for name in ("partition", "number", "key")]


def suspended(left: Partitions) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("left", left)
    builder.set_spout("right", Partitions(3, 200, 7))
    on = Equal("key") & Band(number=2) & Within("9us")
    join = builder.set_bolt("join", JoinBolt("left", "right", on, NAMES, how="full"), 2)
    join.fields_grouping("left", "key").fields_grouping("right", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    return builder


@pytest.mark.slow
def test_a_run_can_be_suspended_at_every_time(tmp_path: Path) -> None:
    check_suspended_at((100, 200, 279, 280), suspended, tmp_path / "suspended")
    check_cut_at((279, 280), suspended, tmp_path / "cut")


class Three(OPlus):
    """Emits the first of three tuples of a key, and at the end of all that of fewer."""

    outputs = list(LEFT)
    size = Count(3)

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> None:
        window.state = window.state or tuple(tup.values)

    def output(self, window: KeyWindow) -> Any:
        yield window.state


def test_tuples_behind_all_that_has_a_time_are_put_out_without_a_partner() -> None:
    events = [event for event in drawn(Random(3), 40) if event[0] == 0]
    builder = TopologyBuilder()
    builder.set_spout("left", Left(events))
    builder.set_spout("right", Right([]))
    builder.set_bolt("three", Three().with_partial_window(), 2).fields_grouping("left", "k")
    join = JoinBolt("three", "right", SAME & Within("1s"), FIELDS, how="full")
    declarer = builder.set_bolt("join", join, 2)
    declarer.fields_grouping("three", "k").fields_grouping("right", "l")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    found = run_built(builder).result("sink")
    firsts = [values for key in "abc" for values in [v for *_, v in events if v[1] == key][::3]]
    assert sorted(row[: len(LEFT)] for row in found) == sorted(firsts)


def test_a_join_that_forgets_who_has_a_partner_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenJoin, "flush", lambda self: None)
    whole = run_built(suspended(Partitions(4, 300, 1))).result("sink")
    first = run_suspended(suspended(Suspending(4, 300, 1, os.getpid(), 60)), tmp_path)
    second = run_built(suspended(Partitions(4, 300, 1)), {"start": tmp_path})
    assert first.result("sink") + second.result("sink") != whole


def test_what_cannot_know_of_partners_is_refused() -> None:
    bolt = JoinBolt("left", "right", SAME & Within("1s"), FIELDS, how="left")
    with pytest.raises(TopologyError, match="behind an all grouping"):
        plan_of(joining([], bolt, 2, None))
    with pytest.raises(TopologyError, match="expected stable"):
        plan_of(joining([], bolt, 2, ("k", "l")), viper__grouping__hash="storm")
    with pytest.raises(ValueError, match="how='outer'"):
        JoinBolt("left", "right", SAME & Within("1s"), FIELDS, how="outer")  # type: ignore[arg-type]
