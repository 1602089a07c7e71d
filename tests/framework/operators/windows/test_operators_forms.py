"""Forms of windows by key: sessions, counts, two inputs, late tuples, windows of windows, and front ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework import Bolt, Count, KeyWindow, OPlus, SideWindow, Stream, TopologyBuilder, Tuple
from framework.model.errors import TopologyError
from framework.operators.sinks import CollectingSink
from framework.operators.windows.spec import LATENESS_MS, TIME_FIELD
from framework.testing import run_bolt, run_topology
from tests.framework.operators.windows.operators import Keyed, Row, TellWindow
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind


class Numbers(OPlus):
    """Emits the numbers of each window."""

    outputs = [Stream(["key", "start", "end", "numbers", "update"]), Stream(["tuple"], name="late")]

    def create(self) -> list[int]:
        return []

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> None:
        window.state.append(tup.values.number)

    def output(self, window: KeyWindow) -> list[tuple[Any, ...]]:
        return [(window.key, window.start, window.end, [*window.state], window.is_update)]


def run(
    rows: Sequence[Row], operator: OPlus, par: int = 1, workers: Workers = INLINE, **config: Any
) -> list[tuple[Any, ...]]:
    builder = TopologyBuilder()
    given = {"viper.timestamp.field": "time", "viper.timestamp.late": "admit"}
    builder.set_spout("source", Keyed, args=[rows], config=given)
    chosen = {key.replace("__", "."): value for key, value in config.items()}
    builder.set_bolt("windows", operator, par, config=chosen).fields_grouping("source", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found: list[tuple[Any, ...]] = workers.run(builder).result("sink")
    return found


def at(*times: int, key: str = "a") -> list[Row]:
    return [Row(number, [], key, time) for number, time in enumerate(times)]


@every_kind
def test_a_session_ends_behind_a_gap(workers: Workers) -> None:
    """A tuple that comes just the gap later begins the next."""
    found = run(at(0, 3, 7, 12, 12, 30), Numbers(gap="5ms"), 2, workers)
    assert [(start // 1000, end // 1000, numbers) for _, start, end, numbers, _ in found] == [
        (0, 12, [0, 1, 2]),
        (12, 17, [3, 4]),
        (30, 35, [5]),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_sessions_are_those_of_a_search(seed: int) -> None:
    random = Random(seed)
    times = sorted(random.randrange(60) for _ in range(30))
    rows = [Row(number, [], random.choice("abc"), time) for number, time in enumerate(times)]
    expected = []
    for key in "abc":
        session: list[Row] = []
        for row in [*(row for row in rows if row.key == key), Row(-1, [], key, 10_000)]:
            if session and row.time - session[-1].time >= 4:
                expected.append((key, session[0].time, session[-1].time + 4, [r.number for r in session]))
                session = []
            session.append(row)
    found = run(rows, Numbers(gap=4000), random.randrange(1, 5))
    told = [(key, start // 1000, end // 1000, numbers) for key, start, end, numbers, _ in found]
    assert sorted(told) == sorted(expected), seed
    assert [end for _, _, end, _ in told] == sorted(end for _, _, end, _ in told)


def test_windows_by_count_are_those_of_a_key() -> None:
    """They end with the tuple that completes them, and at the end of the input if that is asked for."""
    rows = [Row(number, [], "ab"[number % 2], number) for number in range(12)]
    found = run(rows, Numbers(Count(4), Count(2)), 2)
    assert [(key, start, end, numbers) for key, start, end, numbers, _ in found] == [
        ("a", 0, 4, [0, 2, 4, 6]),
        ("b", 0, 4, [1, 3, 5, 7]),
        ("a", 2, 6, [4, 6, 8, 10]),
        ("b", 2, 6, [5, 7, 9, 11]),
    ]
    rest = run(rows, Numbers(Count(4), Count(2)).with_partial_window())[len(found) :]
    assert sorted((key, start, numbers) for key, start, _, numbers, _ in rest) == [
        ("a", 4, [8, 10]),
        ("b", 4, [9, 11]),
    ]


LATE = at(1, 12, 3, 26, 14, 2, 27)


@every_kind
def test_windows_are_put_out_once_more_for_late_tuples(workers: Workers) -> None:
    lateness = {TIME_FIELD: "time", LATENESS_MS: 10}
    found = run(LATE, Numbers("10ms"), 1, workers, **lateness)
    assert [(end // 1000, numbers, update) for _, _, end, numbers, update in found] == [
        (10, [0], False),
        (10, [0, 2], True),
        (20, [1], False),
        (20, [1, 4], True),
        (30, [3, 6], False),
    ]


class Unpacked(Bolt):
    """Emits the numbers of late tuples."""

    outputs = ["number"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([tup.values.tuple.values.number])


class TwoKeys(Numbers):
    """Each tuple has two keys."""

    def keys(self, tup: Tuple) -> list[str]:
        return ["a", "b"]


@pytest.mark.parametrize("par", [1, 3])
@pytest.mark.parametrize("cls", [Numbers, TwoKeys])
def test_tuples_that_are_too_late_have_a_stream(cls: type[Numbers], par: int) -> None:
    builder = TopologyBuilder()
    given = {"viper.timestamp.field": "time", "viper.timestamp.late": "admit"}
    builder.set_spout("source", Keyed, args=[LATE], config=given)
    operator = cls("10ms").with_timestamp_field("time").with_late_tuple_stream("late")
    windows = builder.set_bolt("windows", operator, par)
    windows.all_grouping("source") if cls.derives_keys else windows.fields_grouping("source", ["key"])
    builder.set_bolt("late", Unpacked).shuffle_grouping("windows", stream="late")
    builder.set_bolt("sink", CollectingSink).global_grouping("late")
    assert run_built(builder).result("sink") == [(2,), (4,), (5,)]


class Pairs(OPlus):
    """Emits the numbers of both inputs in each window, and each pair as it comes about."""

    outputs = ["key", "end", "left", "right"]
    inputs = 2

    def create(self) -> list[int]:
        return []

    def update(self, windows: tuple[SideWindow, SideWindow], tup: Tuple, side: int = 0) -> Any:
        windows[side].state.append(tup.values.number)
        pairs = [(tup.values.number, other) for other in windows[1 - side].state]
        return [(windows[0].key, None, *(pair if side == 0 else pair[::-1])) for pair in pairs]

    def output(self, windows: tuple[SideWindow, SideWindow]) -> Any:
        yield windows[0].key, windows[0].end, windows[0].state, windows[1].state


@pytest.mark.parametrize("par", [1, 3])
def test_two_inputs_have_states_of_their_own(par: int) -> None:
    builder = TopologyBuilder()
    builder.set_spout("left", Keyed, args=[at(1, 5, 12)])
    builder.set_spout("right", Keyed, args=[at(2, 6)])
    windows = builder.set_bolt("windows", Pairs("10ms"), par)
    windows.fields_grouping("left", ["key"]).fields_grouping("right", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    assert run_built(builder).result("sink") == [
        ("a", None, 0, 0),
        ("a", None, 1, 0),
        ("a", None, 0, 1),
        ("a", None, 1, 1),
        ("a", 10_000, [0, 1], [0, 1]),
        ("a", 20_000, [2], []),
    ]


class Sums(OPlus):
    """Counts what windows have."""

    outputs = ["key", "end", "numbers"]

    def create(self) -> int:
        return 0

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> None:
        window.state += len(tup.values.numbers)

    def output(self, window: KeyWindow) -> Any:
        yield window.key, window.end, [window.state]


class Sliding(Sums):
    """Likewise, with one window for each key."""

    windows = "single"

    def slide(self, window: KeyWindow) -> int:
        return 0


@every_kind
def test_an_output_falls_into_the_window_that_starts_at_its_end(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[at(*range(60))])
    builder.set_bolt("first", Numbers("5ms"), 3).fields_grouping("source", ["key"])
    builder.set_bolt("second", Sums("20ms"), 2).fields_grouping("first", ["key"])
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("second")
    assert workers.run(builder).result("sink") == [
        ("a", 20_000, [15]),
        ("a", 40_000, [20]),
        ("a", 60_000, [20]),
        ("a", 80_000, [5]),
    ]


@pytest.mark.parametrize("cls", [Sums, Sliding])
@pytest.mark.parametrize("par", [1, 3])
def test_windows_with_an_offset_have_the_outputs_of_one_stretch_of_time(cls: type[Sums], par: int) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[at(*range(60))])
    builder.set_bolt("first", Numbers("5ms"), 3).fields_grouping("source", ["key"])
    builder.set_bolt("second", cls("20ms", "20ms", offset="5ms"), par).fields_grouping("first", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    assert run_built(builder).result("sink") == [("a", (25 + 20 * n) * 1000, [20]) for n in range(3)]


@pytest.mark.parametrize(
    "operator, says",
    [
        (TellWindow(), "size and advance, or gap"),
        (TellWindow(Count(3), "10ms"), "of which one is a count"),
        (Pairs("10ms"), "subscribes to 1 streams"),
    ],
)
def test_what_has_no_meaning_is_refused(operator: OPlus, says: str) -> None:
    with pytest.raises(TopologyError, match=says):
        run(at(1), operator)


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"size": "ten"}, ValueError),
        ({"size": 0}, ValueError),
        ({"size": 2.5}, TypeError),
        ({"size": "1s", "gap": "1s"}, ValueError),
        ({"size": "1s", "windows": "two"}, ValueError),
        ({"gap": Count(2)}, TypeError),
        ({"size": Count(2), "windows": "single"}, ValueError),
        ({"size": Count(2), "offset": 1}, ValueError),
        ({"size": "1s", "offset": Count(1)}, TypeError),
        ({"size": "1s", "offset": "one"}, ValueError),
    ],
)
def test_lengths_that_are_none_are_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        TopologyBuilder().set_bolt("windows", TellWindow(**arguments))


def test_lengths_can_be_written_in_several_ways() -> None:
    told = [TellWindow(size).component_configuration for size in ("1.5s", 1_500_000, timedelta(seconds=1.5))]
    assert told[0] == told[1] == told[2]


def test_several_tasks_of_keys_of_their_own_need_all_tuples() -> None:
    class Keys(TellWindow):
        def keys(self, tup: Tuple) -> list[str]:
            return []

    with pytest.raises(TopologyError, match="expected an all grouping"):
        run(at(1), Keys("10ms"), 2)


def test_a_tuple_is_not_processed_by_an_operator() -> None:
    with pytest.raises(TypeError, match="gets its tuples in update"):
        type("Own", (OPlus,), {"process": lambda self, tup: None})


class AllKeys(Numbers):
    """Windows of several keys for each tuple."""

    def keys(self, tup: Tuple) -> list[str]:
        found: list[str] = tup.values.keys
        return found


@pytest.mark.parametrize("cls", [Numbers, AllKeys])
def test_an_operator_can_be_tried_without_a_topology(cls: type[Numbers]) -> None:
    rows = [Row(number, ["a", "b"], "a", number) for number in range(12)]
    conf, given = {TIME_FIELD: "time"}, {"size": "5ms"}
    key = [] if cls.derives_keys else ["key"]
    found = run_bolt(cls, rows, fields=Row._fields, conf=conf, key=key, kwargs=given).emitted()
    told = [(key, end // 1000, numbers) for key, _, end, numbers, _ in found]
    for name in "ab" if cls.derives_keys else "a":
        ends = [(end, numbers) for key, end, numbers in told if key == name]
        assert ends == [(5, [0, 1, 2, 3, 4]), (10, [5, 6, 7, 8, 9]), (15, [10, 11])]


FLUX = """
name: windows
components:
  - id: size
    className: org.apache.storm.topology.base.BaseWindowedBolt$Duration
    constructorArgs: [10, MILLISECONDS]
spouts:
  - id: source
    className: tests.framework.operators.windows.operators.Keyed
    constructorArgs: [[]]
bolts:
  - id: made
    className: tests.framework.operators.windows.test_operators_forms.Numbers
    constructorArgs: [{ref: size}]
  - id: set
    className: tests.framework.operators.windows.test_operators_forms.Numbers
    properties: [{name: size, value: 10ms}]
streams:
  - {from: source, to: made, grouping: {type: FIELDS, args: [key]}}
  - {from: source, to: set, grouping: {type: FIELDS, args: [key]}}
"""


def test_windows_are_formed_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "windows.yaml").write_text(FLUX, encoding="utf-8")
    run = run_topology(tmp_path / "windows.yaml", inputs={"source": at(1, 2, 14)})
    for name in ("made", "set"):
        assert [row[3] for row in run.emitted(name)] == [[0, 1], [2]]
