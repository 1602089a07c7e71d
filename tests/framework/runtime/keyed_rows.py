"""Batch bolts with declared state, and what does the same tuple by tuple, for workers of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from framework import BatchBolt, Bolt, ListState, MapState, Rows, Spout, Stream, TableState, ValueState

COUNT = 2_000


class Pairs(Spout):
    """Brings (word, number); typed or not."""

    def __init__(self, typed: bool = False) -> None:
        super().__init__()
        self._typed = typed

    @property
    def outputs(self) -> Any:  # type: ignore[override]
        return [Stream(schema={"word": "string", "number": "int64"})] if self._typed else ["word", "number"]

    def tuples(self) -> Iterator[Any]:
        for number in range(COUNT):
            yield [f"w{number * number % 23}", number]


class Singly(Bolt):
    """Remembers of each word how often it came, its sum and largest number, and the last numbers."""

    outputs = ["word", "count", "sum", "most", "last"]
    count = ValueState("int64", default=0)
    totals = TableState({"sum": "int64", "most": "int64"})
    last = ValueState(default=[])
    recent = ListState()
    seen = MapState()

    def process(self, tup: Any) -> None:
        self.emit(self.next(*tup.values))

    def next(self, word: str, number: int) -> tuple[Any, ...]:
        self.count.value += 1
        self.totals.sum += number
        self.totals.most = max(self.totals.most, number)
        self.last.value.append(number)
        del self.last.value[:-2]
        self.recent.update([*self.recent.get()[-2:], number])
        self.seen.put(number % 3, [*self.seen.get(number % 3, [])[-1:], number])
        lists = (*self.recent.get(), *self.seen.items())
        return (word, self.count.value, self.totals.sum, self.totals.most, (*self.last.value, *lists))


class InBatches(BatchBolt):
    """The same, in batches."""

    outputs = Singly.outputs
    count = ValueState("int64", default=0)
    totals = TableState({"sum": "int64", "most": "int64"})
    last = ValueState(default=[])
    recent = ListState()
    seen = MapState()
    next = Singly.next

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows([self.next(*row) for row in rows.keyed()])
