"""The calls of a bolt's component that are for no input: its beginning, ticks, batches that are due."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from framework.operators.components.tuple import TICK_COMPONENT, TICK_ID, TICK_STREAM
from framework.operators.windows.due import Due
from framework.planning.layout import ComponentLevel
from framework.recording import Recorder
from framework.recording.timeline import TickKind
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.order.tracking.reasons import Cause
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.slot import ComponentSlot
from viper.position import LEAST, Level, Position, Positions

MOST_AT_ONCE: Final = 256
"""Windows of a key group that are put out before a task gives way to others: in some 5 ms."""


class Interludes:
    """The calls of a bolt's component that belong to no input; their outputs lie beside all input."""

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        emitter: Emitter,
        assigner: BoltAssigner,
        acker: Acker | None,
        recorder: Recorder | None,
    ) -> None:
        """
        Args:
            context: the task's.
            slot: holds the component.
            emitter: sends off what it emits.
            assigner: places that beside all input.
            acker: knows how many untracked tuples it has failed; None where nothing is tracked.
            recorder: records what was due by the wall clock, if it shall be.
        """
        self._context = context
        self._slot = slot
        self._emitter = emitter
        self._assigner = assigner
        self._acker = acker
        self._recorder = recorder
        self.notes_input = recorder is not None
        """True if it has to hear of each slice of the input, as ticks are recorded after it."""
        self.number = 0
        """Of the last tick."""
        self._last_input = LEAST
        """The position of the last tuple of the last slice, if that is recorded."""

    def save(self) -> int:
        """The number of the last tick."""
        return self.number

    def restore(self, saved: int) -> None:
        """Continue after the ticks of another run, with this number; called before the first tick."""
        self.number = saved

    def begin(self) -> None:
        """Initialize the component.

        Raises:
            ComponentError: its `initialize` raised.
        """
        with self._beside_inputs(None):
            self._begin()

    def restart(self) -> None:
        """Make the component again; everything that the old one had not answered fails.

        Raises:
            ComponentError: its constructor, or `initialize`, raised.
        """
        if self._acker is not None:
            self._acker.fail_all(Cause.RESTARTED)
        unanswered = self._slot.unanswered.let_go()
        self._context.counters.lost += 0 if self._slot.host.keeps_batches else unanswered
        with self._beside_inputs(None):
            self._slot.remake()
            self._begin()

    def _begin(self) -> None:
        self._slot.begin()
        host = self._slot.host
        if host.keeps_batches and host.gathered:  # of tuples that have failed, and stay so
            self._slot.unanswered.expect_unknown()

    def tick(self, at: Position | None) -> None:
        """Give the component a tick; what it emits is placed at a position, or at the frontier."""
        if self._is_ready(at, TickKind.TICK):
            self.number += 1
            self._context.counters.ticks += 1
            values = (self._context.conf.get("topology.tick.tuple.freq.secs"),)
            record, tick_id = self._slot.host.record, f"{TICK_ID}-{self.number}"
            tup = tuple.__new__(record, (tick_id, TICK_COMPONENT, TICK_STREAM, -1, values))
            self._call(at, "process_tick", lambda: self._slot.host.tick(tup), tup)

    def fire_batches(self, at: Position | None) -> None:
        """Let a batching component process what it has gathered; outputs are placed as for `tick`."""
        if self._is_ready(at, TickKind.BATCH):
            self._call(at, "process_batch", lambda: self._slot.host.fire_batches())

    def fire_rest(self, at: Position | None) -> None:
        """Let a windowed bolt process what is left at the end of all; outputs are placed as for `tick`."""
        if self._is_ready(at, TickKind.BATCH):
            self._call(at, "process_window", lambda: self._slot.host.fire_rest())

    def fire_due(
        self, level: Level | None, due: Due, at: Position, most: int | None = MOST_AT_ONCE
    ) -> None:
        """Let a component put out the work of one key group that is due, at a position.

        A window of tuples has no level of its own: inputs after that position may have been processed.
        Of more windows than `most` the others stay due at the same position, where outputs are numbered on.
        """
        if not self._is_ready(at, TickKind.BATCH):
            return
        self._stay_above(at)
        with self._beside_inputs(at, is_ahead=level is None, level=level):
            for call in self._slot.host.take_due(due, most):
                # Each in a call of its own: if one raises, nothing of the others is taken back.
                self._run("process_window" if level is None else "output", call)
                if self._slot.is_gone:
                    break
        if self._slot.host.leaves_due:  # so that not all is to be written behind the last of a million
            self._slot.write()

    def fire_last_due(self, level: ComponentLevel, at: Position | None) -> None:
        """Let it put out what is left at the end of all, at a position behind that."""
        assert at is not None
        if self._is_ready(at, TickKind.BATCH):
            for due in list(self._slot.host.dues.rest()):
                self.fire_due(level.in_place, due, max(at, level.place(at.ts, due.group)), None)

    def place(self) -> None:
        """Place what threads of the component's have emitted."""
        self._emitter.place()

    def listen(self) -> None:
        """Take what a program has emitted and answered since, which works in the background."""
        if not self._slot.is_gone:
            self._call(None, "process", self._slot.host.take_answers)

    def finish(self) -> bool:
        """Inform a program that its input is over, and take its output then; return whether it has ended."""
        has_ended = True

        def finish() -> None:
            nonlocal has_ended
            has_ended = self._slot.host.finish()

        if not self._slot.is_gone:
            self._call(None, "close", finish)
        return has_ended or self._slot.is_gone

    def input_passed(self, positions: Positions) -> None:
        """Note that a slice of the input has been processed, at these positions."""
        self._last_input = positions.last()

    def _is_ready(self, at: Position | None, kind: TickKind) -> bool:
        """True if there is a component that can be called; one that has raised is made again after a pause.

        A call with its place in event time cannot wait for that pause, so the component is made again at
        once.
        """
        if self._slot.is_gone and at is not None:
            self.restart()
        if self._slot.is_gone:
            return False
        if at is None and self._recorder is not None:
            last = self._last_input
            self._recorder.record_tick(max(self._assigner.lineage.frontier, last), after=last, kind=kind)
        return True

    def _call(
        self,
        at: Position | None,
        during: str,
        callback: Callable[[], object],
        tup: Any = None,
        *,
        is_ahead: bool = False,
    ) -> None:
        self._stay_above(at)
        with self._beside_inputs(at, is_ahead=is_ahead):
            self._run(during, callback, tup)

    def _stay_above(self, at: Position | None) -> None:
        # More was promised where tuples are repeated, or where outputs at this position wait for room.
        if at is not None and at <= self._emitter.published:
            self._assigner.lineage.keep_above(self._emitter.published)

    def _run(self, during: str, callback: Callable[[], object], tup: Any = None) -> None:
        failed = self._untracked_fails
        self._slot.begin_call()
        try:
            callback()
        except user_errors() as error:
            self._slot.take_back()
            self._slot.raised(during, error, tup)
            self._context.counters.lost += self._untracked_fails - failed

    @contextmanager
    def _beside_inputs(
        self, at: Position | None, *, is_ahead: bool = False, level: Level | None = None
    ) -> Iterator[None]:
        """Within the block, what the component emits belongs to no input."""
        with self._assigner.beside(at, is_ahead=is_ahead, level=level):
            yield
            self._emitter.place()

    @property
    def _untracked_fails(self) -> int:
        """The number of tuples that the component has failed and nobody tracks."""
        return self._context.counters.failed if self._acker is None else self._acker.untracked_fails
