"""Tuples that come too late: put in order, passed by, or taken into windows that fire again."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from framework import Bolt, Stream, TopologyBuilder, TupleWindow
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.operators.windows.spec import LATE_STREAM, LATENESS_MS, LENGTH_MS, SLIDE_MS, TIME_FIELD
from tests.framework.operators.windows.windowed import Both, Numbered, Rows, Tell
from tests.framework.runtime.pieces import Row, run_built
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import seeds_at_every_change


class TellLate(Tell):
    """Emits the end and the numbers of each window, whether it is an update, and late tuples as they are."""

    outputs = [Stream(["end", "numbers", "new"]), Stream(["late_tuple"], name="late")]

    def process_window(self, window: TupleWindow) -> None:
        new = [tup.values.number for tup in window.new] if window.is_update else None
        self.emit([window.end // 1000, [tup.values.number for tup in window.tuples], new])


class Unpacked(Bolt):
    """Emits the number of each late tuple."""

    outputs = ["number"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([tup.values.late_tuple.values.number])


def run(rows: Rows, config: dict[str, Any], workers: Workers = INLINE, **options: Any) -> list[Row]:
    """Run windows over rows, and list windows and late tuples in their order."""
    builder = TopologyBuilder()
    given = {"viper.timestamp.field": "time", "viper.timestamp.late": "admit"}
    builder.set_spout("source", Numbered, args=[rows], config=given)
    builder.set_bolt("both", Both, 2).shuffle_grouping("source")
    chosen = {TIME_FIELD: "time", LATE_STREAM: "late", **config}
    builder.set_bolt("windows", TellLate, config=chosen).global_grouping("both")
    builder.set_bolt("late", Unpacked).shuffle_grouping("windows", stream="late")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows").global_grouping("late")
    found: list[Row] = workers.run(builder, **options).result("sink")
    return found


def expected(rows: Rows, length: int, slide: int, lateness: int) -> Iterator[tuple[Any, ...]]:
    """The same by brute force, in whole milliseconds."""
    taken: list[tuple[int, int, int]] = []
    now, end = rows[0][1], rows[0][1] // slide * slide

    def window(end: int) -> list[int]:
        return [number for time, _, number in sorted(taken) if end - length < time <= end]

    for nth, (number, time) in enumerate(rows):
        if time >= now:
            while end < time:
                if window(end):
                    yield end, window(end), None
                end += slide
            now = time
            taken.append((time, nth, number))
            continue
        ends = [e for e in range(time, time + length) if e % slide == 0 and e >= now - lateness]
        if not ends:
            yield (number,)
            continue
        taken.append((time, nth, number))
        for late in ends:
            if late < now:
                yield late, window(late), [number]
    while any(time > end - length for time, *_ in taken):
        if window(end):
            yield end, window(end), None
        end += slide


def drawn(random: Random) -> Rows:
    time, rows = random.choice((0, -50, 1000)), []
    for number in range(random.randrange(5, 60)):
        time += random.choice((0, 1, 1, 3, random.randrange(15)))
        rows.append((number, time - random.choice((0, 0, 0, random.randrange(25)))))
    return rows


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(300), 30))
def test_late_tuples_are_those_of_a_search(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        rows, slide = drawn(random), random.choice((2, 5, 10))
        length, lateness = slide * random.choice((1, 2, 3)), random.choice((0, 3, 10, 30))
        config = {LENGTH_MS: length, SLIDE_MS: slide, LATENESS_MS: lateness}
        options: dict[str, Any] = {"viper__slice__tuples": random.choice((1, 3, 1000))}
        found = sorted(run(rows, config, **options), key=len)  # late tuples come by another way
        told = sorted(expected(rows, length, slide, lateness), key=len)
        assert found == told, f"seed {seed}: {config}"


ROWS = [(0, 1), (1, 12), (2, 3), (3, 26), (4, 14), (5, 2), (6, 27)]


@every_kind
def test_windows_fire_once_more_for_late_tuples(workers: Workers) -> None:
    config = {LENGTH_MS: 10, SLIDE_MS: 10, LATENESS_MS: 10}
    assert run(ROWS, config, workers) == [
        (10, [0], None),
        (10, [0, 2], [2]),
        (20, [1], None),
        (20, [1, 4], [4]),
        (5,),
        (30, [3, 6], None),
    ]


def test_without_allowed_lateness_they_pass_by() -> None:
    found = run(ROWS, {LENGTH_MS: 10, SLIDE_MS: 10})
    assert [row[0] for row in found if len(row) == 1] == [2, 4, 5]
    assert [row[1] for row in found if len(row) == 3] == [[0], [1], [3, 6]]


def test_spouts_put_them_in_order_within_their_slack() -> None:
    builder = TopologyBuilder()
    given = {"viper.timestamp.field": "time", "viper.timestamp.slack": 25}
    builder.set_spout("source", Numbered, args=[ROWS], config=given)
    config = {LENGTH_MS: 10, SLIDE_MS: 10, TIME_FIELD: "time"}
    builder.set_bolt("windows", TellLate, config=config).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    assert [row[1] for row in run_built(builder).result("sink")] == [[0, 5, 2], [1, 4], [3, 6]]


def test_a_tuple_without_a_time_is_an_error() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbered, args=[[(1, 1)]])
    builder.set_bolt("gone", Renamed).shuffle_grouping("source")
    config = {LENGTH_MS: 10, SLIDE_MS: 10, TIME_FIELD: "time"}
    builder.set_bolt("windows", Tell, config=config).global_grouping("gone")
    with pytest.raises(ComponentError, match=r"is 'time', where Tuple.* has no time in ms"):
        run_built(builder)


class Renamed(Bolt):
    """Leaves the time out."""

    outputs = ["number"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([tup.values.number])


class Fails(TellLate):
    """Raises once in a while, after an update."""

    def process_window(self, window: TupleWindow) -> None:
        if window.tuples[-1].values.number % 11 == 5 and not window.is_update:
            raise ValueError("now and then")
        super().process_window(window)


@pytest.mark.parametrize("seed", range(3))
def test_late_tuples_last(seed: int) -> None:
    """A bolt that is made again continues with what has been written, and one that skips with what it has."""
    rows = drawn(Random(seed + 50))
    found = {}
    for choice in ("skip", "restart"):
        builder = TopologyBuilder()
        given = {"viper.timestamp.field": "time", "viper.timestamp.late": "admit"}
        builder.set_spout("source", Numbered, args=[rows], config=given)
        config = {LENGTH_MS: 10, SLIDE_MS: 5, LATENESS_MS: 20, TIME_FIELD: "time", "viper.on.error": choice}
        chosen = {**config, "viper.restart.tries": 100, "viper.restart.window.secs": 0.001}
        builder.set_bolt("windows", Fails, config=chosen).global_grouping("source")
        builder.set_bolt("sink", CollectingSink).global_grouping("windows")
        found[choice] = run_built(builder, viper__slice__tuples=4).result("sink")
    assert found["skip"] == found["restart"] and any(row[2] for row in found["skip"])
