"""The way out of a task's output: placed in the order, divided among the consumers, handed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from framework.model.errors import EmitError
from framework.recording import Recorder
from framework.runtime.durability.recovery import Commits
from framework.runtime.exchange.buffer import SPILL_AT
from framework.runtime.exchange.groupings import Refused
from framework.runtime.exchange.output import OnRefused, Output, raise_refused
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.order.tracking.reasons import Cause, Reason
from framework.runtime.tasks.context import TaskContext
from viper.errors import CodecError, DivergedError
from viper.jumbo import Emission
from viper.payload import NOTHING
from viper.position import END, LEAST, Position, Positions

T = TypeVar("T")

_REFUSED = (EmitError, CodecError, DivergedError)
"""Tuples that cannot be placed, carried or repeated."""


class Assigner(Protocol):
    """Gives a task's output its positions."""

    def take(self) -> Emission | None:
        """All that the component has emitted since the last time, at its positions; None for nothing.

        Raises:
            EmitError: it has no position, because its event time goes back for instance.
        """

    def placed(self) -> None:
        """Note that the last emission is counted by the trees that it belongs to."""

    @property
    def has_more(self) -> bool:
        """True if `take` has left something that was emitted before it was called."""

    @property
    def current(self) -> Position:
        """Nothing that the component emits from now on will be placed below this."""


class NoOutput:
    """The assigner of a task whose component emits nothing, as the task itself brings tuples."""

    current = LEAST
    has_more = False

    def take(self) -> None:
        """Do nothing: nothing is ever emitted."""

    def placed(self) -> None:
        """Do nothing: nothing is ever counted."""


NO_OUTPUT = NoOutput()
_NOTHING = Emission(NOTHING, None, Positions())


class Signallable(Protocol):
    """A task that may have work to do once another one has run."""

    @property
    def is_signalled(self) -> bool:
        """True if it has been signalled already."""

    def signal(self) -> None:
        """Look for something to do."""


class _Routing:
    """Whose turn it is in the groupings of an output, for the successor of its task."""

    def __init__(self, output: Output) -> None:
        self.save = output.save_routing
        self.restore = output.restore_routing


class Emitter:
    """Sends off the output of a task, and promises its progress to the task's consumers."""

    def __init__(
        self,
        context: TaskContext,
        output: Output,
        assigner: Assigner,
        recorder: Recorder | None = None,
        commits: Commits | None = None,
    ) -> None:
        """
        Args:
            context: the task's.
            output: routes what is emitted.
            assigner: gives it positions.
            recorder: records it, if it shall be.
            commits: what the task commits by what it has done; None where it commits nothing.
        """
        if commits is not None and output.counts_routing:
            commits.keep("routing", _Routing(output))
            if output.is_scalable:
                commits.call_ahead(self._scale)
        if commits is not None and output.may_divide_anew:
            commits.call_behind(lambda: output.committed(self.published))
        self.commits = commits
        """The commits by which the task's work lasts; None where it commits nothing."""
        self.output = output
        self.blocked = False
        """True if something that was emitted waits for room."""
        self.published = LEAST
        """The position that was promised to consumers: nothing smaller will come."""
        self.is_laden = False
        """True if tuples were placed that have not been handed over, such as those of an emit that asked for
        its receivers, in the middle of a callback."""
        self._discards = False
        """True if emitted tuples are discarded."""
        self._has_consumers = bool(output.destinations)
        self._context = context
        self._assigner = assigner
        self._recorder = recorder
        self.neighbours: tuple[Any, ...] = ()
        """The tasks of the same executor that may have something to do once the task has run."""
        self._is_busy = False
        """True if something is just being placed or handed over: a finalizer that the garbage collector
        runs then may emit, but what it emits waits for the next time."""
        self._floor = LEAST
        """Nothing was to be emitted below this when the task began."""
        self._told = LEAST
        """The promise that a dead process gave to consumers; its rows come again."""
        self._last_positions: Positions | None = None
        """The positions of the last emission; None before that."""
        self._delivered_at_once = 0
        """Tuples delivered in the middle of callbacks, for emits that want to know their receivers."""

    def _scale(self) -> None:
        """Have rows divided among as many tasks as there shall be, once all comes that has not come before.

        A killed process may have emitted more rows already, and have promised its position to tasks that got
        none of them. These tasks must not get any row before it.
        """
        assert self.commits is not None
        if not self.commits.left and max(self.published, self.last_placed) >= self._told:
            self.output.scale()

    def connect(self, neighbours: Sequence[Signallable]) -> None:
        """Say who may have something to do once this task has run, in the same executor."""
        self.neighbours = tuple(neighbours)

    def resume(self, floor: Position) -> None:
        """Resume where another process had come to; nothing may be emitted before the floor."""
        self.published = self._floor = floor

    def repeat(self, told: Position) -> None:
        """Note the promise to consumers of another process, as the task resumes at its commit."""
        self._told = told

    @contextmanager
    def discarding(self) -> Iterator[None]:
        """Within the block, what is emitted goes nowhere."""
        self._discards = True
        yield
        self._discards = False

    @property
    def last_placed(self) -> Position:
        """The position of the last emit."""
        return self._floor if self._last_positions is None else self._last_positions.last()

    @property
    def is_busy(self) -> bool:
        """True if something is just being placed or handed over."""
        return self._is_busy

    # -- placing

    def place(self) -> None:
        """Give what the component has emitted its positions, and divide it among the consumers.

        Raises:
            ComponentError: a tuple has no position; or no consumer can be chosen for it, and the run ends
                with that.
        """
        try:
            self._place(self.output.deliver, self.output.on_refused)
            while self._assigner.has_more:
                self._place(self.output.deliver, self.output.on_refused)
        except _REFUSED as error:
            self._context.fail("emit", error)

    def place_and_tell(self) -> list[int]:
        """As `place`, for an emit that asks who receives its tuple; returns the ids of those tasks.

        Raises:
            EmitError: the tuple cannot be placed or routed, which is for the emit to say.
        """

        def deliver(emission: Emission) -> list[int]:
            self._delivered_at_once += len(emission.payload)
            return self.output.deliver_and_tell(emission)

        receivers = self._place(deliver, raise_refused)
        while self._assigner.has_more:
            receivers = self._place(deliver, raise_refused)
        return receivers or []

    def has_delivered_many(self) -> bool:
        """True if `place_and_tell` has delivered so much that it should be handed over."""
        is_many = self._delivered_at_once >= SPILL_AT
        if is_many:
            self._delivered_at_once = 0
        return is_many

    def send(self, emission: Emission) -> None:
        """Send off what has positions already.

        Raises:
            ComponentError: as for `place`.
        """
        self._is_busy = True
        try:
            self._send(emission, self.output.deliver, self.output.on_refused)
        except _REFUSED as error:
            self._context.fail("emit", error)
        finally:
            self._is_busy = False

    def _place(self, deliver: Callable[[Emission], T], on_refused: OnRefused) -> T | None:
        self._is_busy = True
        try:
            emission = self._assigner.take()
            try:
                return self._send(emission, deliver, on_refused) if emission is not None else None
            finally:
                self._assigner.placed()
        finally:
            self._is_busy = False

    def _send(self, emission: Emission, deliver: Callable[[Emission], T], on_refused: OnRefused) -> T:
        if self._discards:
            self.output.fail_tracked(emission.positions, Reason(Cause.WORKER_DIED).encode())
            return deliver(_NOTHING)
        self._last_positions = emission.positions
        if self.output.last_ts is not None:
            self.tell_last_ts(self.output.last_ts)
        self.is_laden = self._has_consumers
        refused = self.output.choose(emission)
        if refused:
            emission = self._without(emission, refused, on_refused)
        if self._recorder is not None:
            self._recorder.record(emission)
        return deliver(emission)

    def _without(self, emission: Emission, refused: Refused, on_refused: OnRefused) -> Emission:
        """The tuples without those for which no task can be chosen, which fail."""
        reason = Reason(Cause.RAISED, self._context.spec.id).encode()
        left = self.output.leave_out(emission, refused)
        try:
            for index, error in sorted(refused.items()):
                on_refused(error, self.output.fail_one(emission.positions, index, reason))
        except Exception:  # those beside them will not come to anybody
            self.output.fail_tracked(emission.positions, reason)
            raise
        return left

    # -- handing over

    @property
    def is_clear(self) -> bool:
        """True if `flush` would find nothing to do, as all that was placed has been handed over."""
        return not (self.is_laden or self._is_busy)

    def flush(self) -> bool:
        """Hand over what waits for room; whether nothing is left that waits.

        Raises:
            ComponentError: a value cannot be carried to another process, or is too large for that.
        """
        if self._is_busy:
            return False
        if not self._has_consumers:
            return True
        was_blocked, handed_over = self.blocked, self.output.handed_over
        self._is_busy = True
        try:
            self.blocked = self.is_laden = not self.output.flush()
        except _REFUSED as error:
            self._context.fail("emit", error)
        finally:
            self._is_busy = False
        if self.output.handed_over > handed_over:
            if was_blocked:
                self.output.heartbeat(self.published)
            self.signal_neighbours()
        if self.blocked:  # whoever gets nothing of what waits must not wait for it
            self.publish(self.last_placed)
        return not self.blocked

    def give_way(self) -> None:
        """Hand over the tuples placed so far in a turn that takes long; it continues when others had
        theirs."""
        if self.flush():
            self.publish(self.last_placed)

    @property
    def told_us(self) -> int:
        """The event time, in microseconds, that consumers know of or have rows of."""
        return max(self.last_placed.ts, self.published.ts)

    def publish(self, position: Position) -> None:
        """Promise the consumers that nothing smaller will come, unless they know."""
        if position > self.published:
            self.published = position
            if self._has_consumers:
                self.output.heartbeat(position)
                self.signal_neighbours()

    def tell_last_ts(self, last_us: int) -> None:
        """Inform the consumers of the event time, before anything that no longer says it.

        Windows that the end of the input closes lie at their ends, which may lie further on, and so do their
        outputs: event time has come there.

        Args:
            last_us: how far it came in the input, in microseconds.
        """
        placed, told = self.last_placed, self.output.last_ts
        last_us = max(last_us, LEAST.ts if told is None else told, placed.ts if placed < LAST else LEAST.ts)
        if last_us != told:
            self.output.tell_last_ts(last_us)

    def close(self, last_us: int) -> bool:
        """Inform the consumers that no more tuples will come, once everything has been handed over.

        Args:
            last_us: the event time at the end, in microseconds.

        Returns:
            True if that is done. Consumers that nothing waits for are informed in any case.
        """
        if not self.flush():
            self.close_idle(last_us)
            return False
        self.tell_last_ts(last_us)
        self.output.close()
        if self.commits is not None:
            self.output.committed(END)
        self.signal_neighbours()
        return True

    def close_idle(self, last_us: int) -> None:
        """Inform the consumers that nothing waits for that no tuple will come any more."""
        self.tell_last_ts(last_us)
        self.output.close_idle()

    def close_recorder(self) -> None:
        """Close the recorder: nothing more is recorded."""
        if self._recorder is not None:
            self._recorder.close()

    def signal_neighbours(self) -> None:
        """Have the neighbours look for work; only where something has changed, or cycles never rest."""
        for neighbour in self.neighbours:
            if not neighbour.is_signalled:
                neighbour.signal()
