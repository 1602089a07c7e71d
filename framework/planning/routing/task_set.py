"""The set of a component's tasks that share its tuples, in the form of one word of shared memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MOST_CHOSEN: Final = 63
"""Tasks of which any may be chosen, one bit of a word for each; of more, only the first so many."""


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Tasks of one component, by index; at least one.

    The first of them in their order gets the first share of key groups, and so on, whichever tasks they are.
    """

    indexes: tuple[int, ...]
    """Ascending."""

    @classmethod
    def first(cls, count: int) -> TaskSet:
        """The first so many tasks, at least 1."""
        return cls.from_code(count)

    @classmethod
    def of(cls, indexes: Iterable[int]) -> TaskSet:
        """Tasks by index, in any order.

        Raises:
            ValueError: there is none, or one that no word can hold.
        """
        found = cls(tuple(sorted(set(indexes))))
        if not found.indexes or found.indexes[0] < 0:
            raise ValueError(f"tasks {found.indexes}: expected at least one, from 0 on")
        if not found.is_first and found.indexes[-1] >= MOST_CHOSEN:
            raise ValueError(f"task {found.indexes[-1]}: expected indexes below {MOST_CHOSEN}")
        return found

    @classmethod
    def from_code(cls, code: int) -> TaskSet:
        """The one that `code` stands for."""
        return _decoded(code)

    @property
    def code(self) -> int:
        """A word that says it: the number of the first so many tasks, or a bit for each task, negated."""
        return len(self.indexes) if self.is_first else -sum(1 << index for index in self.indexes)

    @property
    def is_first(self) -> bool:
        """True if these are the first tasks, without a gap."""
        return self.indexes[-1] == len(self.indexes) - 1

    def rank(self, index: int) -> int | None:
        """The place of a task among them, from 0; None if it is not one of them."""
        if self.is_first:
            return index if index < len(self.indexes) else None
        return self.indexes.index(index) if index in self.indexes else None

    def __len__(self) -> int:
        return len(self.indexes)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indexes)

    def __str__(self) -> str:
        """``3`` for the first three, else e.g. ``tasks 0 and 2``, for people."""
        if self.is_first:
            return str(len(self))
        *others, last = map(str, self.indexes)
        return f"tasks {', '.join(others)} and {last}" if others else f"task {last}"

    @property
    def in_words(self) -> str:
        """The same, but ``3 tasks`` for the first three."""
        return f"{self} task{'s' * (len(self) > 1)}" if self.is_first else str(self)


@lru_cache(maxsize=1024)
def _decoded(code: int) -> TaskSet:
    if code > 0:
        return TaskSet(tuple(range(code)))
    return TaskSet(tuple(index for index in range(MOST_CHOSEN) if -code >> index & 1))
