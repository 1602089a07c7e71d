"""The times at which a transactional sink applies staged rows: by rows and seconds, or with checkpoints."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from framework.operators.sinks import TransactionalSink
from framework.runtime.coordination.cut_record import CutRecord
from framework.runtime.durability.recovery import Commits
from framework.runtime.tasks.agenda import NEVER_S, AgendaClient, Entry, Frontier
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.slot import ComponentSlot
from viper.position import Position


class SinkCommits(AgendaClient):
    """Calls a transactional sink at the start, every so many rows or seconds, and after all input.

    An error of the sink there ends the run, whatever ``viper.on.error`` says: its rows are staged, and no
    other rows can be applied before them.

    Args:
        context: the task's.
        slot: holds the sink.
        restart: makes the component again, if it has raised.
        rows: the number of staged rows at which they are applied.
        seconds: the time after which fewer rows are applied.
    """

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        restart: Callable[[], None],
        *,
        rows: int,
        seconds: float,
    ) -> None:
        self._is_successor = False
        """True if the task continues in the place of one whose process has died."""
        self.waits_for_commit = False
        """True if nothing is applied before the task has committed all that is staged."""
        self._due: Callable[[TransactionalSink], None] | None = None
        """The action of the sink at the next commit of its task."""
        self._start_id: int | None = None
        """The checkpoint that the run resumes from; None if it resumes none."""
        self._context = context
        self._slot = slot
        self._restart = restart
        self._rows = rows
        self._seconds = seconds
        self._sink: TransactionalSink | None = None
        """The sink that was informed where the run begins; a component made since is another one."""
        self._due_at_s = NEVER_S
        self._has_finished = False

    def take_over(self) -> None:
        """Continue, once `begin` is called, in the place of a task whose process has died."""
        self._is_successor = True

    def begin(self) -> None:
        """Inform the sink, which has been initialized, where the run begins."""
        first, self._sink = self._sink is None, self._found()
        sink = self._sink
        if first and not self._is_successor:
            self._call("resume", lambda: sink.resume(self._start_id))
        else:
            self._call("recover", sink.recover)
        self._note(time.monotonic())

    def consuming(self) -> None:
        """Prepare for rows: a sink that was made again hears first that the run continues."""
        if self._slot.host.component is not self._sink:
            self.begin()

    def consumed(self) -> None:
        """Apply all rows if they are enough, as the sink has taken some."""
        sink, now_s = self._sink, time.monotonic()
        assert sink is not None
        if self._slot.is_gone:
            return
        if sink.staged_rows >= self._rows or now_s >= self._due_at_s:
            self._apply(None)
        elif self._due_at_s == NEVER_S:
            self._note(now_s)

    def committed(self) -> None:
        """Apply the staged rows if that is due, as the task has committed them."""
        due, self._due = self._due, None
        if due is not None:
            self._apply_by(due)

    def go_back_with(self, commits: Commits) -> None:
        """Commit what is staged with what the task has done.

        The first commit comes before the first row: a successor that finds none knows that nothing is staged.
        """
        self.waits_for_commit = True
        commits.keep("staged", Staged(self))
        if not commits.has_begun:
            commits.commit()

    @property
    def staged(self) -> tuple[int, int, int]:
        """The last number, and the bytes and rows that are staged after it, as `unstage` takes them."""
        return self._found().staged

    def unstage(self, number: int, length: int, rows: int) -> None:
        """Forget the rows that were staged after the last commit, as they come again."""
        self._call("recover", lambda: self._found().unstage(number, length, rows))
        self._note(time.monotonic())

    # -- as a client of the agenda

    @property
    def due_at_s(self) -> float:
        """The time at which staged rows have waited long enough."""
        return self._due_at_s

    def take_timed(self, now_s: float) -> Iterator[Entry]:
        """Applies what has waited long enough."""
        if now_s >= self._due_at_s and not self._slot.is_gone:
            yield Entry(None, self._apply)

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """Applies everything when all input has come."""
        if frontier.is_over and not self._has_finished:
            self._has_finished = True
            yield Entry(None, self._finish)

    # -- within

    def _found(self) -> TransactionalSink:
        sink = self._slot.host.component
        assert isinstance(sink, TransactionalSink)
        return sink

    def _apply(self, _at: Position | None) -> None:
        self._apply_in_time(lambda sink: sink.apply_staged())

    def _finish(self, _at: Position | None) -> None:
        self._apply_in_time(lambda sink: sink.apply_and_finish())

    def _apply_in_time(self, how: Callable[[TransactionalSink], None]) -> None:
        """Apply at once, or behind the commit that comes next."""
        self._due_at_s = NEVER_S
        if self.waits_for_commit:
            self._due = how
        else:
            self._apply_by(how)

    def _apply_by(self, how: Callable[[TransactionalSink], None]) -> None:
        if self._slot.is_gone:  # what it has staged must not be lost
            self._restart()
        self.consuming()
        self._call("apply", lambda: how(self._found()))
        self._due_at_s = NEVER_S

    def _note(self, now_s: float) -> None:
        """Note that staged rows begin to wait."""
        waits = self._sink is not None and self._sink.staged_rows > 0
        self._due_at_s = now_s + self._seconds if waits else NEVER_S

    def _call(self, during: str, callback: Callable[[], object]) -> None:
        try:
            callback()
        except user_errors() as error:
            self._context.fail(during, error)


class Staged:
    """The staged rows of a transactional sink, as a part of the commits of its task."""

    def __init__(self, sink: SinkCommits) -> None:
        self._sink = sink

    def save(self) -> tuple[int, int, int]:
        """Return the last number, and the bytes and rows that are staged after it."""
        return self._sink.staged

    def restore(self, noted: tuple[int, int, int]) -> None:
        """Forget later rows, as they come again."""
        self._sink.unstage(*noted)


class CheckpointCommits(SinkCommits):
    """Has a transactional sink apply with each checkpoint what belongs to it, and the rest behind all input.

    Args:
        context: the task's.
        slot: holds the sink.
        restart: makes the component again, if it has raised.
        start_id: the checkpoint that the run resumes from; None if it resumes none.
        record: says which checkpoint exists.
        may_end: whether the end of the input is not only that of a run that another one resumes.
    """

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        restart: Callable[[], None],
        start_id: int | None,
        record: CutRecord,
        may_end: Callable[[], bool],
    ) -> None:
        super().__init__(context, slot, restart, rows=sys.maxsize, seconds=NEVER_S)
        self._start_id = start_id
        self._record = record
        self._completed = 0
        """The last checkpoint of this run that the sink has applied."""
        self._may_end = may_end

    @property
    def due_at_s(self) -> float:
        """At once where a checkpoint exists that has not been applied."""
        return 0.0 if self._record.completed > self._completed and not self._slot.is_gone else NEVER_S

    def take_timed(self, now_s: float) -> Iterator[Entry]:
        """Applies what belongs to the last checkpoint that exists."""
        number = self._record.completed
        if number > self._completed and not self._slot.is_gone:
            yield Entry(None, lambda _at: self.complete(number))

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """Applies everything when all input has come, and no other run resumes."""
        if frontier.is_over and not self._has_finished and self._may_end():
            yield from super().take_until(frontier)

    def cut(self, number: int) -> None:
        """Assign all rows that the sink has taken to the checkpoint of this id.

        Raises:
            ComponentError: the sink has no room for it.
        """
        if self._slot.is_gone:  # what it has staged must not be lost
            self._restart()
        self.consuming()
        self._call("cut", lambda: self._found().cut(number))

    @property
    def described(self) -> dict[str, object]:
        """The target and the layout of the sink, as a checkpoint keeps them."""
        sink = self._found()
        return {"target": sink.target, "layout": dict(sink.layout)}

    def complete(self, number: int) -> None:
        """Note that the checkpoint exists.

        Raises:
            ComponentError: the sink cannot apply what belongs to it; it stays staged.
        """
        self._completed = number
        self.consuming()
        self._call("complete", lambda: self._found().complete(number))
