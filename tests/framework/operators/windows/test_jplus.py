"""Joins in windows are those of a search over all windows, for every form, place and plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework import Band, JPlus, Spout, StreamBuilder, TopologyBuilder, Within
from framework.frontends.streams import CountWindow, Session, Sliding, Tumbling
from framework.model.errors import ComponentError, TopologyError
from framework.operators.sinks import CollectingSink
from framework.operators.windows.spec import LATENESS_MS, TIME_FIELD
from framework.testing import run_topology
from tests.framework.operators.windows import operators
from tests.framework.operators.windows.operators import GROUPS, Keyed, Row, group_of
from tests.framework.operators.windows.test_against_brute_force import PLANS
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import seeds_at_every_change

Event = tuple[int, Row]
"""The number of the input, and the tuple."""
NAMES = [f"{side}_{name}" for side in ("left", "right") for name in Row._fields]


def drawn(random: Random) -> list[Event]:
    """Tuples of two streams in their order: the left ones come first of one time."""
    events, shift = list[Event](), random.choice((-300, -7, 0, 1_700_000_000_000))
    for side in (0, 1):
        rows = operators.drawn(random, random.randrange(50))
        begin = rows[0].time if rows else 0
        events += [(side, row._replace(time=row.time - begin + shift)) for row in rows]
    return sorted(events, key=lambda event: (event[1].time, event[0]))


def joining(
    events: Sequence[Event], bolt: JPlus, par: int, mode: dict[str, Any] | None = None
) -> TopologyBuilder:
    builder = TopologyBuilder()
    for side, name in enumerate(("left", "right")):
        builder.set_spout(name, Keyed, args=[[row for of, row in events if of == side]])
    join = builder.set_bolt("join", bolt, par, config=mode)
    for name in ("left", "right"):
        join.all_grouping(name) if bolt.derives_keys else join.fields_grouping(name, ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    return builder


def pair(one: Event, other: Event) -> tuple[Any, ...]:
    return (*one[1], *other[1]) if one[0] == 0 else (*other[1], *one[1])


def belong(events: Sequence[Event], late: int, early: int, width: int | None, within: int | None) -> bool:
    (side, row), (other, stored) = events[late], events[early]
    near = width is None or abs(row.number - stored.number) <= width
    close = within is None or row.time - stored.time <= within
    return side != other and row.key == stored.key and near and close


def searched(
    events: Sequence[Event], size: int, advance: int, *, single: bool, at_end: bool,
    width: int | None, within: int | None,
) -> list[tuple[Any, ...]]:  # fmt: skip
    """All pairs; times in milliseconds, lengths in microseconds."""
    if at_end:
        return _at_ends(events, size, advance, single, width, within)
    found = []
    for late, (_, row) in enumerate(events):
        starts = sorted(operators._starts(row.time * 1000, size, advance))
        for start in [s for s in starts if s <= row.time * 1000][: 1 if single else None]:
            for early in range(late):
                if events[early][1].time * 1000 >= start and belong(events, late, early, width, within):
                    found.append(pair(events[late], events[early]))
    return found


def _at_ends(
    events: Sequence[Event], size: int, advance: int, single: bool, width: int | None, within: int | None
) -> list[tuple[Any, ...]]:
    windows = []
    for key in {row.key for _, row in events}:
        of_key = [(place, row.time * 1000, 0) for place, (_, row) in enumerate(events) if row.key == key]
        windows += list(operators._windows(key, of_key, size, advance, single))
    found = []
    for window in sorted(windows):
        places = window.row[3]
        for late in places:
            for early in places:
                if early < late and belong(events, late, early, width, within):
                    found.append(pair(events[late], events[early]))
    return found


def check(seed: int, workers: Workers = INLINE) -> None:
    random = Random(seed)
    events, advance = drawn(random), random.choice((1000, 3000, 10_000))
    size = random.choice((advance, 2 * advance, 5 * advance // 2, 7 * advance))
    single, at_end = random.random() < 0.5, random.random() < 0.5
    width, within = random.choice((None, 3)), random.choice((None, 4))
    on = [*([Band(number=width)] if width is not None else []), *([Within(f"{within}ms")] if within else [])]
    bolt = JPlus(
        size, advance, on=on, fields=NAMES, pairs_at="end" if at_end else "tuple",
        windows="single" if single else "multi",
    )  # fmt: skip
    par, options = random.randrange(1, 7), random.choice(PLANS)
    found = workers.run(joining(events, bolt, par), viper__key__groups=GROUPS, **options).result("sink")
    expected = searched(events, size, advance, single=single, at_end=at_end, width=width, within=within)
    told = f"seed {seed}: {size}, {advance}, {single=}, {at_end=}, {on}, {par} tasks, {options}"
    assert found == expected, told


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(400), 40))
def test_pairs_are_those_of_a_search(seeds: range) -> None:
    for seed in seeds:
        check(seed)


@pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(500, 530), 2))
def test_on_several_workers(seeds: range, workers: Workers) -> None:
    for seed in seeds:
        check(seed, workers)


def test_a_tuple_that_stays_too_long_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JPlus, "slide", lambda self, window: window.state)
    with pytest.raises(AssertionError):
        test_pairs_are_those_of_a_search(range(20))


class Dealt(JPlus):
    """Deals stored tuples among keys."""

    outputs = NAMES
    all_keys = range(5)

    def keys(self, tup: Any) -> range:
        return self.all_keys

    def stores(self, window: Any, number: int) -> bool:
        return number % len(self.all_keys) == window.key

    def matches(self, left: Any, right: Any) -> bool:
        return bool(left.key == right.key)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "mode", [{}, {"viper.keys": "producer"}, {"viper.input": "copied"}, {"viper.input": "keyed"}], ids=str
)
@pytest.mark.parametrize("par", [1, 4])
def test_tuples_can_be_dealt_among_keys(mode: dict[str, Any], par: int) -> None:
    """As in ScaleJoin; the pairs of one tuple are in the order of the keys' groups."""
    count = 0
    for seed in range(8):
        events = drawn(Random(seed))
        found = run_built(joining(events, Dealt("10ms", "5ms"), par, mode)).result("sink")
        told = searched(events, 10_000, 5000, single=True, at_end=False, width=None, within=None)
        assert sorted(found, key=str) == sorted(told, key=str)
        assert found == run_built(joining(events, Dealt("10ms", "5ms"), 1)).result("sink")
        count += len(found)
    assert count > 20


def at(*times: tuple[int, int]) -> list[Event]:
    return [(side, Row(number, [], "a", time)) for number, (side, time) in enumerate(times)]


def numbers(rows: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    return [(row[0], row[4]) for row in rows]


def test_sessions_join_what_they_hold() -> None:
    events = at((0, 0), (1, 3), (0, 9), (1, 12), (0, 40), (1, 44))
    bolt = JPlus(gap="5ms", windows="multi", fields=NAMES, pairs_at="end")
    assert numbers(run_built(joining(events, bolt, 2)).result("sink")) == [(0, 1), (2, 3), (4, 5)]


def test_a_late_tuple_is_joined_with_what_its_window_has_kept() -> None:
    rows: list[Event] = at((0, 1), (1, 12), (1, 2), (0, 3), (0, 40), (1, 4))
    builder = TopologyBuilder()
    given = {"viper.timestamp.field": "time", "viper.timestamp.late": "admit"}
    builder.set_spout("left", Keyed, args=[[row for side, row in rows if side == 0]], config=given)
    builder.set_spout("right", Keyed, args=[[row for side, row in rows if side == 1]], config=given)
    bolt = JPlus("10ms", windows="multi", fields=NAMES)
    config = {TIME_FIELD: "time", LATENESS_MS: 20}
    join = builder.set_bolt("join", bolt, config=config)
    join.fields_grouping("left", ["key"]).fields_grouping("right", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    # The right ones come at 12, the second and third late; the left one of 3 comes in time, at 3.
    assert numbers(run_built(builder).result("sink")) == [(0, 2), (3, 2), (0, 5), (3, 5)]


FLUX = """
name: joined
spouts:
  - {id: left, className: tests.framework.operators.windows.operators.Keyed, constructorArgs: [[]]}
  - {id: right, className: tests.framework.operators.windows.operators.Keyed, constructorArgs: [[]]}
bolts:
  - id: join
    className: viperstorm.JPlus
    parallelism: 2
    constructorArgs: [10ms, 5ms]
    properties:
      - {name: "on", value: [{band: {number: 1}}]}
      - {name: fields, value: [a, b, c, d, e, f, g, h]}
streams:
  - {from: left, to: join, grouping: {type: FIELDS, args: [key]}}
  - {from: right, to: join, grouping: {type: FIELDS, args: [key]}}
"""


def test_a_join_is_written_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "joined.yaml").write_text(FLUX, encoding="utf-8")
    events = at((0, 1), (1, 3), (1, 4), (0, 30))
    inputs = {name: [row for side, row in events if side == n] for n, name in enumerate(("left", "right"))}
    assert numbers(run_topology(tmp_path / "joined.yaml", inputs=inputs).emitted("join")) == [(0, 1)]


class Timed(Spout):
    """Emits rows of a key, a number and a time."""

    outputs = ["user", "number", "time"]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, rows: Sequence[tuple[str, int, int]]) -> None:
        super().__init__()
        self._rows = rows

    def tuples(self) -> Iterator[tuple[str, int, int]]:
        yield from self._rows


@pytest.mark.parametrize(
    "window, pairs_at, expected",
    [
        (Tumbling("10ms"), "tuple", [(1, 1), (2, 1), (3, 3)]),
        (Sliding("10ms", "5ms"), "tuple", [(1, 1), (2, 1), (2, 2), (3, 3)]),
        (Sliding("10ms", "5ms"), "end", [(1, 1), (1, 1), (2, 1), (2, 2), (3, 3), (3, 3)]),
        (Session("4ms"), "end", [(1, 1), (2, 2), (3, 3)]),
    ],
)
def test_streams_are_joined_in_windows(window: Any, pairs_at: Any, expected: list[tuple[int, int]]) -> None:
    builder = StreamBuilder()
    left = builder.new_stream(Timed([("a", 1, 1), ("a", 2, 9), ("a", 3, 40)]), name="left").key_by("user")
    right = builder.new_stream(Timed([("a", 1, 4), ("a", 2, 12), ("a", 3, 41)]), name="right").key_by("user")
    joined = left.join(right, window=window, pairs_at=pairs_at, par=2)
    assert joined.fields == ("user", "number", "time", "right_user", "right_number", "right_time")
    joined.to(CollectingSink, name="sink")
    from tests.framework.operators.windows.joins.test_joins_of_streams import result

    assert [(row[1], row[4]) for row in result(builder.build("j"))] == expected


def test_what_has_no_meaning_is_refused() -> None:
    def declared(**given: Any) -> None:
        run_built(joining([], JPlus("1s", fields=NAMES, **given), 1))

    with pytest.raises(ValueError, match="pairs_at='start'"):
        declared(pairs_at="start")
    with pytest.raises(TypeError, match="no condition"):
        declared(on=3)
    with pytest.raises(ValueError, match="would lose the pairs"):
        run_built(joining([], Dealt("1s", pairs_at="end"), 1))
    with pytest.raises(ValueError, match="windows='multi'"):
        run_built(joining([], JPlus(gap="1s", fields=NAMES), 1))
    with pytest.raises(ComponentError, match="join by field 'nobody'"):
        declared(on=Band(nobody=3))
    builder = TopologyBuilder()
    builder.set_spout("left", Keyed, args=[[]])
    builder.set_bolt("join", JPlus("1s", fields=NAMES)).fields_grouping("left", ["key"])
    with pytest.raises(TopologyError, match="subscribes to 1 stream"):
        run_built(builder)


def test_streams_that_cannot_be_joined_in_windows_are_refused() -> None:
    builder = StreamBuilder()
    one, other = (builder.new_stream(Timed([]), name=name) for name in ("one", "other"))
    left, right = one.key_by("user"), other.key_by("user")
    for arguments, says in (
        ({"window": CountWindow(3)}, "windows by count"),
        ({"window": Tumbling("1s"), "how": "left"}, "expected one of them"),
        ({"window": Tumbling("1s"), "index": "number"}, "expected one of them"),
        ({"on": Within("1s"), "pairs_at": "end"}, "expected a window, too"),
    ):
        with pytest.raises(ValueError, match=says):
            left.join(right, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected key_by"):
        one.join(other, window=Tumbling("1s"))


def test_groups_are_as_the_search_has_them() -> None:
    """The keys of these tests lie in several groups, so that their order is told."""
    assert len({group_of(f"key{number}") for number in range(12)}) > 2
