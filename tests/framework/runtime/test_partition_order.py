"""The rows of partitions that are out of order: where each stands, wherever another process continues."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from framework.model.topology import Stream
from framework.operators.components import Block, PartitionedSpout, Watermark
from framework.planning import ComponentLevel
from framework.planning.place import place_of
from framework.runtime.exchange.output import Port
from framework.runtime.order.positions.partition_feed import PartitionFeed
from framework.runtime.order.positions.slack import Lateness
from framework.runtime.tasks.partition_merger import PartitionMerger
from tests.framework.operators.sources.disordered import Row, drawn, expected
from tests.portions import at_every_change
from viper.errors import OrderError
from viper.partitions import NO_LIMIT
from viper.position import LEAST, Level, Position

DROPS, TO_STREAM, REFUSES = Lateness(20_000, drops=True), Lateness(20_000, late_port=1), Lateness(20_000)
ADMITS = Lateness(20_000, admits=True)
STREAMS = [Port(tag, Stream(["at", "file", "n"], name)) for tag, name in enumerate(("default", "late"))]
LEVEL = ComponentLevel(0, 0, 32, 16, 1, 8)


class Files(PartitionedSpout):
    """Brings rows in blocks that a seed draws, with pauses and with watermarks that say nothing new."""

    def __init__(self, files: Sequence[Sequence[Row]], seed: int) -> None:
        super().__init__()
        self._files = files
        self._seed = seed

    @property
    def partitions(self) -> int:
        return len(self._files)

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        assert start_us is None, "rows are left out that may be late"
        chance, rows = random.Random(self._seed), list(self._files[partition])
        while rows:
            some = rows[: chance.randrange(40)]
            del rows[: len(some)]
            yield Block(array("q", [at * 1000 for at, *_ in some]), some)
            if chance.random() < 0.3:
                yield None
            if chance.random() < 0.3:
                yield Watermark(min((at for at, *_ in rows), default=0) * 1000)


class Sought(Files):
    """Brings them with offsets that have gaps, from where it is asked to."""

    def __init__(self, files: Sequence[Sequence[Row]], seed: int) -> None:
        super().__init__(files, seed)
        self.asked: dict[int, int | None] = {}
        """The offset from which rows were wanted, for each partition."""

    def blocks_from(
        self, partition: int, offset: int | None, latest_us: int | None
    ) -> Iterator[Block | Watermark | None]:
        rows = enumerate(self._files[partition])
        before = [at * 1000 for number, (at, *_) in rows if offset_of(number) < (offset or 0)]
        assert latest_us == max(before, default=None)
        self.asked[partition] = offset
        return self._sought(partition, offset)

    def _sought(self, partition: int, offset: int | None) -> Iterator[Block | None]:
        chance, rows = random.Random(self._seed), list(enumerate(self._files[partition]))
        rows = [(number, row) for number, row in rows if offset is None or offset_of(number) >= offset]
        while rows:
            some = rows[: chance.randrange(40)]
            del rows[: len(some)]
            offsets = array("q", [offset_of(number) for number, _ in some])
            times = array("q", [at * 1000 for _, (at, *_) in some])
            yield Block(times, [row for _, row in some], offsets=offsets)
            if chance.random() < 0.3:
                yield None


def offset_of(number: int) -> int:
    return 3 * number + number // 10


def merger_of(
    files: Any, lateness: Lateness | None, seed: int, places: Any, floor: Position = LEAST, cls: Any = Files
) -> PartitionMerger:
    merger, spout = PartitionMerger(LEVEL, places, lateness), cls(files, seed)
    merger.open(spout, range(len(files)), STREAMS, floor)
    return merger


def taken(merger: PartitionMerger, limit: int = 10**9, at_once: int = 7) -> list[tuple[int, Row]]:
    """The rows that it brings, each with the stream that it goes to; none lies below what was promised."""
    found: list[tuple[int, Row]] = []
    idle = 0
    while len(found) < limit and not merger.is_exhausted and idle < 10_000:
        behind = merger.behind
        emission = merger.take(min(at_once, limit - len(found)), NO_LIMIT)
        idle += 1
        if emission is not None:
            idle = 0
            assert emission.positions[0] >= behind
            tags = memoryview(emission.tags or b"").cast("H").tolist()
            found += zip(tags, emission.payload.rows, strict=True)
    return found


def all_of(files: Sequence[Sequence[Row]], *, with_late: bool) -> list[tuple[int, Row]]:
    must = expected(files, 20)
    late = set(must.late)
    return [(int(row in late), row) for row in must.all if with_late or row not in late]


@pytest.mark.parametrize("lateness", [DROPS, TO_STREAM], ids=["dropped", "to a stream"])
@pytest.mark.parametrize("seed", at_every_change(range(6), 2))
def test_another_process_goes_on_from_every_place(seed: int, lateness: Lateness) -> None:
    """Each late row counts once: before the place, or after it."""
    files = drawn(seed, files=2, count=90)
    must, late = all_of(files, with_late=lateness is TO_STREAM), len(expected(files, 20).late)
    counted = set()
    for place in range(len(must) + 1):
        first = merger_of(files, lateness, seed, {})
        before = taken(first, place)
        second = merger_of(files, lateness, seed + place, first.offsets)
        assert before + taken(second) == must, place
        assert first.late + second.late == late, place
        counted.add(first.late)
    assert counted == set(range(late + 1)) or lateness is DROPS


@pytest.mark.parametrize("seed", range(2))
def test_a_successor_counts_what_the_run_has_counted(seed: int) -> None:
    """So the counts of a process that has died need not be known: those of its successor hold them."""
    files = drawn(seed, files=2, count=90)
    late = len(expected(files, 20).late)
    for place in range(0, 150, 11):
        first = merger_of(files, DROPS, seed, {})
        taken(first, place)
        second = PartitionMerger(LEVEL, {}, DROPS)
        second.restore(first.save())
        second.open(Files(files, seed + 1), range(2), STREAMS, LEAST)
        taken(second)
        assert second.late == late


@pytest.mark.parametrize("lateness", [DROPS, TO_STREAM, ADMITS, None])
@pytest.mark.parametrize("seed", at_every_change(range(6), 2))
def test_a_source_that_is_sought_is_read_from_the_first_row_that_was_not_brought(
    seed: int, lateness: Lateness | None
) -> None:
    """Each process goes on where the one before was killed; the rows and what was late are those of one."""
    files: Any = drawn(seed, files=2, count=90)
    files = [sorted(rows) for rows in files] if lateness is None else files
    whole = merger_of(files, lateness, seed, {}, cls=Sought)
    must, chance = positioned(whole), random.Random(seed)
    dropped = {row for rows in files for row in rows} - {row for *_, row in must}
    assert [row for _, _, row in must] == [row for _, row in taken(merger_of(files, lateness, seed, {}))]
    for most in (1, 5, 40):
        found: list[Any] = []
        noted: Any = ({}, {})
        while len(found) < len(must):
            places, late = json.loads(json.dumps(noted), object_hook=by_number)
            merger = PartitionMerger(LEVEL, {}, lateness)
            merger.restore(({number: place_of(place) for number, place in places.items()}, late))
            spout = Sought(files, chance.randrange(100))
            merger.open(spout, range(len(files)), STREAMS, LEAST)
            for partition, offset in spout.asked.items():
                first = first_left(files[partition], found, dropped)
                assert first - 3 * (1 + len(dropped)) <= (offset or 0) <= first or first == 0, partition
            found += positioned(merger, chance.randrange(1, most + 1))
            noted = merger.save()
        assert found == must
        assert merger.late == whole.late


@pytest.mark.parametrize("lateness", [None, ADMITS], ids=["in order", "admitted"])
def test_a_source_that_is_sought_may_have_more_when_its_run_has_ended(lateness: Lateness | None) -> None:
    """Else a partition that has come to the end of one run would be passed over by the next."""
    files = [[(number, "f", number) for number in range(40)], [(number, "g", number) for number in range(9)]]
    for ends in ((0, 0), (5, 9), (40, 3), (40, 9)):
        begun = [rows[:end] for rows, end in zip(files, ends, strict=True)]
        first = merger_of(begun, lateness, 1, {}, cls=Sought)
        before = taken(first)
        assert first.is_exhausted and len(before) == sum(ends)
        second = merger_of(files, lateness, 2, first.offsets, cls=Sought)
        after = [row for _, row in taken(second)]
        assert sorted(after) == sorted({row for rows in files for row in rows} - {row for _, row in before})


class AtTheEnd(Sought):
    """In a new run its partitions begin at their end."""

    def blocks_from(
        self, partition: int, offset: int | None, latest_us: int | None
    ) -> Iterator[Block | Watermark | None]:
        return self._sought(partition, offset)

    def first_offset(self, partition: int) -> int | None:
        return offset_of(len(self._files[partition]))


def test_a_partition_that_was_added_is_read_from_its_first_row() -> None:
    files = [[(number, "f", number) for number in range(20)], [(number, "g", number) for number in range(7)]]
    assert taken(merger_of(files, None, 1, {}, cls=AtTheEnd)) == []
    places = merger_of(files[:1], None, 1, {}, cls=AtTheEnd).offsets
    assert [row for _, row in taken(merger_of(files, None, 1, places, cls=AtTheEnd))] == files[1]


def first_left(rows: Sequence[Row], found: Sequence[Any], dropped: set[Row]) -> int:
    """The offset of the first row that was not brought; of those that are dropped, of the first behind which
    none has been brought."""
    brought = {row for *_, row in found}
    left = [number for number, row in enumerate(rows) if row not in brought and row not in dropped]
    return offset_of(left[0]) if left else 0


def by_number(found: dict[str, Any]) -> dict[int, Any]:
    return {int(number): value for number, value in found.items()}


def positioned(merger: PartitionMerger, limit: int = 10**9) -> list[Any]:
    """The rows that it brings, each with its position and stream, up to so many or to the end."""
    found: list[Any] = []
    idle = 0
    while len(found) < limit and not merger.is_exhausted and idle < 10_000:
        emission, idle = merger.take(min(7, limit - len(found)), NO_LIMIT), idle + 1
        if emission is not None:
            tags = memoryview(emission.tags or b"").cast("H").tolist()
            places = [emission.positions[index] for index in range(len(tags))]
            found, idle = [*found, *zip(places, tags, emission.payload.rows, strict=True)], 0
    return found


def test_a_process_without_commits_leaves_out_what_was_promised() -> None:
    files = drawn(3, files=2, count=90)
    must = all_of(files, with_late=True)
    for place in range(1, len(must), 7):
        first = merger_of(files, TO_STREAM, 3, {})
        taken(first, place)
        floor = first.behind
        rest = taken(merger_of(files, TO_STREAM, 4, {}, floor))
        assert rest == must[len(must) - len(rest) :]
        assert len(rest) <= len(must) - place


# -- one partition


def feed_of(lateness: Lateness, *given: Block | Watermark | None, place: Any = None) -> PartitionFeed:
    feed = PartitionFeed(
        0, Level(0, 32, 8, 0), place, lateness=lateness, where=lambda index: f"a.log:{index}"
    )
    feed.open(iter(given))
    return feed


def block(*times: int) -> Block:
    return Block(array("q", times), [(time,) for time in times])


def test_what_is_held_back_does_not_wait_for_a_pause() -> None:
    feed = feed_of(DROPS, block(50, 40), block(30_000))
    assert (feed.fill(), feed.has_read, feed.waits) == (False, True, False)
    assert feed.floor == Position(-19_950, 0, 0)
    assert (feed.fill(), feed.has_read) == (True, False)
    assert feed.payload.rows == [(40,), (50,)]


def test_a_watermark_lets_go_of_what_it_is_later_than() -> None:
    feed = feed_of(REFUSES, block(50, 40), Watermark(45), Watermark(60), None, block(60))
    assert not feed.fill()
    assert feed.fill()
    assert (feed.payload.rows, feed.floor.ts) == ([(40,)], 40)
    feed.partition.skip(Position(1000, 0, 0))
    assert feed.fill()
    assert (feed.payload.rows, feed.floor.ts) == ([(50,)], 50)


def test_an_earlier_row_than_a_watermark_is_late() -> None:
    feed = feed_of(REFUSES, Watermark(45), block(40))
    feed.fill()
    with pytest.raises(OrderError, match=r"a.log:0: .*although its source had said .*\(Watermark\)"):
        feed.fill()
    feed = feed_of(DROPS, Watermark(45), block(40, 46))
    assert [feed.fill(), feed.fill()] == [False, True]
    assert (feed.payload.rows, feed.late_since(None)) == ([(46,)], 0)
    feed.partition.skip(Position(1000, 0, 0))
    assert (feed.fill(), feed.ended, feed.late_since(None)) == (False, True, 1)


def test_a_partition_that_was_cut_off_is_named() -> None:
    feed = feed_of(DROPS, block(10, 20), place=(30, 1))
    with pytest.raises(ValueError, match="partition 0 ends before what was brought of it"):
        while True:
            feed.fill()


def test_a_row_that_goes_back_behind_the_place_is_not_left_out() -> None:
    """Without a slack: rows up to the place are left out, and this one would be left out with them."""
    feed = PartitionFeed(0, Level(0, 32, 8, 0), (30, 1))
    feed.open(iter([block(10, 30, 20, 40)]))
    with pytest.raises(OrderError, match="row 2 of a block: event time goes back"):
        feed.fill()
