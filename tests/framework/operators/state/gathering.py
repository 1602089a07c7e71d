"""Components whose state is lists and maps, for the tests of these, and what plain Python says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from framework import Bolt, ListState, MapState, Spout
from tests.framework.runtime.workers.dying import die, first_time

RAISES_AT = (37, 81)
KEYS = ["apple", "pear", 1, 1.5, "a key of more than fifteen bytes", "é"]


class Numbered(Spout):
    """Emits keys with the numbers from 0 upwards."""

    outputs = ["key", "number"]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            yield [KEYS[number * 7919 % len(KEYS)], number]


class Gathers(Bolt):
    """Keeps lists and maps of its key, typed and of any values, and changes values of the latter in place."""

    outputs = ["key", "held"]
    numbers = ListState("int64")
    texts = ListState("string")
    notes = ListState()
    tallies = MapState("string", "int64")
    details = MapState()

    def process(self, tup: Any) -> None:
        key, number = tup.values
        held = gather(self, number)
        self.emit([key, held])


def gather(of: Any, number: int) -> tuple[Any, ...]:
    """Change what is kept of a key for a number, and tell what is kept then."""
    of.numbers.add(number)
    of.texts.add_all([f"{number} " * (number % 5), "x"])
    of.notes.add([number])
    for note in of.notes.get()[-3:]:
        note.append(number % 7)
    name = f"name {number % 4}"
    of.tallies.put(name, of.tallies.get(name, 0) + number)
    detail = of.details.get(number % 3)
    if detail is None:
        of.details.put(number % 3, [number])
    else:
        detail.append(number)
    if number % 11 == 10:
        of.tallies.remove(f"name {number % 3}")
        of.details.remove(number % 2)
        of.notes.update(of.notes.get()[-5:])
    if number % 50 == 49:
        of.texts.clear()
        of.details.clear()
    return (
        *(tuple(of.numbers.get()), tuple(of.texts.get()), repr(of.notes.get())),
        *(tuple(of.tallies.items()), repr(list(of.details.items())), len(of.details), "name 1" in of.tallies),
    )


class PlainList(list[Any]):
    """A list with the words of `ListState`."""

    def add(self, value: Any) -> None:
        self.append(value)

    def add_all(self, values: Iterable[Any]) -> None:
        self.extend(values)

    def get(self) -> list[Any]:
        return list(self)

    def update(self, values: Iterable[Any]) -> None:
        self[:] = values


class PlainMap(dict[Any, Any]):
    """A dictionary with the words of `MapState`."""

    def put(self, key: Any, value: Any) -> None:
        self[key] = value

    def remove(self, key: Any) -> bool:
        return self.pop(key, None) is not None


class Plain:
    """The values that `Gathers` keeps of one key."""

    def __init__(self) -> None:
        self.numbers, self.texts, self.notes = PlainList(), PlainList(), PlainList()
        self.tallies, self.details = PlainMap(), PlainMap()


def gathered(numbers: Iterable[tuple[Any, int]]) -> list[tuple[Any, Any]]:
    """Compute the output of `Gathers` for keys and numbers."""
    kept: dict[Any, Plain] = {}
    return [(key, gather(kept.setdefault(key, Plain()), number)) for key, number in numbers]


class Raises(Gathers):
    """As `Gathers`, at two numbers for nothing: it raises when it has changed its state."""

    def process(self, tup: Any) -> None:
        if tup.values[1] in RAISES_AT:
            gather(self, tup.values[1])
            raise ValueError(tup.values[1])
        super().process(tup)


class Dies(Gathers):
    """As `Gathers`; kills its process at each of the numbers ``die.at``, when it has changed its state."""

    def process(self, tup: Any) -> None:
        super().process(tup)
        number = tup.values[1]
        if number in self.storm_conf["die.at"] and first_time(self, str(number)):
            die()


class OfTheTask(Bolt):
    """Gathers everything that its task gets."""

    outputs = ["key", "held"]
    seen = ListState(per="task")
    tallies = MapState(value_type="int64", per="task")

    def process(self, tup: Any) -> None:
        self.seen.add([tup.values[1]])
        self.seen.get()[0].append(0)
        self.tallies.put(tup.values[0], self.tallies.get(tup.values[0], 0) + 1)
        self.emit(["all", (len(self.seen), len(self.seen.get()[0]), sum(self.tallies.values()))])


class Hoards(Bolt):
    """Appends much, until there is no room."""

    outputs = ["key", "held"]
    hoard = ListState("binary")

    def process(self, tup: Any) -> None:
        self.hoard.add_all([bytes(4096)] * 3)
        self.emit([tup.values[0], len(self.hoard)])
