"""Deferred answers: they leave a task once a commit, or a checkpoint on disk, covers what they answer."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from viper.forest import Forest
from viper.position import Positions


class Answers(Protocol):
    """Takes the answers of a task to tracked tuples; a `Forest` has them take effect at once."""

    def ack(self, positions: Positions, first: int, count: int) -> None:
        """Note that these tuples are done."""

    def ack_trees(self, trees: array[int]) -> None:
        """Note that one tuple of each tree is done."""

    def hold(self, tree: int) -> None:
        """Note that a tuple of the tree is held: its task has processed it without an answer."""

    def answer_held(self, tree: int) -> None:
        """Note that a held tuple of the tree is done."""


class Commits(Protocol):
    """The commits of a task, with functions to call at each."""

    def call_behind(self, call: Callable[[], None]) -> None:
        """Have something called behind each."""

    def tell_left_out(self, call: Callable[[Positions, int, int], None]) -> None:
        """Have something called with positions, an index and a number of tuples when these are left out."""


class CommittedAnswers:
    """Keeps answers until the task has committed what they were given for.

    A slice that a killed process had not committed is repeated, and so are its answers. If they had left at
    once, a tree would count the same tuple as done twice, and end while others are in process.

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
        """Note that one tuple of each tree is done."""
        self._acked.extend(trees)

    def hold(self, tree: int) -> None:
        """Note that a tuple of the tree is held."""
        self._held.append(tree)

    def answer_held(self, tree: int) -> None:
        """Note that a held tuple of the tree is done."""
        self._answered.append(tree)

    def release(self) -> None:
        """Give the answers that came until now, which are committed."""
        for tree in self._held:
            self._forest.hold(tree)
        for tree in self._answered:
            self._forest.answer_held(tree)
        if self._acked:
            self._forest.ack_trees(self._acked)
            del self._acked[:]
        self._held.clear()
        self._answered.clear()


class WithheldAcks:
    """The ids of processed tuples whose acks wait until a checkpoint that holds their effects is on disk.

    A broker forgets a message when it is acked. So no ack leaves before the message is covered: if all
    processes are killed, another run resumes from the checkpoint, and the message has had its effect there.

    A source saves its offset at its *cut*, and has sent nothing that lies after the time of the checkpoint.
    Whatever has been processed by then, with all its descendants, lies before that time, as no task is ahead
    of the sources; so the checkpoint holds it. A tuple that is processed later waits for the next checkpoint.

    Args:
        most: acks that may wait, together with the tuples in flight.
        completed: gives the id of the last checkpoint that is on disk.
    """

    def __init__(self, most: int, completed: Callable[[], int]) -> None:
        self._most = most
        self._completed = completed
        self._uncovered: list[Any] = []
        """Ids that belong to no checkpoint yet."""
        self._covered: deque[tuple[int, deque[Any]]] = deque()
        """Ids that belong to a checkpoint, with its number; it may not be on disk yet."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def room(self) -> int:
        """The number of tuples that may still be emitted, or wait for a checkpoint."""
        return self._most - self._count

    @property
    def is_crowded(self) -> bool:
        """True if a checkpoint should be made before there is no room for more acks."""
        return 2 * self._count >= self._most

    def add(self, tup_id: Any) -> None:
        """Note that a tuple has been processed."""
        self._uncovered.append(tup_id)
        self._count += 1

    def cut(self, number: int) -> None:
        """Assign all tuples so far to the checkpoint of this id, if that comes to be, or to a later one."""
        if self._uncovered:
            self._covered.append((number, deque(self._uncovered)))
            self._uncovered = []

    @property
    def has_any(self) -> bool:
        """True if a checkpoint on disk covers any of them, for `take`."""
        return bool(self._covered) and self._covered[0][0] <= self._completed()

    def take(self) -> Any:
        """Take out the id of the first tuple, if there is any that is covered."""
        ids = self._covered[0][1]
        tup_id = ids.popleft()
        self._count -= 1
        if not ids:
            self._covered.popleft()
        return tup_id

    def take_all(self) -> Iterator[Any]:
        """Take out all ids, covered or not."""
        for _, ids in self._covered:
            yield from ids
        yield from self._uncovered
        self.clear()

    def clear(self) -> int:
        """Forget all of them; returns how many there were."""
        count, self._count = self._count, 0
        self._covered.clear()
        self._uncovered = []
        return count
