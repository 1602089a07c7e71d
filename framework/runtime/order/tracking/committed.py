"""Answers that leave a task only behind the commit of what they were given for."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Protocol

from viper.forest import Forest
from viper.position import Positions


class Answers(Protocol):
    """Takes the answers of a task to tracked tuples; a `Forest` has them take effect at once."""

    def ack(self, positions: Positions, first: int, count: int) -> None:
        """These tuples are done with."""

    def ack_trees(self, trees: array[int]) -> None:
        """One tuple of each tree is done with."""

    def hold(self, tree: int) -> None:
        """A tuple of the tree is held: its task has returned from processing it without an answer."""

    def answer_held(self, tree: int) -> None:
        """A tuple of the tree that was held is done with."""


class Commits(Protocol):
    """Tells of the commits of a task."""

    def call_behind(self, call: Callable[[], None]) -> None:
        """Have something called behind each."""

    def tell_left_out(self, call: Callable[[Positions, int, int], None]) -> None:
        """Have something called with positions, an index and a number of tuples when these are left out."""


class CommittedAnswers:
    """Keeps answers until the task has committed what they were given for.

    A slice that a killed process had not committed is done once more, and so are its answers. If they had
    left at once, a tree would count the same tuple as done twice, and end while others are in process.

    Args:
        forest: takes them then.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._acked = array("Q")
        self._held: list[int] = []
        self._answered: list[int] = []

    def ack(self, positions: Positions, first: int, count: int) -> None:
        """As in `Answers`, once it is committed; so are the others."""
        self._acked.extend(filter(None, positions.trees(first, count)))

    def ack_trees(self, trees: Iterable[int]) -> None:
        """One tuple of each tree is done with."""
        self._acked.extend(trees)

    def hold(self, tree: int) -> None:
        """A tuple of the tree is held."""
        self._held.append(tree)

    def answer_held(self, tree: int) -> None:
        """A tuple of the tree that was held is done with."""
        self._answered.append(tree)

    def release(self) -> None:
        """All that was answered until now is committed."""
        for tree in self._held:
            self._forest.hold(tree)
        for tree in self._answered:
            self._forest.answer_held(tree)
        if self._acked:
            self._forest.ack_trees(self._acked)
            del self._acked[:]
        self._held.clear()
        self._answered.clear()
