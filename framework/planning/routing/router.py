"""Routers: the choice of a consumer's task for each row.

One router serves one subscription of one producing task. It sees rows in the order of their emission, a
buffer at a time, and keeps its counts across buffers. So the size of a buffer never shows in the choice of a
task. Tasks are indexes into the consumer's tasks, sorted by id.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

from framework.model.topology import Grouping, GroupingKind
from framework.planning.routing.storm_hash import storm_hash
from viper.hashing import (
    ArrowColumn,
    hashes_of_columns,
    hashes_of_rows,
    placing_hash_of_rare,
    targets_of_columns,
    targets_of_rows,
)

Row = tuple[Any, ...]
Targets: TypeAlias = "array[int]"
"""One task index per row, as unsigned 16-bit numbers."""

_KEYS_REMEMBERED = 1 << 16
_ROUNDS = 16
"""Rounds of runs of one length, after which they are twice as long."""


class Router(Protocol):
    """Chooses one task per row."""

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row."""

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> Targets | None:
        """The task index of each row of a record batch, the same as for its rows as tuples.

        Args:
            columns: one for each field of the stream.
            count: number of rows.

        Returns:
            None where the router has to see the rows as tuples; it has counted none of them then.
        """


class CountingRouter(ABC):
    """A router whose choice depends on what it has chosen before."""

    @abstractmethod
    def save(self) -> list[int]:
        """Return the counts, for `restore`."""

    @abstractmethod
    def restore(self, counts: Sequence[int]) -> None:
        """Resume the counts of another one; if that had other tasks or runs, begin from the start."""


class Shuffle(CountingRouter):
    """Shuffle: the tasks get runs of tuples in turn, all runs of a round as long as one another.

    Runs keep a merge behind the tasks from changing its source with every tuple. They begin with a single
    tuple, so that a short stream reaches all tasks, and double whenever each task has got sixteen times as
    much as the longer runs have: so no task has more than a sixteenth, or one tuple, more than another.

    Args:
        tasks: number of the consumer's tasks.
        first: index of the task that gets the first run, modulo the number of tasks.
        longest: how many tuples a run has at most.
    """

    def __init__(self, tasks: int, first: int = 0, longest: int = 1) -> None:
        self._tasks = tasks
        self._order = [(first + turn) % tasks for turn in range(tasks)]
        self._longest = longest
        self._begin(1, 2 * _ROUNDS)

    def _begin(self, length: int, rounds: int) -> None:
        """Go over to runs of this length, for so many rounds."""
        self._length = length
        self._round = array("H")
        for task in self._order:
            self._round += array("H", [task]) * length
        self._pattern = self._round
        self._next = 0
        """Index in a round of the next tuple."""
        self._left = rounds * len(self._round)
        """Tuples until the runs grow, if they are not the longest."""

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row."""
        return self._deal(len(rows))

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> Targets:
        """The task index of each row of a record batch."""
        return self._deal(count)

    def _deal(self, count: int) -> Targets:
        if self._length == self._longest:
            return self._take(count)
        found = array("H")
        while count > self._left and self._length < self._longest:
            count -= self._left
            found += self._take(self._left)
            self._begin(min(2 * self._length, self._longest), _ROUNDS)
        self._left -= count
        return found + self._take(count)

    def save(self) -> list[int]:
        """As in the base class."""
        return [self._tasks, self._longest, self._length, self._next, self._left]

    def restore(self, counts: Sequence[int]) -> None:
        """As in the base class."""
        tasks, longest, length, following, left = counts
        if (tasks, longest) == (self._tasks, self._longest):
            self._begin(length, 0)
            self._next, self._left = following, left

    def _take(self, count: int) -> Targets:
        """The next targets, all from runs of this length."""
        start, size = self._next, len(self._round)
        if start + count > len(self._pattern):
            self._pattern = self._round * ((start + count) // size + 1)
        self._next = (start + count) % size
        return self._pattern[start : start + count]


class ByKey:
    """Fields grouping: the key's group goes to the task that has it.

    Args:
        indexes: the fields of the key.
        tasks: number of the consumer's tasks.
        groups: number of key groups, a power of two that is not less.
    """

    def __init__(self, indexes: Sequence[int], tasks: int, groups: int) -> None:
        self._indexes = tuple(indexes)
        self._tasks = tasks
        self._groups = groups
        self._rare = RareKeys()

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row.

        Raises:
            TypeError: a key that has no stable hash.
        """
        indexes, tasks, groups = self._indexes, self._tasks, self._groups
        return array("H", self._rare.hashed(lambda rare: targets_of_rows(rows, indexes, tasks, groups, rare)))

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> Targets | None:
        """The task index of each row of a record batch; None where the keys have to be hashed as values."""
        key = [columns[index] for index in self._indexes]
        try:
            found = targets_of_columns(key, self._tasks, self._groups)
        except TypeError:  # one is NaN
            return None
        return None if found is None else array("H", found)


class RareKeys:
    """Hashes keys that are not plain values, such as dates, and remembers those seen last; NaN, too.

    A plain value is hashed in less time than it would be found. A date, though, takes 1,600 ns in Python, and
    80 to be found. The dict is emptied when it has grown past 65,536 keys, so that it does not grow with the
    stream.
    """

    def __init__(self) -> None:
        self._seen = _Remembered(placing_hash_of_rare)

    def hashed(self, hash_rows: Callable[[Callable[[Any], int]], bytes]) -> bytes:
        """Return the hashes that a function finds for rows, with a function for the values that are not
        plain.

        Raises:
            TypeError: a key that has no stable hash.
        """
        if len(self._seen) > _KEYS_REMEMBERED:
            self._seen.clear()
        try:
            return hash_rows(self._seen.__getitem__)
        except TypeError:  # a key that no dict takes, e.g. a set
            return hash_rows(placing_hash_of_rare)


class _Remembered(dict[Hashable, int]):
    def __init__(self, found_for: Callable[[Any], int]) -> None:
        self._found_for = found_for

    def __missing__(self, key: Hashable) -> int:
        found = self[key] = self._found_for(key)
        return found


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

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> None:
        """Return None: a cluster hashes values."""

    def _index(self, key: Any) -> int:
        return self._strings[key] if type(key) is str else self._place(key)


class PartialKey(CountingRouter):
    """Each key has two tasks; the one that this producer has sent less to is taken."""

    def __init__(self, indexes: Sequence[int], tasks: int) -> None:
        self._indexes = tuple(indexes)
        self._rare = RareKeys()
        self._sent = [0] * tasks

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row.

        Raises:
            TypeError: a key that has no stable hash.
        """
        return self._choices(self._rare.hashed(lambda rare: hashes_of_rows(rows, self._indexes, rare)))

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> Targets | None:
        """The task index of each row of a record batch; None where the keys have to be hashed as values."""
        try:
            hashes = hashes_of_columns([columns[index] for index in self._indexes])
        except TypeError:  # one is NaN
            return None
        return None if hashes is None else self._choices(hashes)

    def save(self) -> list[int]:
        """As in the base class."""
        return list(self._sent)

    def restore(self, counts: Sequence[int]) -> None:
        """As in the base class."""
        if len(counts) == len(self._sent):
            self._sent = list(counts)

    def _choices(self, hashes: bytes) -> Targets:
        return array("H", map(self._choose, memoryview(hashes).cast("Q")))

    def _choose(self, hashed: int) -> int:
        tasks = len(self._sent)
        first, second = hashed % tasks, hashed // tasks % (tasks - 1)
        second += second >= first  # two different tasks for every key
        chosen = first if self._sent[first] <= self._sent[second] else second
        self._sent[chosen] += 1
        return chosen


HASHES = ("stable", "storm")
"""Values of ``viper.grouping.hash``."""
MOST_GROUPS = 1 << 16
"""The most key groups there can be (``viper.key.groups``)."""


def make_router(
    grouping: Grouping,
    fields: Sequence[str],
    tasks: int,
    producer: int,
    hash_name: str = "stable",
    longest_run: int = 1,
    groups: int = MOST_GROUPS,
) -> Router:
    """The router of a grouping that chooses one of several tasks.

    Args:
        grouping: by fields, partial key, shuffle, local-or-shuffle or none.
        fields: names of the stream's fields.
        tasks: number of the consumer's tasks, at least 2.
        producer: index of the producing task, so that producers do not all begin with the same task.
        hash_name: ``stable``, or ``storm`` to place keys of a fields grouping as a Storm cluster does.
        longest_run: how many tuples in a row a shuffle sends to one task at most.
        groups: number of key groups that a fields grouping divides among the tasks.
    """
    if grouping.kind is GroupingKind.FIELDS:
        return _by_key([fields.index(name) for name in grouping.names], tasks, hash_name, groups)
    if grouping.kind is GroupingKind.PARTIAL_KEY:
        return PartialKey([fields.index(name) for name in grouping.names], tasks)
    # Local-or-shuffle is shuffle where every task is local; Storm's "none" promises nothing.
    return Shuffle(tasks, producer, longest_run)


def _by_key(indexes: Sequence[int], tasks: int, hash_name: str, groups: int) -> Router:
    if hash_name == "stable":
        return ByKey(indexes, tasks, groups)
    if len(indexes) == 1:
        return ByKeyUnremembered(indexes, lambda key: storm_hash((key,)) % tasks)
    return ByKeyUnremembered(indexes, lambda key: storm_hash(key) % tasks)
