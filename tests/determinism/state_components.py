"""Components that declare state, and say in their rows what it holds.

As with those of `components`, every output depends on the whole history of its key. They run without the
runtime, too, on the states of `plain_states`.
"""

from __future__ import annotations

from typing import Any

from framework import (
    AggregatingState,
    BatchBolt,
    JPlus,
    KeyWindow,
    ListState,
    MapState,
    OPlus,
    ReducingState,
    Rows,
    TableState,
    Tuple,
    ValueState,
)
from tests.determinism.components import FIELDS, NoisyBolt, digest

BITS = 2**62
"""The limit below which numbers are kept, so that a column of 64 bits has them."""


class Sides(NoisyBolt):
    """Adds a field, which is part of the key of others."""

    outputs = [*FIELDS, "side"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        self._noise()
        self.emit([key, trail, "left" if digest(trail) % 3 else "a side with a name of many bytes"])


class Counted(NoisyBolt):
    """Counts the rows of each key."""

    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self._noise()
        self.emit([tup.values[0], f"{tup.values[1]}={self.seen.add(1)}"])


class CountedInRows(BatchBolt):
    """As `Counted`, all rows of a batch in one call."""

    outputs = FIELDS
    seen = ValueState("int64", default=0)

    def process_rows(self, rows: Rows) -> None:
        keys = rows.column("key")
        counts = self.seen.add_all(keys)
        trails = rows.column("trail")
        self.emit_rows(
            [[key, f"{trail}={count}"] for key, trail, count in zip(keys, trails, counts, strict=True)]
        )


class Recalls(NoisyBolt):
    """Keeps typed state of each kind, and gives some of it up."""

    chained = ValueState("int64", default=7)
    share = ValueState("float64", default=1.0)
    last = ValueState("string", default="none")
    table = TableState({"count": "int64", "share": "float64", "first": "string"}, {"first": "?"})
    most = ReducingState("int64", max)
    trails = ListState("string")
    tallies = MapState("string", "int64")

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        number = digest(trail, self.chained.value % 2**32)
        self.chained.value = (self.chained.value * 31 + number) % BITS
        self._noise()
        self.share.value = self.share.value / 3 + number
        self.last.value += trail[-5:]
        self.table.count += 1
        self.table.share += self.share.value
        if self.table.first == "?":
            self.table.first = trail
        self.most.add(number)
        self._noise()
        self.trails.add(trail)
        name = f"{number % 3} of {tup.component}"
        self.tallies.put(name, self.tallies.get(name, 0) + number)
        if number % 5 == 0:
            self._give_up(number)
        self.check(number)
        self.emit([key, f"{trail}#{digest(repr(self._held())):x}"])

    def check(self, number: int) -> None:
        """Called when everything has changed."""

    def _give_up(self, number: int) -> None:
        self.last.clear()
        self.trails.update([f"after {number}"])
        (self.tallies if number % 2 else self.table).clear()
        if number % 3 == 0:
            self.most.clear()
            del self.chained.value

    def _held(self) -> tuple[Any, ...]:
        table = self.table
        return (
            *(self.chained.value, self.share.value, self.last.value, self.last.is_set, self.most.value),
            *(table.count, table.share, table.first, table.is_set),
            *(self.trails.get(), self.tallies.items(), len(self.trails), "0" in self.tallies),
        )


class Stumbles(Recalls):
    """As `Recalls`; raises at some rows, when everything has changed."""

    config = {"viper.on.error": "skip"}

    def check(self, number: int) -> None:
        if number % 7 == 1:
            raise ValueError(number)


class RecallsAny(NoisyBolt):
    """Keeps values of Python's own in state of each kind, and changes them in place."""

    config = {"viper.on.error": "skip"}

    recent = ValueState(default=[])
    named = ValueState()
    longest = ReducingState(None, lambda one, other: max(one, other, key=len))
    kinds = AggregatingState(create=set, add=lambda found, value: found | {value % 5}, result=sorted)
    notes = ListState()
    details = MapState()

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        number = digest(trail)
        self.recent.value.append(trail)
        del self.recent.value[:-3]
        self.named.value = {"trail": trail, "before": (self.named.value or {}).get("trail")}
        self._noise()
        self.longest.add("l" * (number % 50))
        self.kinds.add(number)
        self.notes.add([number])
        for note in self.notes.get()[-2:]:
            note.append(number % 9)
        detail = self.details.get(number % 3)
        if detail is None:
            self.details.put(number % 3, [trail])
        else:
            detail.append(number)
        if number % 7 == 1:
            raise ValueError(trail)
        if number % 5 == 0:
            self.notes.clear()
            self.recent.clear()
            self.details.remove(number % 2)
        self.emit([key, f"{trail}#{digest(repr(self._held())):x}"])

    def _held(self) -> tuple[Any, ...]:
        return (
            *(list(self.recent.value), self.named.value, self.longest.value, self.kinds.value),
            *(self.notes.get(), self.details.items()),
        )


class Owns(Recalls):
    """As `Recalls`, of all rows, in the one task that owns the key."""

    state_key = "key"

    def process(self, tup: Any) -> None:
        if self.owns_key:
            super().process(tup)


class RecallsTicks(NoisyBolt):
    """Keeps state of its task, and says so with every row and at every tick of event time."""

    config = {"topology.tick.tuple.freq.secs": 1}

    count = ValueState("int64", default=0, per="task")
    waiting = ListState("string", per="task")
    rows = ValueState(default=[], per="task")
    sums = MapState("int64", "int64", per="task")

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        self._noise()
        self.count.value += 1
        self.waiting.add(trail)
        self.rows.value.append(trail)
        self.sums.put(key, self.sums.get(key, 0) + digest(trail))
        self.emit([key, f"{trail}#{self.count.value}"])

    def process_tick(self, tup: Any) -> None:
        self._noise()
        held = self.waiting.get(), self.rows.value, self.sums.items()
        self.emit([-1, f"tick {self.count.value} #{digest(repr(held)):x}"])
        self.waiting.clear()
        self.rows.value.clear()


class Kept(OPlus):
    """Chains the rows of a key in windows that overlap, and tells it with every third row and at the end."""

    outputs = FIELDS
    size, advance = "2s", "700ms"

    def create(self) -> list[int]:
        return [0, 0]

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> list[tuple[Any, ...]] | None:
        count, chained = window.state
        window.state = [count + 1, digest(tup.values[1], chained)]
        return [(window.key, f"{tup.values[1]}:{chained}")] if count % 3 == 2 else None

    def output(self, window: KeyWindow) -> list[tuple[Any, ...]]:
        return [(window.key, "/".join(map(str, window.state)))]


class Met(JPlus):
    """Pairs of rows of one key in windows that do not overlap."""

    outputs = FIELDS
    size, advance = "900ms", "900ms"

    def joined(self, left: Any, right: Any) -> tuple[Any, ...]:
        return left[0], f"{left[1]}&{right[1]}"
