"""Components that declare state, for the tests of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from framework import AggregatingState, BatchBolt, Bolt, ReducingState, Spout, Stream, TableState, ValueState
from tests.framework.runtime.workers.dying import die, first_time

WORDS = ["apple", "pear", "fig", "a word of more than fifteen bytes", "", "é", "x"]


class Words(Spout):
    """Emits ``count`` words with their numbers, of `WORDS` and of as many numbered ones."""

    outputs = ["word", "number"]

    def __init__(self, count: int = 500, keys: int = 40) -> None:
        super().__init__()
        self._count = count
        self._keys = keys

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            key = number * 7919 % self._keys
            yield [WORDS[key] if key < len(WORDS) else f"word{key}", number]


class Terms(Words):
    """The same with the fields in the other order, and under other names, on a stream of that name."""

    outputs = [Stream(["at", "term"], name="terms")]

    def tuples(self) -> Iterator[list[Any]]:
        for word, number in super().tuples():
            self.emit([number, word], stream="terms")
            yield from ()


class Counts(Bolt):
    """Emits each word with how often it came."""

    outputs = ["word", "count"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        self.emit([tup.values[0], self.seen.value])


class Remembers(Bolt):
    """Emits what all kinds of state hold of a word, which depends on all that came with it."""

    outputs = ["word", "held"]
    seen = ValueState("int64", default=0)
    share = ValueState("float64", default=1)
    odd = ValueState("bool")
    text = ValueState("string", default="")
    data = ValueState("binary", default=b"-")
    recent = ValueState(default=[])
    table = TableState({"count": "int64", "total": "float64", "last": "string"}, {"last": "none"})
    most = ReducingState("int64", max)
    longest = ReducingState(None, lambda one, other: max(one, other, key=len))
    kinds = AggregatingState(create=set, add=lambda found, value: found | {value % 5}, result=sorted)
    mean = AggregatingState("float64", create=float, add=lambda total, value: total + value)

    def process(self, tup: Any) -> None:
        word, number = tup.values
        self.seen.value += 1
        self.share.value /= 2
        self.odd.value = not self.odd.value
        self.text.value = (self.text.value + str(number))[-40:]
        self.data.value += bytes([number % 256])
        self.recent.value.append(number)
        del self.recent.value[:-3]
        self.table.count += 1
        self.table.total += number / 3
        self.table.last = word * 3
        self.most.add(number % 37)
        self.longest.add("l" * (number % 11))
        self.kinds.add(number)
        self.mean.add(number)
        if number % 50 == 49:
            self._forget()
        self.emit([word, self._held()])

    def _forget(self) -> None:
        for state in (self.seen, self.text, self.recent, self.table, self.most, self.longest, self.kinds):
            assert state.is_set
            state.clear()
            assert not state.is_set

    def _held(self) -> tuple[Any, ...]:
        table = self.table
        return (
            *(self.seen.value, self.share.value, self.odd.value, self.text.value, self.data.value),
            *(tuple(self.recent.value), table.count, table.total, table.last, table.is_set),
            *(self.most.value, self.longest.value, self.kinds.value, self.mean.value),
        )


class DiesAndRemembers(Remembers):
    """As `Remembers`; kills its process at each of the numbers ``die.at``, when it has changed its state."""

    def process(self, tup: Any) -> None:
        super().process(tup)
        self.die(tup)

    def die(self, tup: Any) -> None:
        number = tup.values[1]
        if number in self.storm_conf["die.at"] and first_time(self, str(number)):
            die()


class Raises(Remembers):
    """As `Remembers`; raises at each number that ``raise.at`` divides, when it has changed its state."""

    def process(self, tup: Any) -> None:
        super().process(tup)
        if tup.values[1] % self.storm_conf["raise.at"] == 0:
            raise ValueError(tup.values[1])


class Owns(Bolt):
    """Counts each word in the task that owns it, of all that receive it."""

    outputs = ["word", "count"]
    state_key = "word"
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        if self.owns_key:
            self.seen.value += 1
            self.emit([tup.values.word, self.seen.value])


class PerTask(Bolt):
    """Counts everything that its task gets."""

    outputs = ["word", "count"]
    seen = ValueState("int64", default=0, per="task")
    recent = ValueState(default=[], per="task")

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.started = self.seen.value

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        self.recent.value.append(tup.values[1])
        self.emit([tup.values[0], (self.seen.value, len(self.recent.value))])


class BatchesPerTask(BatchBolt):
    """Counts rows, batch by batch; raises in the middle of a batch with the number ``raise.at``."""

    outputs = ["word", "count"]
    seen = ValueState("int64", default=0, per="task")

    def process_rows(self, rows: Any) -> None:
        made = []
        for word, number in rows:
            self.seen.value += 1
            made.append([word, self.seen.value])
            if number == self.storm_conf.get("raise.at"):
                raise ValueError(number)
        self.emit_rows(made)
