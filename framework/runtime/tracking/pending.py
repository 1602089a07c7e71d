"""The tracked tuples of one spout's task: from their emit until the spout hears what became of them."""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from framework.runtime.tracking.reasons import Cause, Reason
from viper.forest import Forest

Outcome = tuple[Any, Reason | None]
"""The id that a tuple was emitted with, and why it has failed; None where it was acked."""

_TIMED_OUT = Reason(Cause.TIMED_OUT)
_WORKER_DIED = Reason(Cause.WORKER_DIED)
_NO_ROOM = Reason(Cause.NO_ROOM)


class Pending:
    """Tracked tuples by their trees, and the outcomes that the spout has not heard of yet.

    A tree is looked at once per message timeout. One that is found stalled twice in a row, all that is
    left of it being held by bolts that do not answer, has timed out: between one and two timeouts after
    it stalled. Time that its tuples spend in channels or in process does not count.
    """

    def __init__(self, forest: Forest, table: int, most: int, timeout_s: float | None) -> None:
        """
        Args:
            forest: holds the trees.
            table: the task's own table there.
            most: tuples in flight at which the spout is asked for no more.
            timeout_s: the message timeout in seconds; None for none.
        """
        self._forest = forest
        self._trees = forest.table(table)
        self._most = most
        self._timeout_s = timeout_s
        self._next_sweep = time.monotonic() + timeout_s if timeout_s else None
        self._incidents = forest.incidents
        self._ids: dict[int, Any] = {}
        """By tree: the ids of tuples whose fate is open."""
        self._outcomes: deque[Outcome] = deque()
        self._opened: list[array[int]] = []
        """Trees whose tuples have not been handed on to anybody yet."""

    def __len__(self) -> int:
        return len(self._ids) + len(self._outcomes)

    @property
    def room(self) -> int:
        """How many more may be in flight."""
        return self._most - len(self._ids)

    def begin(self, ids: Sequence[Any]) -> array[int]:
        """New trees for tuples with these ids, which are held open until `release`."""
        trees = self._trees.begin(len(ids))
        while len(trees) < len(ids):  # what has ended is taken off the table only here and in `look`
            self._take()
            more = self._trees.begin(len(ids) - len(trees))
            if not more:
                break
            trees.extend(more)
        self._ids.update(zip(trees, ids, strict=False))
        self._opened.append(trees)
        if len(trees) < len(ids):
            # A callback has emitted more than the table holds, without return: the rest is not tracked.
            self._outcomes.extend((tup_id, _NO_ROOM) for tup_id in ids[len(trees) :])
            trees.extend([0] * (len(ids) - len(trees)))
        return trees

    def release(self) -> None:
        """The tuples whose trees were begun have been handed on: only their consumers keep them open now."""
        for trees in self._opened:
            self._forest.ack_trees(trees)
        self._opened.clear()

    def acked_at_once(self, tup_id: Any) -> None:
        """A tuple that nobody receives."""
        self._outcomes.append((tup_id, None))

    # -- outcomes

    def has_news(self, now_s: float) -> bool:
        """Whether there may be an outcome to be told."""
        return bool(self._outcomes) or (
            bool(self._ids)
            and (
                self._trees.has_done
                or (self._next_sweep is not None and now_s >= self._next_sweep)
                or self._forest.incidents != self._incidents
            )
        )

    @property
    def looks_at_s(self) -> float:
        """Monotonic time in seconds at which trees may time out."""
        return self._next_sweep if self._next_sweep is not None and self._ids else float("inf")

    def look(self, now_s: float) -> None:
        """Find out what has become of tuples since the last time."""
        incidents = self._forest.incidents
        if incidents != self._incidents:
            self._incidents = incidents
            regular, ended = self._trees.fail_all()
            self._add(regular)
            self._fail(ended, _WORKER_DIED)
        else:
            self._take()
        if self._next_sweep is not None and now_s >= self._next_sweep:
            assert self._timeout_s is not None
            self._next_sweep = now_s + self._timeout_s
            self._fail(self._trees.expire(), _TIMED_OUT)

    def next_outcome(self) -> Outcome | None:
        """The first that the spout has not heard of; None if it has heard of all."""
        return self._outcomes.popleft() if self._outcomes else None

    def abandon(self) -> int:
        """The spout has died: nobody waits for its tuples any more. Returns how many they were."""
        count = max(self._trees.reset() + len(self._outcomes), len(self))
        self._ids.clear()
        self._outcomes.clear()
        self._opened.clear()
        return count

    def _take(self) -> None:
        self._add(self._trees.take())

    def _add(self, done: Iterable[tuple[int, int]]) -> None:
        pop = self._ids.pop
        self._outcomes.extend(
            [(pop(tree), Reason.decode(outcome) if outcome else None) for tree, outcome in done]
        )

    def _fail(self, trees: Iterable[int], reason: Reason) -> None:
        self._outcomes.extend([(self._ids.pop(tree), reason) for tree in trees])
