"""The tracked tuples of one spout's task, from their emit until the spout hears their outcome."""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from framework.runtime.observation import TimeHistogram
from framework.runtime.order.tracking.deferred import Commits
from framework.runtime.order.tracking.reasons import Cause, Reason
from viper.forest import Forest
from viper.position import Positions

Outcome = tuple[Any, Reason | None]
"""The id that a tuple was emitted with, and the reason why it has failed; None where it was acked."""

_TIMED_OUT = Reason(Cause.TIMED_OUT)
_WORKER_DIED = Reason(Cause.WORKER_DIED)
_NO_ROOM = Reason(Cause.NO_ROOM)


class Pending:
    """Tracked tuples by their trees, and the outcomes that the spout has not heard yet.

    Each tree is checked once per message timeout. A tree is stalled if all its remaining tuples are held by
    bolts that have neither acked nor failed them. A tree that is found stalled twice in a row has timed out;
    that is between one and two timeouts after it stalled. Time that tuples spend in channels or in `process`
    does not count.
    """

    def __init__(
        self,
        forest: Forest,
        table: int,
        most: int,
        timeout_s: float | None,
        times: TimeHistogram | None = None,
    ) -> None:
        """
        Args:
            forest: holds the trees.
            table: the index of the task's own table in the forest.
            most: the number of tuples in flight at which the spout is asked for no more.
            timeout_s: the message timeout in seconds; None for none.
            times: counts how long tuples took to be acked; None if nobody wants to know.
        """
        self._forest = forest
        self._trees = forest.table(table)
        self._most = most
        self._timeout_s = timeout_s
        self._next_sweep = time.monotonic() + timeout_s if timeout_s else None
        self._incidents = forest.incidents
        self._ids: dict[int, Any] = {}
        """The ids of tuples in flight, by their trees."""
        self._outcomes: deque[Outcome] = deque()
        self._opened: list[array[int]] = []
        """Trees whose tuples have not been sent off yet."""
        self._waits_for_commits = False
        self._times = times
        self._timed: tuple[int, float] | None = None
        """A tree whose time is taken, and the monotonic time in seconds at which it began. One at a time is
        enough to know how long they take, and costs nothing for the others."""

    def __len__(self) -> int:
        return len(self._ids) + len(self._outcomes)

    @property
    def room(self) -> int:
        """The number of further tuples that may be in flight."""
        return self._most - len(self._ids)

    def begin(self, ids: Sequence[Any]) -> array[int]:
        """Begin trees for tuples with these ids; they are open until `placed`, or until that is committed."""
        if not self._ids:
            self._begin_anew()
        trees = self._trees.begin(len(ids))
        while len(trees) < len(ids):  # trees that have ended are taken off the table only here and in `look`
            self._take()
            more = self._trees.begin(len(ids) - len(trees))
            if not more:
                break
            trees.extend(more)
        self._ids.update(zip(trees, ids, strict=False))
        if self._timed is None and trees:
            self._timed = trees[0], time.monotonic()
        self._opened.append(trees)
        if len(trees) < len(ids):
            # A callback has emitted more than the table holds, without return: the rest is not tracked.
            self._outcomes.extend((tup_id, _NO_ROOM) for tup_id in ids[len(trees) :])
            trees.extend([0] * (len(ids) - len(trees)))
        return trees

    def _begin_anew(self) -> None:
        """Begin again: nothing was in flight, so nobody has looked, and no event meanwhile concerns these
        tuples."""
        self._incidents = self._forest.incidents
        if self._timeout_s:
            self._next_sweep = time.monotonic() + self._timeout_s

    def wait_for(self, commits: Commits) -> None:
        """Keep trees open until the emit of their tuples is committed, so that no ack comes before."""
        self._waits_for_commits = True
        commits.call_behind(self._release)
        commits.tell_left_out(self._fail_left_out)

    def placed(self) -> None:
        """Note that the tuples of all new trees were counted: only consumers keep these trees open now."""
        if not self._waits_for_commits:
            self._release()

    def _release(self) -> None:
        for trees in self._opened:
            self._forest.ack_trees(trees)
        self._opened.clear()

    def _fail_left_out(self, positions: Positions, first: int, count: int) -> None:
        """Fail tuples that a consumer has already from a process that was killed, for a tree that is gone."""
        for tree in filter(None, positions.trees(first, count)):
            self._forest.fail(tree, _WORKER_DIED.encode())

    def acked_at_once(self, tup_id: Any) -> None:
        """Note a tuple that no task receives: it is acked without a tree."""
        self._outcomes.append((tup_id, None))

    # -- outcomes

    def has_news(self, now_s: float) -> bool:
        """True if there may be an outcome to report to the spout."""
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
        """Collect the outcomes of tuples since the last call."""
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
        """Take the first outcome that the spout has not heard; None if there is none."""
        return self._outcomes.popleft() if self._outcomes else None

    def put_back(self, outcomes: Sequence[Outcome]) -> None:
        """Have these outcomes be the first again."""
        self._outcomes.extendleft(reversed(outcomes))

    def abandon(self) -> int:
        """Forget all tuples, because the spout that waits for their outcomes is gone; return their number."""
        count = max(self._trees.reset() + len(self._outcomes), len(self))
        self._ids.clear()
        self._timed = None
        self._outcomes.clear()
        self._opened.clear()
        return count

    def _take(self) -> None:
        self._add(self._trees.take())

    def _add(self, ended: Iterable[tuple[int, int]]) -> None:
        pop, done = self._ids.pop, list(ended)
        self._outcomes.extend(
            [(pop(tree), Reason.decode(outcome) if outcome else None) for tree, outcome in done]
        )
        if self._timed is not None and self._timed[0] not in self._ids:
            self._take_time(dict(done))

    def _take_time(self, outcomes: Mapping[int, int]) -> None:
        """Count the time of the tree that it is taken of, which is not in flight any more."""
        assert self._timed is not None
        tree, began_s = self._timed
        self._timed = None
        if self._times is not None and outcomes.get(tree) == 0:
            self._times.add(time.monotonic() - began_s)

    def _fail(self, trees: Iterable[int], reason: Reason) -> None:
        self._outcomes.extend([(self._ids.pop(tree), reason) for tree in trees])
        if self._timed is not None and self._timed[0] not in self._ids:
            self._timed = None
