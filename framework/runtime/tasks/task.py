"""The common part of all tasks: their parts, lifecycle, progress, and answers to an executor."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from framework.model.errors import ComponentError, EmitError
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.recovery import Commits
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter, Signallable
from framework.runtime.tasks.slot import ComponentSlot
from viper.errors import DivergedError
from viper.position import LEAST, Position


class TaskState(enum.Enum):
    """The stage of a task's life."""

    MADE = enum.auto()
    """Its component has been constructed."""
    RUNNING = enum.auto()
    """Its component has been initialized."""
    ENDING = enum.auto()
    """No more input will come; what is left is being handed over."""
    FINISHED = enum.auto()
    """Everything has been handed over, and the consumers know."""


class Scheduler(Protocol):
    """The requests of a task to its executor in the middle of a callback."""

    def make_room(self, waiting: Task) -> None:
        """Run what can run until the output of the waiting task has gone.

        Raises:
            TaskStopped: the run is to stop, or has failed, and the callback must not continue.
        """

    def wake(self) -> None:
        """Look for runnable tasks soon; from any thread."""

    def end_with(self, error: Exception) -> NoReturn:
        """Unwind the callback on the stack, which is not to see the error, and end the run with it."""


class Task(ABC):
    """One task while it runs; its executor calls `run` again and again."""

    is_source = False
    """True if the task brings tuples, and receives none."""

    def __init__(self, context: TaskContext, slot: ComponentSlot, emitter: Emitter) -> None:
        """
        Args:
            context: what is fixed about the task.
            slot: holds its component.
            emitter: sends off what that emits.
        """
        self.context = context
        self.slot = slot
        self.emitter = emitter
        emitter.output.refuse_by(self._refused)
        self.state = TaskState.MADE
        self._scheduler: Scheduler
        self.is_signalled = True
        """True if there may be something to do: input, a watermark, room."""
        self._is_draining = False
        self._last_us = LEAST.ts
        """The last event time here, in microseconds, which a position behind all input no longer says."""

    # -- what an executor sees

    @property
    def name(self) -> str:
        """``component:task id``, for messages."""
        return self.context.name

    @property
    def commits(self) -> Commits | None:
        """The commits by which its work lasts; None where a killed worker process loses that."""
        return self.emitter.commits

    @property
    def is_finished(self) -> bool:
        """True if nothing is left to do."""
        return self.state is TaskState.FINISHED

    @property
    def is_ending(self) -> bool:
        """True if no more input will come."""
        return self.state in (TaskState.ENDING, TaskState.FINISHED)

    @property
    def is_blocked(self) -> bool:
        """True if output of the task waits for room."""
        return self.emitter.blocked

    @property
    @abstractmethod
    def waiting_for(self) -> str | None:
        """``component:task id`` of the task that holds this one's input back, if one does."""

    @property
    def awaits_answers(self) -> bool:
        """True if all input is processed, and the component may still emit, as it has not answered all
        tuples."""
        return False

    @property
    def in_flight(self) -> int:
        """The number of tuples that the component processes ahead of their turn, beside the task."""
        return 0

    @property
    def largest_slice(self) -> int | None:
        """The most tuples that the task processes in one slice; None for as many as any other."""
        return None

    def is_runnable(self, now_s: float) -> bool:
        """True if a turn would be of use, and no earlier output of the task waits for room.

        Args:
            now_s: monotonic time in seconds.
        """
        if self.state is TaskState.FINISHED or self.emitter.blocked:
            return False
        if self.slot.restart_at_s is not None:
            return now_s >= self.slot.restart_at_s or self._ends_without_component(now_s)
        return self._wants_turn(now_s)

    @property
    def wake_at_s(self) -> float:
        """Monotonic time in seconds at which a turn would be of use although nothing has come."""
        return float("inf") if self.slot.restart_at_s is None else self.slot.restart_at_s

    @abstractmethod
    def _ends_without_component(self, now_s: float) -> bool:
        """True if no more work comes for a component that waits to be made again."""

    @abstractmethod
    def _wants_turn(self, now_s: float) -> bool:
        """True if there may be something to do."""

    # -- lifecycle

    def connect(self, neighbours: Sequence[Signallable]) -> None:
        """Say which tasks of the same executor may have something to do once this one has run."""
        self.emitter.connect(neighbours)

    def resume(self, floor: Position, *, has_run: bool = True) -> None:
        """Resume at the last commit of the task whose process died; called before the start.

        Args:
            floor: nothing may be emitted below this, but for what is repeated since the last commit.
            has_run: whether that task may have processed anything.
        """
        if self.commits is None:
            self.emitter.resume(floor)
        else:
            self.emitter.repeat(floor)

    def save(self) -> dict[str, Any]:
        """The state that another run needs to resume after the input of this task, as JSON can hold it.

        To be called when the task has finished.
        """
        return {"routing": self.emitter.output.save_routing()}

    def cut(self, number: int) -> None:  # noqa: B027
        """Assign all that has been processed to the checkpoint of this id.

        Raises:
            ComponentError: what a sink has taken cannot be made to last.
        """

    def complete(self, number: int) -> None:  # noqa: B027
        """Note that the checkpoint of this id exists.

        Raises:
            ComponentError: what a sink has taken cannot be applied.
        """

    def last(self) -> None:  # noqa: B027
        """Note that the run has come to its end, and that all its results last.

        Raises:
            ComponentError: the component raised when it was informed of something.
        """

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from the data that the task of another run has saved; called before the start."""
        self.context.checkpoints.restore(saved)
        self.emitter.output.restore_routing(saved["routing"])

    def start(self, scheduler: Scheduler) -> None:
        """Initialize the component; what it emits there comes before everything else.

        Raises:
            ComponentError: it raised.
        """
        self._scheduler = scheduler
        if self.commits is not None and self.commits.has_begun:
            with self.emitter.discarding():  # as a process before this one has emitted it
                self._begin()
            self.slot.take_back()
        else:
            self._begin()
        self.state = TaskState.RUNNING

    def come_to(self, scheduler: Scheduler) -> None:
        """Be run by another executor from now on, in its thread, which calls this.

        The task is in no turn, and all that was done for it in other threads happened before.
        """
        if self._scheduler is not scheduler:
            self._scheduler = scheduler
            self._come_here()

    def _come_here(self) -> None:
        """Take the calling thread for the task's own from now on."""
        self.slot.come_here()

    @abstractmethod
    def _begin(self) -> None:
        """Initialize the component, and place what it emits there."""

    @abstractmethod
    def run(self, limit: int) -> int:
        """Do some work, for about so many tuples at most; returns how many there were.

        Raises:
            ComponentError: the component raised, and the run ends with it.
        """

    def drain(self, reason: StopReason, now_s: float) -> None:
        """Continue only with what an end needs, as the run is to drain; called once.

        Args:
            reason: why.
            now_s: monotonic time in seconds.
        """
        self._is_draining = True

    def unblock(self) -> bool:
        """Hand over what waits for room; whether nothing is left that waits.

        Raises:
            ComponentError: a value cannot be carried to another process, or is too large for that.
        """
        done = self.emitter.flush()
        if not done and self.state is TaskState.ENDING and self._brings_nothing_more:
            self.emitter.close_idle(self._last_us)
        return done

    def commit(self, *, is_last: bool = False) -> bool:
        """Make what the task has done last, if all that came of it is in channels; whether it is.

        Args:
            is_last: whether nothing comes behind the commit.
        """
        commits = self.emitter.commits
        if commits is None or not (self.emitter.is_clear or self.emitter.flush()):
            return False
        if self.slot.state is not None:
            self.slot.flush(is_last=is_last)
            if self.slot.waiting_rows:  # as a component may emit when it is told of the commit
                self.emitter.place()
                if not self.emitter.flush():
                    return False
        commits.commit()
        if self.context.checkpoints.pending is not None:
            self.context.checkpoints.committed()
        return True

    def _check_repeated(self) -> None:
        """Check, at the end of all input, that all emits of a killed process have come again."""
        if self.commits is not None and self.emitter.flush() and self.commits.left:
            more = f"{self.commits.left:,} tuples more for its input"
            self.context.fail("emit", DivergedError(f"the process that was killed had emitted {more}"))

    @property
    def _brings_nothing_more(self) -> bool:
        """True if consumers that nothing waits for can be informed at the end that nothing will come."""
        return True

    def _finish(self) -> bool:
        """Close the output once everything has been handed over; whether that is done."""
        self.commit()
        if not self.is_source:
            self._check_repeated()
        if self.emitter.close(self._last_us):
            self.state = TaskState.FINISHED
        return not self.is_blocked

    def signal(self) -> None:
        """Look for something to do at the next chance."""
        self.is_signalled = True

    def close(self) -> None:
        """Inform the component that it is over; it cannot emit any more.

        Raises:
            ComponentError: it raised.
        """
        try:
            self.slot.close()
        finally:
            self.emitter.close_recorder()

    # -- in the middle of a callback

    def spill(self) -> None:
        """Empty the full buffer before the callback continues."""
        self.slot.presence.back(self._spill)

    def deliver_and_tell(self, append: Callable[[], None]) -> list[int]:
        """Append a row to the buffer, and place and route it; returns the ids of the tasks that receive it.

        Nobody else may act for the task meanwhile, or the row is gone before its receivers are known.

        Raises:
            EmitError: it cannot be placed or routed; or the task is doing that just now with other rows.
        """
        return self.slot.presence.back(lambda: self._deliver_and_tell(append))

    def _spill(self) -> None:
        if self.emitter.is_busy or self._flows() or self.state is TaskState.MADE:
            return
        self.emitter.publish(self.emitter.last_placed)
        self._scheduler.make_room(self)

    def _deliver_and_tell(self, append: Callable[[], None]) -> list[int]:
        if self.emitter.is_busy:
            raise EmitError(
                f"{self.name} emits with need_task_ids=True while other tuples of its are being placed, as a "
                "finalizer may that the garbage collector runs: leave need_task_ids out there"
            )
        self._place()  # the rows before it, whose receivers may be others
        append()
        receivers = self.emitter.place_and_tell()
        if self.emitter.has_delivered_many():
            self._spill()
        return receivers

    def _flows(self) -> bool:
        """Place what was emitted; whether there is room for it.

        The callback is not to see what goes wrong there, nor to keep it from ending the run.
        """
        self._place()
        try:
            return self.state is not TaskState.MADE and self.emitter.flush()
        except ComponentError as error:
            self._scheduler.end_with(error)

    def _place(self) -> None:
        """Place what was emitted before, in the middle of a callback, which is not to see what goes wrong."""
        try:
            self.emitter.place()
        except ComponentError as error:
            if self.state is TaskState.MADE:
                raise
            self._scheduler.end_with(error)

    def _refused(self, error: EmitError, is_tracked: bool) -> None:
        """Deal with a tuple for which no task can be chosen, as if the component had raised for it.

        Raises:
            ComponentError: the run ends with it.
        """
        self.slot.refused(error)
        self.context.counters.lost += not is_tracked
        if not self.is_source:
            self.context.counters.failed += 1

    def let_go(self) -> None:
        """Let go of all but what the task has counted, once the run has ended: its parts refer to it.

        To be called where the task's own thread is in no callback of it.
        """
        self.slot.let_go()
        self.context.checkpoints.let_go()
        for name in vars(self).keys() - {"context"}:
            delattr(self, name)

    # -- from another thread

    def stirred(self) -> None:
        """A row was emitted or an answer given where the executor may not see it: in a callback that blocks,
        or by another thread than the executor's."""
        if not self.slot.presence.call_if_away():
            self._scheduler.wake()

    @property
    def last_begun(self) -> int:
        """A number that changes with each tuple; another thread sees by it that the task makes progress."""
        return 0

    @property
    def waits_for_world(self) -> bool:
        """True if there may be nothing to bring for hours, so that a long callback means nothing."""
        return False

    def leave(self, stopped_at_s: float) -> None:  # noqa: B027
        """Continue to the end without the task's own thread, if that waits for input the run can do without.

        To be called by another thread, again and again, once the run is to stop.

        Args:
            stopped_at_s: monotonic time in seconds at which the stop was asked for.

        Raises:
            ComponentError: what was emitted cannot be.
        """

    @abstractmethod
    def stand_in(self) -> None:
        """Do what the task's own thread would, if that is away in a callback.

        Raises:
            ComponentError: what was emitted cannot be.
        """


class Progress(enum.IntEnum):
    """The progress of the input of a bolt's task."""

    OPEN = enum.auto()
    """There is more to come."""
    QUIET = enum.auto()
    """Every source has brought all it has; only tuples that fail may come again, or through a cycle."""
    DRAINED = enum.auto()
    """All has been processed, but for what may come back through a cycle."""
    OVER = enum.auto()
    """Nothing will come."""
