"""Late tuples of windows by key are those of a search, for any disorder and any lateness that is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from framework import Stream, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.operators.windows.forms import Multi
from framework.operators.windows.spec import LATE_STREAM, LATENESS_MS, TIME_FIELD
from tests.framework.operators.windows.operators import GROUPS, Keyed, Row, group_of
from tests.framework.operators.windows.test_against_brute_force import PLANS
from tests.framework.operators.windows.test_operators_forms import Numbers, Unpacked
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import seeds_at_every_change

Told = tuple[Any, ...]


class Late(Numbers):
    """Emits the numbers of each window, and late tuples."""

    outputs = [*Numbers.outputs[:1], Stream(["tuple"], name="late")]


@dataclass
class Window:
    """One that the search has found."""

    key: str
    start: int
    end: int
    numbers: list[int] = field(default_factory=list)
    is_over: bool = False

    def told(self, *, is_update: bool) -> Told:
        return self.key, self.start * 1000, self.end * 1000, [*self.numbers], is_update


def expected(rows: Sequence[Row], size: int, advance: int, lateness: int) -> tuple[list[Told], list[int]]:
    """Compute the windows that are put out, and the tuples too late for all of them; in milliseconds."""
    windows: list[Window] = []
    told, late = list[Told](), list[int]()

    def fire(until: float) -> None:
        due = [found for found in windows if not found.is_over and found.end <= until]
        due.sort(key=lambda found: (found.end, group_of(found.key)))  # and by which was made first
        for found in due:
            found.is_over = True
            told.append(found.told(is_update=False))

    now = rows[0].time
    for row in rows:
        now = max(now, row.time)
        fire(now)
        is_taken = False
        for start in _starts(row.time, size, advance):
            if row.time < now and start + size + lateness <= now:
                continue
            is_taken = True
            of_key = [found for found in windows if (found.key, found.start) == (row.key, start)]
            if not of_key:
                of_key = [Window(row.key, start, start + size, is_over=start + size <= now)]
                windows += of_key
            of_key[0].numbers.append(row.number)
            if of_key[0].is_over:
                told.append(of_key[0].told(is_update=True))
        if not is_taken and row.time < now:
            late.append(row.number)
    fire(float("inf"))
    return told, late


def _starts(time: int, size: int, advance: int) -> Iterator[int]:
    yield from (start for start in range(time - size + 1, time + 1) if start % advance == 0)


def drawn(random: Random) -> list[Row]:
    time, rows = random.choice((0, -50, 1000)), []
    for number in range(random.randrange(5, 80)):
        time += random.choice((0, 1, 1, 3, random.randrange(15)))
        late = random.choice((0, 0, 0, random.randrange(25)))
        rows.append(Row(number, [], random.choice("abcdef"), time - late if number else time))
    return rows


def check(seed: int, workers: Workers = INLINE) -> None:
    random = Random(seed)
    rows, advance = drawn(random), random.choice((2, 5, 10))
    size, lateness = random.choice((advance, 2 * advance, 5 * advance // 2, 3)), random.choice((0, 3, 10, 30))
    builder = TopologyBuilder()
    given = {"viper.timestamp.field": "time", "viper.timestamp.late": "admit"}
    builder.set_spout("source", Keyed, args=[rows], config=given)
    config = {TIME_FIELD: "time", LATE_STREAM: "late", LATENESS_MS: lateness}
    operator, par = Late(size * 1000, advance * 1000), random.randrange(1, 7)
    builder.set_bolt("windows", operator, par, config=config).fields_grouping("source", ["key"])
    builder.set_bolt("unpacked", Unpacked).shuffle_grouping("windows", stream="late")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    builder.set_bolt("late", CollectingSink).global_grouping("unpacked")
    report = workers.run(builder, viper__key__groups=GROUPS, **random.choice(PLANS))
    found = report.result("sink"), [number for (number,) in report.result("late")]
    assert found == expected(rows, size, advance, lateness), f"seed {seed}: {size}, {advance}, {lateness}"


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(300), 30))
def test_late_tuples_are_those_of_a_search(seeds: range) -> None:
    for seed in seeds:
        check(seed)


@every_kind
def test_on_workers_of_every_kind(workers: Workers) -> None:
    check(1001, workers)


def test_windows_that_are_kept_too_long_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    take_late = Multi.take_late
    monkeypatch.setattr(
        Multi, "take_late", lambda self, kept, tup, time_us, now_us, rows: take_late(
            self, kept, tup, time_us, now_us - 1, rows
        )
    )  # fmt: skip
    with pytest.raises(AssertionError):
        test_late_tuples_are_those_of_a_search(range(100))
