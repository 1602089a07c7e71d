"""Aggregates of windows by key are those of all tuples of each window."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from framework import APlus, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates import PaneWindow
from framework.operators.windows.aggregates.numbers import Sum
from framework.operators.windows.spec import LATENESS_MS, TIME_FIELD
from tests.framework.operators.windows.operators import GROUPS, Keyed, Row, drawn, expected
from tests.framework.operators.windows.test_against_brute_force import PLANS
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import seeds_at_every_change


class Total(APlus):
    """Adds up the numbers of tuples."""

    outputs = ["key", "total"]
    aggregate = Sum("number")


def run(
    rows: list[Row], size: int, advance: int, par: int, workers: Workers = INLINE, *,
    conf: dict[str, Any] | None = None, **options: Any,
) -> list[tuple[Any, ...]]:
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[rows])
    builder.set_bolt("windows", Total(size, advance), par, config=conf).fields_grouping("source", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found: list[tuple[Any, ...]] = workers.run(builder, viper__key__groups=GROUPS, **options).result("sink")
    return found


def searched(rows: list[Row], size: int, advance: int, *, single: bool) -> list[tuple[Any, ...]]:
    told = expected(rows, size, advance, several=False, single=single)
    return [(key, sum(numbers)) for key, _, end, numbers in told if end is not None]


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(300), 30))
def test_aggregates_are_those_of_a_search(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        rows, advance = drawn(random, random.randrange(1, 80)), random.choice((1000, 3000, 10_000))
        size = random.choice((advance, 2 * advance, 5 * advance // 2, 6 * advance))
        par, options = random.randrange(1, 6), random.choice(PLANS)
        found = run(rows, size, advance, par, **options)
        told = searched(rows, size, advance, single=size > advance)
        assert found == told, f"seed {seed}: {size}, {advance}, {par} tasks, {options}"


@every_kind
def test_aggregates_of_windows_that_are_kept(workers: Workers) -> None:
    rows = drawn(Random(5), 100)
    conf = {LATENESS_MS: 5, TIME_FIELD: "time"}
    assert run(rows, 6000, 2000, 3, workers, conf=conf) == searched(rows, 6000, 2000, single=False)


def test_panes_that_stay_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaneWindow, "accumulated", lambda self, end: sum(self.panes.values()) + 1)
    with pytest.raises(AssertionError):
        test_aggregates_are_those_of_a_search(range(10))


def test_windows_behind_others_hold_their_own_stretch() -> None:
    rows = [Row(number, [], "a", number) for number in range(40)]
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[rows])
    operator = Total("10ms", "5ms", offset="2ms")
    builder.set_bolt("windows", operator).fields_grouping("source", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found = [total for _, total in run_built(builder).result("sink")]
    starts = range(-8, 40, 5)
    assert found == [sum(number for number in range(40) if start <= number < start + 10) for start in starts]
