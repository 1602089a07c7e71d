"""The part of a task in checkpoints: it resumes from one, and saves and reports its state for the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import inf
from pathlib import Path
from typing import Any, Final, Protocol

from framework.runtime.coordination.cut_record import ENDED, CutRecord, Proposal
from framework.runtime.durability.checkpoints.folder import hidden_folder
from framework.runtime.durability.checkpoints.states import Saved, SavedTask

BUDGET_S: Final = 0.002
"""Seconds for which a task writes what it remembers, between two of its turns. For as long at least it leaves
the executor to other tasks then: a task that wrote whenever it could came before all that are nearer to the
spouts, and nothing moved until all was written."""


class BeingWritten(Protocol):
    """Something as it was at a cut, which is written piece by piece."""

    @property
    def saved(self) -> Saved:
        """The entry of the manifest for it, once all is written."""

    def write(self, budget_s: float) -> bool:
        """Write for about so many seconds; whether all is written. OSError: it cannot be."""

    def discard(self) -> None:
        """Discard the state, as the checkpoint was given up."""


class Remembers(Protocol):
    """Has something to be written for a checkpoint."""

    def snapshot(self, number: int, folder: Path, *, full: bool) -> BeingWritten:
        """As it is now.

        Args:
            number: the id of the checkpoint.
            folder: where parts are written.
            full: whether no part of a checkpoint before counts.
        """


class Together:
    """All that a task has to write for a checkpoint, one behind the other.

    Args:
        parts: at least one.
    """

    def __init__(self, parts: Sequence[BeingWritten]) -> None:
        self._parts = parts

    @property
    def saved(self) -> Saved:
        """The entries of the manifest for all of them."""
        return reduce(Saved.also, (part.saved for part in self._parts))

    def write(self, budget_s: float) -> bool:
        """Write for about so many seconds; whether all is written. OSError: it cannot be."""
        until_s = time.monotonic() + budget_s
        return all(part.write(until_s - time.monotonic()) for part in self._parts)

    def discard(self) -> None:
        """Discard the state, as the checkpoint was given up."""
        for part in self._parts:
            part.discard()


@dataclass(slots=True)
class PendingCut:
    """The state that was saved at the cut of a checkpoint that does not exist as yet."""

    proposal: Proposal
    saved: Mapping[str, Any]
    snapshot: Together | None
    """None for a task without declared state, and for one that has written everything."""
    held_s: float
    """Seconds for which the task stood still."""
    states: Saved = field(default_factory=Saved)
    is_committed: bool = False

    def committed(self) -> None:
        """Note that the work up to there is committed."""
        self.is_committed = True

    def written(self, states: Saved) -> None:
        """Note that the state of the task there is written."""
        self.states, self.snapshot = states, None

    def reported(self, error: str = "") -> SavedTask:
        """The report of it to the leader of the run."""
        return SavedTask(self.proposal.attempt, self.saved, self.states, self.held_s, error)


class TaskCheckpoints:
    """Keeps the data that a task resumes from, and has the task saved piece by piece for a checkpoint."""

    def __init__(self) -> None:
        self.restored: Mapping[str, Any] | None = None
        """The state that the task of another run had saved, if this one resumes from there."""
        self._on_report: Callable[[SavedTask], None] = lambda found: None
        self._on_want: Callable[[], None] = lambda: None
        self._folder = Path()
        self._record: CutRecord | None = None
        self.pending: PendingCut | None = None
        """The part that is still to be written, committed and reported."""
        self._write_at_s = 0.0
        """The time from which more of it may be written."""
        self._before: tuple[int, Together] | None = None
        """The snapshot that was written last, and the id of its checkpoint."""
        self._is_full = True
        """True if no snapshot of this process is in a checkpoint that exists."""

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from the data that the task of another run has saved."""
        self.restored = saved

    def listen(
        self,
        on_report: Callable[[SavedTask], None],
        folder: Path,
        record: CutRecord,
        on_want: Callable[[], None],
    ) -> None:
        """Set who hears of the data that the task has saved; called before the start, in a run with
        checkpoints.

        Args:
            on_report: called for each checkpoint, and at the end.
            folder: that of the checkpoints.
            record: says whether a checkpoint is still wanted, and which exists.
            on_want: called when the task asks for a checkpoint.
        """
        self._on_report, self._folder, self._record = on_report, folder, record
        self._on_want = on_want

    def let_go(self) -> None:
        """Report nothing any more, as the run has ended."""
        self._on_report, self._on_want = (lambda found: None), (lambda: None)
        self._record = self.pending = self._before = None

    def want(self) -> None:
        """Ask for a checkpoint before its time, as something waits for one."""
        self._on_want()

    # -- a checkpoint of a run that goes on

    def cut(
        self,
        proposal: Proposal,
        saved: Mapping[str, Any],
        remembers: Sequence[Remembers],
        began_s: float,
    ) -> None:
        """Save the task at the cut.

        Args:
            proposal: where that is.
            saved: what the task has saved.
            remembers: what else it has, which is written piece by piece: its declared state, and the
                shared tables that it keeps.
            began_s: monotonic time in seconds since which the task stands still for that.
        """
        self._settle()
        folder = hidden_folder(self._folder, proposal.number)
        taken = [each.snapshot(proposal.number, folder, full=self._is_full) for each in remembers]
        snapshot = Together(taken) if taken else None
        self.pending = PendingCut(proposal, saved, snapshot, time.monotonic() - began_s)

    @property
    def write_at_s(self) -> float:
        """Monotonic time in seconds at which more is to be written; infinite for nothing."""
        return self._write_at_s if self.pending is not None and self.pending.snapshot is not None else inf

    def committed(self) -> None:
        """Note that the work of the task is committed, up to the cut or beyond."""
        if self.pending is not None:
            self.pending.committed()
            self._report()

    def go_on(self, *, is_committed: bool) -> None:
        """Write more of the saved state after a turn, if it is time; a commit may have come since."""
        if is_committed:
            self.committed()
        if time.monotonic() >= self.write_at_s:
            self._write(BUDGET_S)
            self._write_at_s = time.monotonic() + BUDGET_S

    def write_all(self) -> None:
        """Write all that is left of the saved state, as others wait for it."""
        self._write(inf)

    def _write(self, budget_s: float) -> None:
        """Write what is left for so many seconds, and report when all is written."""
        cut = self.pending
        if cut is None or cut.snapshot is None:
            return
        snapshot = cut.snapshot
        try:
            if self._is_wanted(cut.proposal) and not snapshot.write(budget_s):
                return
        except OSError as error:
            if self._is_wanted(cut.proposal):
                self._on_report(cut.reported(error.strerror or str(error)))
                self.pending = None
                snapshot.discard()
                return
        if not self._is_wanted(cut.proposal):  # and its folder may be gone
            self.pending = None
            snapshot.discard()
            return
        cut.written(snapshot.saved)
        self._before = cut.proposal.number, snapshot
        self._report()

    def finish(self, saved: Mapping[str, Any]) -> None:
        """Report the end of the task, all of whose work is committed."""
        self.committed()
        self._write(inf)
        self._on_report(SavedTask(ENDED, saved))

    def _is_wanted(self, proposal: Proposal) -> bool:
        return self._record is not None and self._record.is_decided_on(proposal.attempt)

    def _report(self) -> None:
        cut = self.pending
        if cut is not None and cut.snapshot is None and cut.is_committed:
            self.pending = None
            self._on_report(cut.reported())

    def begin_anew(self) -> None:
        """Have the next snapshot build on none before, as the task has other keys from now on."""
        self._settle()
        self._is_full = True

    def _settle(self) -> None:
        """Settle the checkpoint before, whose outcome is known as another one is made."""
        if self.pending is not None and self.pending.snapshot is not None:
            self.pending.snapshot.discard()
        self.pending = None
        if self._before is not None and self._record is not None:
            number, snapshot = self._before
            if self._record.completed == number:
                self._is_full = False
            else:
                snapshot.discard()
        self._before = None
