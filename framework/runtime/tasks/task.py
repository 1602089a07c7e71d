"""What the tasks of spouts and of bolts have in common."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeVar

from framework.errors import ComponentError, EmitError
from framework.planning import Task
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.edges.destination import Row
from framework.runtime.edges.limits import SPILL_AT
from framework.runtime.edges.output import Output
from framework.runtime.hosts.faults import OnError, Recovery
from framework.runtime.hosts.host import Host, Identity
from framework.runtime.hosts.user_errors import user_errors
from framework.runtime.tracking.reasons import Cause, Reason
from viper.errors import CodecError
from viper.position import LEAST, Position, Positions

if TYPE_CHECKING:
    from framework.recording import Recorder

T = TypeVar("T")


class TaskStopped(BaseException):
    """Unwinds a callback that emits for ever, or is not to go on because another task has failed.

    User code that catches Exception does not see it.
    """


class RunningTask(ABC):
    """One task while it runs; its worker calls `run` again and again."""

    def __init__(
        self,
        task: Task,
        host: Host,
        collector: TaskCollector,
        output: Output,
        identity: Identity,
        recovery: Recovery,
    ) -> None:
        self.task = task
        self.host = host
        self.collector = collector
        self.output = output
        self.identity = identity
        self.recovery = recovery
        self.restart_at_s: float | None = None
        """Monotonic time in seconds at which the component is made anew; None where that is not due."""
        self.signalled = True
        """Whether there may be something to do: input, a watermark, room."""
        self.ending = False
        """Whether its end has begun: no more input will come."""
        self.finished = False
        """Whether its end is over: everything has been handed over, and the consumers know."""
        self.started = False
        """Whether it has been initialized."""
        self.running = False
        """Whether one of its callbacks is on the stack."""
        self.left_behind = False
        """Whether nobody waits any more for the callback that it is in."""
        self.blocked = False
        """Whether something that it emitted waits for room."""
        self._handing_over = False
        """Whether what it emitted is just being placed or handed over: a finalizer that the garbage
        collector runs then may emit, but what it emits waits for the next time."""
        self.let_others_run: Callable[[RunningTask], None]
        """Set by the worker: runs what can run until this task's output has gone."""
        self.end_with: Callable[[Exception], NoReturn]
        """Set by the worker: unwinds the callback on the stack, and ends the run with an error."""
        self.neighbours: tuple[RunningTask, ...] = ()
        """The tasks of the same executor that may have something to do once this one has run."""
        self.recorder: Recorder | None = None
        """Writes down what is emitted, if it shall be."""
        self.last_us = LEAST.ts
        """How far event time came here, which a watermark at the end no longer says."""
        self._out = Positions()
        self._told = 0
        """Rows that were delivered in the middle of callbacks for emits that want to know their receivers."""
        self._published = LEAST
        self._last_placed = LEAST
        """Where what was emitted last stands."""
        collector.on_full = self._spill

    @abstractmethod
    def run(self, limit: int) -> int:
        """Do some work, for about so many tuples at most; returns how many there were."""

    @property
    @abstractmethod
    def has_ended(self) -> bool:
        """Whether there will be no more input."""

    def stops(self, now_s: float) -> bool:
        """Whether it ends at once, now that the run is to drain, whatever there may be to do."""
        return False

    @property
    @abstractmethod
    def waiting_for(self) -> str | None:
        """``component:task id`` of the task that holds this one's input back, if one does."""

    @abstractmethod
    def end(self) -> None:
        """There is no more input: emit what is left."""

    @abstractmethod
    def _wants_turn(self, now_s: float) -> bool:
        """Whether there may be something to do."""

    @abstractmethod
    def _take_placed(self) -> tuple[list[Row], bytes | None, bool]:
        """What the outbox holds, with its positions in `_out`; as `TaskCollector.take`."""

    @property
    def name(self) -> str:
        """``component:task id``, for messages."""
        return f"{self.task.component}:{self.task.id}"

    @property
    def published(self) -> Position:
        """What its consumers know: nothing smaller will come."""
        return self._published

    def start(self) -> None:
        """Initialize the component; what it emits there comes before everything else.

        Raises:
            ComponentError: it raised.
        """
        self.collector.deliver_and_tell = self._place_and_tell
        self._begin()
        self.started = True

    def _begin(self) -> None:
        """Bind and initialize the host."""
        self.host.bind(self.collector, self.identity)
        try:
            self.host.initialize(self.identity)
        except user_errors() as error:
            self._failed("initialize", error)
        self.host.initialized(self.collector)
        self._place_outputs()

    def resume(self, floor: Position) -> None:
        """Before the start: go on where the task had come to whose process died.

        Args:
            floor: nothing may be emitted below this.
        """
        self._published = self._last_placed = floor

    def close(self) -> None:
        """Tell the component that it is over; it cannot emit any more.

        Raises:
            ComponentError: it raised.
        """
        self.collector.close()
        self.host.unbind(self.collector)
        try:
            self.host.close()
        except user_errors() as error:
            self._failed("close", error)
        finally:
            if self.recorder is not None:
                self.recorder.close()

    def tell_end(self) -> bool:
        """Close the output once everything has been handed over; whether that is done."""
        if not self.unblock():
            self.output.close_idle(self.last_us)
            return False
        self.output.tell_last_ts(self.last_us)
        self.output.close()
        self.signal_neighbours()
        return True

    def is_runnable(self, now_s: float, stopping: bool) -> bool:
        """Whether a turn would be of use, and nothing that it emitted before waits for room.

        Args:
            now_s: monotonic time in seconds.
            stopping: whether the run is to drain.
        """
        if self.finished or self.blocked or self.running:
            return False
        if self.restart_at_s is not None:
            return stopping or now_s >= self.restart_at_s  # a drain waits for no pause
        if stopping and not self.ending and self.stops(now_s):
            return True
        return self._wants_turn(now_s) or self.has_ended

    @property
    def looks_at_s(self) -> float:
        """Monotonic time in seconds at which a turn would be of use although nothing has come."""
        return float("inf") if self.restart_at_s is None else self.restart_at_s

    def unblock(self) -> bool:
        """Hand over what waits for room; whether nothing is left that waits.

        Raises:
            ComponentError: a value cannot be carried to another process, or is too large for that.
        """
        if self._handing_over:
            return False
        was_blocked, handed_over = self.blocked, self.output.handed_over
        self._handing_over = True
        try:
            self.blocked = not self.output.flush()
        except (EmitError, CodecError) as error:
            self._failed("emit", error)
        finally:
            self._handing_over = False
        if self.output.handed_over > handed_over:
            if was_blocked:
                self.output.heartbeat(self._published)
            self.signal_neighbours()
        return not self.blocked

    def signal_neighbours(self) -> None:
        """Have the neighbours look for something to do; only where there is news, or a cycle never rests."""
        for neighbour in self.neighbours:
            neighbour.signalled = True

    def publish(self, position: Position) -> None:
        """Tell the consumers that nothing smaller will come, unless they know."""
        if position > self._published:
            self._published = position
            self.output.heartbeat(position)
            self.signal_neighbours()

    def _place_outputs(self) -> None:
        """Give the outbox's rows their positions and route them."""
        try:
            self._place(self.output.deliver)
        except EmitError as error:
            self._failed("emit", error)

    def _place_and_tell(self) -> list[int]:
        """As `_place_outputs`; returns the ids of the tasks that received any."""
        told = self._place(self.output.deliver_and_tell) or []
        self._told += len(self._out)
        if self._told >= SPILL_AT:
            self._told = 0
            self._spill()
        return told

    def _place(self, deliver: Callable[[list[Row], bytes | None, Positions, bool], T]) -> T | None:
        self._handing_over = True
        try:
            rows, tags, mutable = self._take_placed()
            if not rows:
                self._placed()
                return None
            self._last_placed = self._out.last()
            self._record(rows, tags, self._out)
            try:
                return deliver(rows, tags, self._out, mutable)
            except EmitError:  # some of them will not come to everybody
                self.output.fail_tracked(self._out, Reason(Cause.RAISED, self.task.id).encode())
                raise
            finally:
                self._placed()
        finally:
            self._handing_over = False

    def _placed(self) -> None:  # noqa: B027
        """Called when what was emitted has been counted by the trees that it belongs to."""

    def _record(self, rows: list[Row], tags: bytes | None, positions: Positions) -> None:
        if self.recorder is not None:
            self.recorder.record(rows, tags, positions)

    def _spill(self) -> None:
        """The outbox is full in the middle of a callback: let it flow before going on."""
        if self._handing_over:
            return
        if self._flows() or not self.started:
            return
        self._publish_last()
        self.let_others_run(self)

    def _flows(self) -> bool:
        """In the middle of a callback: place what was emitted, and whether there is room for it.

        The callback is not to see what goes wrong there, nor to keep it from ending the run.
        """
        try:
            self._place_outputs()
            return self.started and self.unblock()
        except ComponentError as error:
            if not self.started:
                raise
            self.end_with(error)

    def _publish_last(self) -> None:
        """Tell the consumers that nothing will come below what was emitted last."""
        self.publish(self._last_placed)

    # -- what user code raises

    def _raised(self, during: str, error: BaseException, tup: object = None) -> None:
        """Deal with what user code has raised: the component goes on, or is to be made anew.

        Raises:
            ComponentError: the run ends with it.
        """
        if self.left_behind:  # for that very reason, perhaps: its program was killed
            raise TaskStopped from error
        choice = self._choice(error)
        if choice is OnError.STOP:
            self._failed(during, error, tup)
        self.collector.report_error(error, tup, during)
        if choice is OnError.RESTART:
            self._plan_restart(during, error, tup)

    def _choice(self, error: BaseException) -> OnError:
        if isinstance(error, ComponentError):
            return OnError.STOP  # it says more precisely what failed
        choice = self.recovery.choice(self.host)
        return OnError.STOP if choice is OnError.SKIP and isinstance(error, SystemExit) else choice

    def _plan_restart(self, during: str, error: BaseException, tup: object) -> None:
        budget, now = self.recovery.budget, time.monotonic()
        pause_s = budget.take(now)
        if pause_s is None:
            tried = f"restarted {budget.tries} times within {budget.window_s:g} s (viper.restart.tries)"
            self._failed(during, error, tup, tried)
        self.restart_at_s = now + pause_s
        self.identity.logger.warning(
            "%s is restarted%s; its state is gone", self.name, budget.in_words("viper.restart.tries")
        )

    def _restart(self) -> None:
        """Make the component anew.

        Raises:
            ComponentError: its constructor, or `initialize`, raised.
        """
        self.restart_at_s = None
        self.collector.counters.restarts += 1
        self.host.abandon()
        self.host = self.recovery.make_host()
        self._begin()

    def _failed(self, during: str, error: BaseException, tup: object = None, tried: str = "") -> NoReturn:
        if isinstance(error, ComponentError):
            raise error
        told = [f"{type(error).__name__}: {error}"]
        told += [f"tuple: {tup!r:.1000}"] if tup is not None else []
        told += [tried] if tried else []
        raise ComponentError(self.task.component, self.task.id, during, "\n  ".join(told)) from error
