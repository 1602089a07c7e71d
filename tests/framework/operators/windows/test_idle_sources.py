"""Sources that are quiet, end early or never bring anything: windows and joins are those of a search."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from framework import JoinBolt, OPlus, TopologyBuilder
from framework.operators.components import Block, PartitionedSpout, Watermark
from framework.operators.sinks import CollectingSink
from framework.operators.windows.joins import Equal, Within
from framework.operators.windows.spec import LENGTH_MS, SLIDE_MS
from tests.framework.operators.windows import operators, windowed
from tests.framework.operators.windows.operators import GROUPS, Row, TellKeys, TellSliding, TellWindow
from tests.framework.operators.windows.test_against_brute_force import PLANS
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import seeds_at_every_change


class Uneven(PartitionedSpout):
    """Brings the rows of each partition one by one, with pauses, in some of which it says how far it is.

    Args:
        partitions: their rows; one without any says nothing but that it has ended.
        seed: of the pauses.
    """

    outputs = ["number", "keys", "key", "time"]

    def __init__(self, partitions: Sequence[Sequence[Row]], seed: int) -> None:
        super().__init__()
        self._rows = partitions
        self._seed = seed

    @property
    def partitions(self) -> int:
        return len(self._rows)

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        random = Random(self._seed + partition)
        for row in self._rows[partition]:
            for _ in range(random.choice((0, 0, 0, 4))):
                yield random.choice((None, Watermark(row.time * 1000)))
            yield Block(array("q", [row.time * 1000]), [row])
        if random.randrange(2):
            yield Watermark(10**18)
        for _ in range(random.randrange(5)):
            yield None


def drawn(random: Random) -> tuple[list[list[Row]], list[Row]]:
    """The rows of some partitions, and all of them in the order of the guarantee."""
    count = random.randrange(2, 5)
    times: list[list[int]] = []
    for _ in range(count):
        time, partition = random.choice((-30, 0, 15)), []
        for _ in range(random.choice((0, 3, 30))):
            time += random.choice((0, 0, 1, 2, 5, 5, 60))
            partition.append(time)
        times.append(partition)
    if not any(times):
        times[0] = [0]
    merged = sorted((time, number) for number in range(count) for time in times[number])
    rows, partitions = [], list[list[Row]]([] for _ in range(count))
    for place, (time, number) in enumerate(merged):
        row = Row(place, random.choices("abcd", k=random.randrange(4)), random.choice("abc"), time)
        rows.append(row)
        partitions[number].append(row)
    return partitions, rows


def source(builder: TopologyBuilder, name: str, rows: Sequence[Sequence[Row]], random: Random) -> None:
    tasks = random.randrange(1, len(rows) + 1)
    builder.set_spout(name, Uneven(rows, random.randrange(1000)), tasks)


def result(builder: TopologyBuilder, workers: Workers, random: Random) -> list[tuple[Any, ...]]:
    options = {**random.choice(PLANS), "viper__poll__pause__max__ms": 1, "viper__key__groups": GROUPS}
    found: list[tuple[Any, ...]] = workers.run(builder, **options).result("sink")
    return found


def check_operators(seed: int, workers: Workers = INLINE) -> None:
    random = Random(seed)
    partitions, rows = drawn(random)
    cls: type[OPlus] = random.choice((TellWindow, TellKeys, TellSliding))
    advance = random.choice((3000, 10_000))
    size = random.choice((advance, 5 * advance // 2, advance // 2))
    builder = TopologyBuilder()
    source(builder, "source", partitions, random)
    windows = builder.set_bolt("windows", cls(size, advance), random.randrange(1, 7))
    windows.all_grouping("source") if cls.derives_keys else windows.fields_grouping("source", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    single = cls.windows == "single"
    told = operators.expected(rows, size, advance, several=cls.derives_keys, single=single)
    assert result(builder, workers, random) == told, f"seed {seed}"


def check_bolts(seed: int, workers: Workers = INLINE) -> None:
    random = Random(seed)
    partitions, rows = drawn(random)
    config = {LENGTH_MS: random.choice((5, 12)), SLIDE_MS: random.choice((5, 3))}
    builder = TopologyBuilder()
    source(builder, "source", partitions, random)
    builder.set_bolt("windows", windowed.Tell, config=config).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found = [(start, end, *map(tuple, parts)) for start, end, *parts in result(builder, workers, random)]
    assert found == windowed.expected([(row.number, row.time) for row in rows], config), f"seed {seed}"


def check_joins(seed: int, workers: Workers = INLINE) -> None:
    """The partitions of two spouts; the left one's stand first at one time."""
    random = Random(seed)
    left, right = drawn(random), drawn(random)
    fields = [f"{side}_{name}" for side in ("left", "right") for name in Row._fields]
    on = Equal("key") & Within(before="4ms", after="25ms")
    builder = TopologyBuilder()
    source(builder, "left", left[0], random)
    source(builder, "right", right[0], random)
    join = builder.set_bolt("join", JoinBolt("left", "right", on, fields), random.randrange(1, 7))
    if random.randrange(2):
        join.fields_grouping("left", ["key"]).fields_grouping("right", ["key"])
    else:
        join.all_grouping("left").all_grouping("right")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    come = sorted([(row.time, 0, row) for row in left[1]] + [(row.time, 1, row) for row in right[1]])
    pairs = []
    for number, (time, side, row) in enumerate(come):
        for stored_time, other, stored in come[:number]:
            ahead = stored_time - time if side == 0 else time - stored_time
            if other != side and row.key == stored.key and -4 <= ahead <= 25:
                pairs.append((*row, *stored) if side == 0 else (*stored, *row))
    assert result(builder, workers, random) == pairs, f"seed {seed}"


CHECKS = (check_operators, check_bolts, check_joins)


@pytest.mark.few(2)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(200), 10))
def test_the_output_is_that_of_a_search(check: Any, seeds: range) -> None:
    for seed in seeds:
        check(seed)


@pytest.mark.few(5)
@pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(300, 312), 1))
def test_on_several_workers(check: Any, seeds: range, workers: Workers) -> None:
    for seed in seeds:
        check(seed, workers)
