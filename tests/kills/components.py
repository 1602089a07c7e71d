"""Bolts and a sink of runs that are killed: each row depends on all that they have processed before.

Rows are ``(key, value)``, two ints. A process that imports this module dies as `tests.kills.deaths` has it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from framework import (
    AggregatingState,
    BatchBolt,
    Bolt,
    KeyValueState,
    ListState,
    MapState,
    ReducingState,
    RowError,
    StatefulBolt,
    Stream,
    TableState,
    ValueState,
)
from framework.operators.sinks import Sink
from tests.kills import deaths  # noqa: F401
from tests.kills.sources import FIELDS, KEYS

STATELESS = {"viper.stateless": True}


def mixed(*parts: object) -> int:
    """A number below 2^32 that depends on everything."""
    return crc32(repr(parts).encode())


# -- bolts without state


class Forward(Bolt):
    """Forwards rows."""

    outputs = FIELDS
    config = STATELESS

    def process(self, tup: Any) -> None:
        self.emit(tup.values[:2])


class Split(Bolt):
    """Splits lines into words."""

    outputs = ["word"]
    config = STATELESS

    def process(self, tup: Any) -> None:
        for word in tup.values[0].split():
            self.emit([word])


class Fan(Bolt):
    """Emits none to six rows for most, and many for a few."""

    outputs = FIELDS
    config = STATELESS

    def __init__(self, many: int = 60) -> None:
        super().__init__()
        self._many = many

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        for nth in range(self._many if value == 7 else value % 4):
            self.emit([(key + nth) % KEYS, mixed(value, nth)])


class Burst(Bolt):
    """Emits 100,000 rows for some, and itself for most."""

    outputs = FIELDS
    config = STATELESS

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        for nth in range(100_000 if value % 50 == 7 else 1):
            self.emit([(key + nth) % KEYS, value + nth])


class Typed(Forward):
    """Forwards rows as typed ones."""

    outputs = [Stream(schema={"key": "int64", "value": "int64"})]


class Sorted(Bolt):
    """Divides rows among two streams."""

    outputs = [Stream(FIELDS, name="default"), Stream(FIELDS, name="odd")]
    config = STATELESS

    def process(self, tup: Any) -> None:
        self.emit(tup.values[:2], stream="odd" if tup.values[1] % 2 else "default")


class Batches(BatchBolt):
    """Forwards many rows at once, some of them twice."""

    outputs = FIELDS
    config = STATELESS

    def process_rows(self, rows: Any) -> None:
        made: list[Any] = []
        of: list[int] = []
        for index, (key, value, *_) in enumerate(rows):
            for copy in range(1 + value % 2):
                made.append((key, mixed(value, copy)))
                of.append(index)
        self.emit_rows(made, of)


# -- bolts with state by key


class Count(Bolt):
    """Counts the rows of each key, and chains them."""

    outputs = FIELDS
    seen = ValueState("int64", default=0)
    chain = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        self.chain.value = mixed(self.chain.value, value, self.seen.add(1))
        self.emit([key, self.chain.value])


class CountWords(Bolt):
    """The word count."""

    outputs = ["word", "count"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        self.emit([tup.values.word, self.seen.value])


class CountBatches(BatchBolt):
    """Counts all rows of a batch in one call, and chains them one by one."""

    outputs = FIELDS
    seen = ValueState("int64", default=0)
    chain = ValueState("int64", default=0)

    def process_rows(self, rows: Any) -> None:
        counts = list(self.seen.add_all(rows.column("key")))
        made = []
        for count, (key, value, *_) in zip(counts, rows.keyed(), strict=True):
            self.chain.value = mixed(self.chain.value, value, count)
            made.append((key, self.chain.value))
        self.emit_rows(made)


class Remember(Bolt):
    """Keeps typed state of every kind, and gives some of it up."""

    outputs = FIELDS
    share = ValueState("float64", default=1.0)
    last = ValueState("string", default="none")
    data = ValueState("binary")
    table = TableState({"count": "int64", "name": "string"}, {"name": "?"})
    most = ReducingState("int64", max)
    numbers = ListState("int64")
    tallies = MapState("string", "int64")

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        self.share.value = self.share.value / 3 + value
        self.last.value = self.last.value[-20:] + str(value)
        self.data.value = bytes([value % 256]) * (value % 90)
        self.table.count += 1
        self.table.name = f"{value} " * (value % 5)
        self.most.add(value)
        self.numbers.add(value)
        self.tallies.put(f"tally {value % 6}", self.tallies.get(f"tally {value % 6}", 0) + value)
        if value % 31 == 0:
            self.numbers.update(self.numbers.get()[-2:])
            (self.tallies if value % 2 else self.table).clear()
            self.most.clear()
        held = self.share.value, self.last.value, self.data.value, self.table.count, self.table.name
        self.emit([key, mixed(*held, self.most.value, self.numbers.get(), self.tallies.items())])


class RememberAny(Bolt):
    """Keeps values of Python's in state of every kind, and changes them in place."""

    outputs = FIELDS
    recent: Any = ValueState(default=[])
    named: Any = ValueState()
    longest: Any = ReducingState(None, lambda one, other: max(one, other, key=len))
    kinds: Any = AggregatingState(create=set, add=lambda found, value: found | {value % 5}, result=sorted)
    notes: Any = ListState()
    details: Any = MapState()

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        self.recent.value.append(value)
        del self.recent.value[:-4]
        self.named.value = {"value": value, "before": (self.named.value or {}).get("value")}
        self.longest.add("l" * (value % 40))
        self.kinds.add(value)
        self.notes.add([value])
        for note in self.notes.get()[-2:]:
            note.append(value % 9)
        if self.details.get(value % 3) is None:
            self.details.put(value % 3, [value])
        else:
            self.details.get(value % 3).append(value)
        if value % 13 == 0:
            self.notes.clear()
            self.details.remove(value % 2)
        held = list(self.recent.value), self.named.value, self.longest.value, self.kinds.value
        self.emit([key, mixed(*held, self.notes.get(), self.details.items())])


class Stumbles(Remember):
    """As `Remember`; raises at some rows, when everything has changed."""

    config = {"viper.on.error": "skip"}

    def emit(self, values: Sequence[Any], **options: Any) -> Any:
        made = super().emit(values, **options)
        if values[1] % 11 == 3:
            raise ValueError(values)
        return made


class StumblesInBatches(BatchBolt):
    """Names rows of a batch that it cannot take, or fails with all of them."""

    outputs = FIELDS
    config = {"viper.on.error": "skip"}
    chain = ValueState("int64", default=0)

    def process_rows(self, rows: Any) -> None:
        made = []
        for index, (key, value, *_) in enumerate(rows.keyed()):
            if value % 17 == 3:
                self.emit_rows(made, list(range(index)))
                raise RowError(index, ValueError(value))
            self.chain.value = mixed(self.chain.value, value)
            made.append((key, self.chain.value))
        self.emit_rows(made)


class Forgets(Bolt):
    """Keeps typed state that is forgotten in time."""

    outputs = FIELDS
    seen = ValueState("int64", default=0, ttl=0.00002)
    numbers = ListState("int64", ttl=0.00005)
    tallies = MapState("int64", "int64", ttl=0.00003)

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        if value % 3 == 0:
            self.seen.value += value
        if value % 5:
            self.numbers.add(value)
        if value % 7 == 0:
            self.tallies.put(value % 4, value)
        if len(self.numbers) > 30:
            self.numbers.clear()
        self.emit([key, mixed(self.seen.value, self.numbers.get(), self.tallies.items())])


class Owns(Count):
    """As `Count`, of all rows, in the one task that owns the key."""

    state_key = "key"

    def process(self, tup: Any) -> None:
        if self.owns_key:
            super().process(tup)


class Stateful(StatefulBolt):
    """Storm's stateful bolt, which keeps under each key what it has seen."""

    outputs = FIELDS

    def init_state(self, state: KeyValueState) -> None:
        self._kept = state

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        before = self._kept.get(key, [])
        self._kept.put(key, [*before[-3:], value])
        if value % 29 == 0:
            self._kept.delete(key)
        self.emit([key, mixed(before, value)])


# -- bolts with state of their task


class Window(Bolt):
    """Gathers rows, and emits at each tick what has come since the one before."""

    outputs = FIELDS
    config = {"topology.tick.tuple.freq.secs": 0.000017}
    count = ValueState("int64", default=0, per="task")
    waiting = ListState("int64", per="task")
    sums = MapState("int64", "int64", per="task")
    rows: Any = ValueState(default=[], per="task")

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        self.count.value += 1
        self.waiting.add(value)
        self.rows.value.append(value % 10)
        self.sums.put(key, self.sums.get(key, 0) + value)
        if value % 3 == 0:
            self.emit([key, self.count.value])

    def process_tick(self, tup: Any) -> None:
        held = self.waiting.get(), self.rows.value, self.sums.items()
        self.emit([self.count.value % KEYS, mixed(*held, tup.id)])
        self.waiting.clear()
        self.rows.value.clear()


# -- steps of functions


def shifted(key: int, value: int, *others: int) -> tuple[int, int]:
    return key, mixed(value, "shifted")


def summed(so_far: int, value: int) -> int:
    return mixed(so_far, value)


def appended(found: list[int], value: int) -> list[int]:
    return [*found[-5:], value]


def told(found: list[int]) -> int:
    return mixed(found)


# -- sinks


class Written(Sink):
    """Appends a line for each row to a file, which is cut off where its declared state says."""

    length = ValueState("int64", default=0, per="task")

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT)
        os.ftruncate(self._file, self.length.value)
        os.lseek(self._file, self.length.value, os.SEEK_SET)

    def consume(self, rows: Any) -> None:
        lines = b"".join(f"{tuple(row)!r}\n".encode() for row in rows)
        assert os.write(self._file, lines) == len(lines)
        self.length.value += len(lines)

    def close(self) -> None:
        os.close(self._file)
        super().close()
