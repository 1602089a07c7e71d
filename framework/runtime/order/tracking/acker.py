"""The acker of a bolt's task: it acks or fails each tuple that the task receives once.

A tuple that a bolt receives is *in process* until `process` returns. Then it is acked automatically
(``auto_ack``), or it is *held*. The bolt acks or fails a held tuple later, from a tick, from a batch or from
a thread that it has started. An ack or a fail is called an *answer* here. Only tracked tuples are remembered
here; an answer to an untracked one has no effect, as on Storm. A tuple is *open* until it is answered.
"""

from __future__ import annotations

import threading
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from framework.operators.components.tuple import TICK_ID
from framework.runtime.order.tracking.answers import Mistakes, Unanswered, id_of
from framework.runtime.order.tracking.deferred import Answers
from framework.runtime.order.tracking.reasons import Cause, Reason
from viper.errors import ForestError
from viper.forest import Forest
from viper.position import Positions
from viper.rows import Inbox

_UNANCHORED = 0
"""The tree number of a tuple that is anchored to no tracked tuple."""

MOST_HELD = 10_000
"""The number of held tuples from which on those of failed trees are looked for and forgotten."""

PendingAcks = tuple[list[tuple[int, bool]], list[int]]
"""Acks that have not taken effect (the tree, and whether its tuple was held), and joints to be released."""


class Acker:
    """Carries out the acks and fails of one task.

    An ack takes effect after the trees have counted everything that was emitted before it. Otherwise a tree
    could be done before its last tuples are known. A fail takes effect at once.
    """

    def __init__(
        self,
        forest: Forest,
        task: int,
        table: int,
        inbox: Inbox,
        unanswered: Unanswered,
        mistakes: Mistakes,
        answers: Answers | None = None,
    ) -> None:
        """
        Args:
            forest: holds the trees.
            task: id of the task.
            table: the index of the task's own table in the forest, for joints.
            inbox: knows which tuple is in process.
            unanswered: knows the untracked tuples that a component which answers itself has not answered.
            mistakes: hears of second answers, and of anchors that are not open.
            answers: takes acks; None to have them take effect at once, as fails do in any case.
        """
        self._forest = forest
        self._answers: Answers = answers or forest
        self._task = task
        self._trees = forest.table(table)
        self._inbox = inbox
        self._unanswered = unanswered
        self._mistakes = mistakes
        self.automatic = True
        """True if a tuple is acked when `process` returns, which the component may change at any time."""
        self.anchors_itself = True
        """True if an emit without anchors is anchored to the tuple in process; the component may change
        it, too."""
        self.tracking = False
        """True if any tracked tuple has come."""
        self.untracked_fails = 0
        """The number of untracked tuples that were failed."""
        self._has_new_holds = False
        self._positions = Positions()
        self._base = 0
        """Index in `_positions` of the first tuple that the inbox was loaded with."""
        self._answered_id = 0
        """Number of the tuple in process, once it has been answered."""
        self._unacked: list[int] = []
        """Indexes of tuples of this slice that are not to be acked automatically."""
        self._fresh: dict[str, int] = {}
        """Trees by id of tuple, for tuples of this slice that the bolt has to answer itself."""
        self._held: dict[str, int] = {}
        """Trees by id of tuple, for such tuples of earlier slices."""
        self._most_held = MOST_HELD
        self.waiting: deque[tuple[int, bool]] = deque()
        """Acks that have not taken effect: the tree, and whether the tuple was held."""
        self._opened: list[int] = []
        """Joints that are held open until the tuples that are anchored to them have been sent off."""
        self._lock = threading.RLock()
        """While a thread holds it, every unanswered tuple is either fresh or held, and no other thread uses
        the task's table. A component may answer and anchor from threads that it has started."""
        self._incidents = forest.incidents
        self._on_ack: Callable[[], None] = lambda: None
        self._silent_thread = 0
        """The thread whose acks `_on_ack` is not called for."""
        self._joint: tuple[tuple[int, ...], int] | None = None
        """The last joint, with its trees; many bolts anchor several outputs to the same batch."""

    def watch(self, call: Callable[[], None], *, always: bool) -> None:
        """Have something called for each ack that another thread than the task's gives.

        Args:
            call: called in that thread, after the ack.
            always: whether it is called for the acks of the task's own thread, too; such a task keeps that.
        """
        self._on_ack, self._silent_thread = call, 0 if always else threading.get_ident()

    def come_here(self) -> None:
        """Take the calling thread for the task's own from now on."""
        self._silent_thread = threading.get_ident()

    def resume(self) -> None:
        """Take the place of a task whose process has died."""
        self._trees.reset()

    def take_new_holds(self) -> bool:
        """True if tuples were held since the last call."""
        new, self._has_new_holds = self._has_new_holds, False
        return new

    # -- the tuples of a slice, as the task goes through them

    def begin(
        self, positions: Positions, *, automatic: bool, anchors_itself: bool, may_be_tracked: bool = True
    ) -> bool:
        """Set the positions of the tuples that come next; return whether any is tracked.

        Args:
            positions: theirs.
            may_be_tracked: whether any of them may be.
            automatic: whether a tuple is acked when `process` returns.
            anchors_itself: whether an emit without anchors is anchored to the tuple in process.
        """
        self.automatic, self.anchors_itself = automatic, anchors_itself
        self._positions, self._base = positions, 0
        if not (may_be_tracked and positions.tracked()):
            return False
        self.tracking = True
        self._look()
        return True

    def _look(self) -> None:
        """Forget joints that have ended."""
        if self._trees.has_done:
            with self._lock:
                self._trees.take()
        if self._forest.incidents != self._incidents:
            self._incidents = self._forest.incidents
            with self._lock:
                self._trees.fail_all()

    def passed(self, count: int) -> None:
        """Note that the next `count` tuples were processed."""
        self._base += count

    def receive(self, tup: Any) -> bool:
        """Note the tuple that comes next, which the bolt answers itself; return whether it is tracked."""
        tree = self._positions.tree(self._current)
        if tree:
            self._fresh[tup.id] = tree
        return bool(tree)

    def end(self) -> None:
        """Ack or hold the tuples of a slice, some tracked; all were processed, and their outputs counted."""
        if self.automatic:
            self._ack_by_itself()
        if self._fresh:
            self._hold()
        self._unacked.clear()

    def _ack_by_itself(self) -> None:
        first = 0
        for index in [*self._unacked, len(self._positions)]:
            if index > first:
                self._answers.ack(self._positions, first, index - first)
            first = index + 1

    def _hold(self) -> None:
        with self._lock:
            for tup_id, tree in self._fresh.items():
                self._held[tup_id] = tree
                self._answers.hold(tree)
                self._has_new_holds = True
            self._fresh.clear()
            if len(self._held) > self._most_held:
                self._forget_dead()

    def _forget_dead(self) -> None:
        """Forget held tuples whose trees have failed: a bolt that never answers must not fill the memory."""
        alive = self._forest.alive
        self._held = {tup_id: tree for tup_id, tree in self._held.items() if alive(tree)}
        self._most_held = max(2 * len(self._held), MOST_HELD)

    @property
    def _current(self) -> int:
        """Index of the tuple in process."""
        return self._base + self._inbox.handed - 1

    # -- what the component answers

    def ack(self, tup: Any) -> bool:
        """Ack a tuple, given itself or by its id; return whether this is the first answer to it.

        Raises:
            AnswerError: it is not the first, and answers are strict.
        """
        return self._answer(id_of(tup), "acks", None)

    def fail(self, tup: Any, cause: Cause = Cause.FAILED) -> bool:
        """Fail a tuple, given itself or by its id; result and errors as for `ack`."""
        return self._answer(id_of(tup), "fails", Reason(cause, self._task))

    def _answer(self, tup_id: str, verb: str, failure: Reason | None) -> bool:
        if tup_id.startswith(TICK_ID):
            return False
        with self._lock:
            if (tree := self._fresh.pop(tup_id, None)) is not None:
                return self._settle(tree, failure, held=False)
            if (tree := self._held.pop(tup_id, None)) is not None:
                return self._settle(tree, failure, held=True)
        if self.automatic and self._inbox.open and tup_id == str(self._inbox.last_id):
            return self._answer_current(tup_id, verb, failure)
        if not self._unanswered.may_be_open(tup_id):
            self._mistakes.unknown_answer(verb, tup_id)
            return False
        self.untracked_fails += failure is not None
        return True

    def _settle(self, tree: int, failure: Reason | None, *, held: bool) -> bool:
        if failure is None:
            self.waiting.append((tree, held))
            if threading.get_ident() != self._silent_thread:
                self._on_ack()
        else:
            self._forest.fail(tree, failure.encode())
        return True

    def _answer_current(self, tup_id: str, verb: str, failure: Reason | None) -> bool:
        if self._answered_id == self._inbox.last_id:
            self._mistakes.answer(verb, tup_id, "has been answered before")
            return False
        self._answered_id = self._inbox.last_id
        if failure is not None:
            tree = self._positions.tree(self._current)
            if tree:
                self._forest.fail(tree, failure.encode())
        self._mistakes.answer(verb, tup_id, "is acked anyway when process returns, as auto_ack is on")
        return True

    # -- what the task answers in its place

    def raised(self, fails: bool) -> bool:
        """Deal with the tuple in process, for which `process` has raised; return whether it is tracked.

        Args:
            fails: whether the tuple fails. Otherwise it is held, as if the bolt might still answer it.
        """
        index = self._current
        tree = self._positions.tree(index)
        if self._was_answered(tree):
            return bool(tree)
        if fails:
            self._fresh.pop(str(self._inbox.last_id), None)
            if tree:
                self._forest.fail(tree, Reason(Cause.RAISED, self._task).encode())
        elif tree and self.automatic:
            self._unacked.append(index)
            self._fresh[str(self._inbox.last_id)] = tree
        return bool(tree)

    def _was_answered(self, tree: int) -> bool:
        """True if the component has answered the tuple in process, which belongs to `tree`, itself."""
        if self.automatic:
            return self._answered_id == self._inbox.last_id
        return bool(tree) and str(self._inbox.last_id) not in self._fresh

    def raised_for_all(self, count: int) -> int:
        """Fail the next `count` tuples, for which a sink has raised; return how many are untracked."""
        reason = Reason(Cause.RAISED, self._task).encode()
        trees = self._positions.trees(self._base, count)
        for tree in filter(None, trees):
            self._forest.fail(tree, reason)
        return trees.count(0)

    def fail_all(self, cause: Cause) -> int:
        """Fail all tuples that the component, which is gone, has not answered; return their number."""
        reason = Reason(cause, self._task).encode()
        with self._lock:
            unanswered = {**self._fresh, **self._held}
            self._fresh.clear()
            self._held.clear()
        for tree in unanswered.values():
            self._forest.fail(tree, reason)
        return len(unanswered)

    @property
    def held(self) -> int:
        """The number of tracked tuples that the bolt holds."""
        return len(self._held)

    @property
    def held_alive(self) -> int:
        """The number of those whose trees have not failed."""
        with self._lock:
            return sum(map(self._forest.alive, self._held.values()))

    # -- anchors

    def note_for(self, anchors: Sequence[Any] | None) -> int | None:
        """The tree of an emit with these anchors; None for the tree of the tuple in process.

        Raises:
            AnswerError: an anchor was acked or failed before, and answers are strict.
            ForestError: there is no room for another joint.
        """
        if anchors is None:
            return None if self.anchors_itself or not self.tracking else _UNANCHORED
        with self._lock:
            trees = tuple(dict.fromkeys(filter(None, map(self._tree_of, map(id_of, anchors)))))
            if not self.tracking:
                return None
            if len(trees) < 2:
                return trees[0] if trees else _UNANCHORED
            return self._joint_of(trees)

    def _tree_of(self, tup_id: str) -> int:
        tree = self._fresh.get(tup_id) or self._held.get(tup_id)
        if tree is not None:
            return tree
        if self.automatic and self._inbox.open and tup_id == str(self._inbox.last_id):
            return self._positions.tree(self._current)
        if not (tup_id.startswith(TICK_ID) or self._unanswered.may_be_open(tup_id)):
            self._mistakes.anchor(tup_id)
        return _UNANCHORED

    def _joint_of(self, trees: tuple[int, ...]) -> int:
        if self._joint is None or self._joint[0] != trees:
            joint = self._join(trees)
            if not joint:
                return _UNANCHORED  # all of them have failed already
            self._opened.append(joint)
            self._joint = trees, joint
        return self._joint[1]

    def _join(self, trees: Sequence[int]) -> int:
        try:
            return self._trees.join(trees)
        except ForestError:
            self._trees.expire()  # only sweeps forget joints whose trees have failed
            return self._trees.join(trees)

    # -- what is given to the trees

    def take(self) -> PendingAcks:
        """Take the acks so far; to be called before emitted rows are taken from their buffer."""
        opened, self._opened, self._joint = self._opened, [], None
        acks = []
        while self.waiting:
            acks.append(self.waiting.popleft())
        return acks, opened

    def give(self, pending: PendingAcks) -> None:
        """Let acks take effect; to be called when all tuples emitted before them were counted."""
        acks, opened = pending
        at_once = array("Q", opened)
        for tree, held in acks:
            if held:
                self._answers.answer_held(tree)
            else:
                at_once.append(tree)
        if at_once:
            self._answers.ack_trees(at_once)
