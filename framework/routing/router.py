"""Which of a consumer's tasks each row goes to.

One router serves one subscription of one producing task. It sees rows in the order of their emission, a
buffer at a time, and keeps what it needs to count across buffers, so that the size of a buffer never shows
in where a row goes. Tasks are indexes into the consumer's tasks, sorted by id.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

from framework.routing.stable_hash import stable_hash
from framework.routing.storm_hash import storm_hash
from framework.topology import Grouping, GroupingKind

Row = tuple[Any, ...]
Targets: TypeAlias = "array[int]"
"""One task index per row, as unsigned 16-bit numbers."""

_KEYS_REMEMBERED = 1 << 16


class Router(Protocol):
    """Chooses one task per row."""

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row."""


class RoundRobin:
    """Shuffle: one task after the other, so that the shares are exactly even."""

    def __init__(self, tasks: int, first: int = 0) -> None:
        self._tasks = tasks
        self._next = first % tasks
        self._pattern = array("H", range(tasks))

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row."""
        start, count = self._next, len(rows)
        if start + count > len(self._pattern):
            self._pattern = array("H", range(self._tasks)) * ((start + count) // self._tasks + 1)
        self._next = (start + count) % self._tasks
        return self._pattern[start : start + count]


class ByKey:
    """Fields grouping: the hash of the key, remembered for the keys seen last.

    A dict of keys seen costs 35 ns a row, hashing anew 600 ns; it is emptied when it
    has grown past 65,536 keys, so that it does not grow with the stream.
    """

    def __init__(self, indexes: Sequence[int], place: Callable[[Any], int]) -> None:
        self._key = itemgetter(*indexes)
        self._seen = _Remembered(place)
        self._place = place

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row.

        Raises:
            TypeError: a key that has no stable hash.
        """
        if len(self._seen) > _KEYS_REMEMBERED:
            self._seen.clear()
        try:
            return array("H", map(self._seen.__getitem__, map(self._key, rows)))
        except TypeError:  # a key that no dict takes, e.g. a list
            return array("H", map(self._place, map(self._key, rows)))


class _Remembered(dict[Hashable, int]):
    def __init__(self, place: Callable[[Any], int]) -> None:
        self._place = place

    def __missing__(self, key: Hashable) -> int:
        index = self[key] = self._place(key)
        return index


class ByKeyUnremembered:
    """As `ByKey`, for a placement in which equal keys of different types part ways."""

    def __init__(self, indexes: Sequence[int], place: Callable[[Any], int]) -> None:
        self._key = itemgetter(*indexes)
        self._place = place
        self._strings = _Remembered(place)

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row.

        Raises:
            TypeError: a key that the placement cannot take.
        """
        if len(self._strings) > _KEYS_REMEMBERED:
            self._strings.clear()
        return array("H", [self._index(key) for key in map(self._key, rows)])

    def _index(self, key: Any) -> int:
        return self._strings[key] if type(key) is str else self._place(key)


class PartialKey:
    """Each key has two tasks; the one that this producer has sent less to is taken."""

    def __init__(self, indexes: Sequence[int], hash_key: Callable[[Any], int], tasks: int) -> None:
        self._key = itemgetter(*indexes)
        self._hash = hash_key
        self._sent = [0] * tasks

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row."""
        return array("H", [self._choose(self._hash(key)) for key in map(self._key, rows)])

    def _choose(self, hashed: int) -> int:
        tasks = len(self._sent)
        first, second = hashed % tasks, hashed // tasks % (tasks - 1)
        second += second >= first  # two different tasks for every key
        chosen = first if self._sent[first] <= self._sent[second] else second
        self._sent[chosen] += 1
        return chosen


HASHES = ("stable", "storm")
"""Values of ``viper.grouping.hash``."""


def make_router(
    grouping: Grouping, fields: Sequence[str], tasks: int, producer: int, hash_name: str = "stable"
) -> Router:
    """The router of a grouping that chooses one of several tasks.

    Args:
        grouping: by fields, partial key, shuffle, local-or-shuffle or none.
        fields: names of the stream's fields.
        tasks: number of the consumer's tasks, at least 2.
        producer: index of the producing task, so that producers do not all begin with the same task.
        hash_name: ``stable``, or ``storm`` to place keys of a fields grouping as a Storm cluster does.
    """
    if grouping.kind is GroupingKind.FIELDS:
        return _by_key([fields.index(name) for name in grouping.names], tasks, hash_name)
    if grouping.kind is GroupingKind.PARTIAL_KEY:
        return PartialKey([fields.index(name) for name in grouping.names], stable_hash, tasks)
    # Local-or-shuffle is shuffle where every task is local; Storm's "none" promises nothing.
    return RoundRobin(tasks, first=producer)


def _by_key(indexes: Sequence[int], tasks: int, hash_name: str) -> Router:
    if hash_name == "stable":
        return ByKey(indexes, lambda key: stable_hash(key) % tasks)
    if len(indexes) == 1:
        return ByKeyUnremembered(indexes, lambda key: storm_hash((key,)) % tasks)
    return ByKeyUnremembered(indexes, lambda key: storm_hash(key) % tasks)
