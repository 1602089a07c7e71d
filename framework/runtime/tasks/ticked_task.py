"""Ticks and timers of a bolt's task: what it does that is no input."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from framework.components.tuple import TICK_COMPONENT, TICK_ID, TICK_STREAM
from framework.recording.ticks import ReplayTicks, Tick, TickKind
from framework.runtime.hosts.user_errors import user_errors
from framework.runtime.inputs.pieces import Piece
from framework.runtime.positions.lineage import LAST, Lineage
from framework.runtime.positions.ticks import EventTicks
from framework.runtime.tasks.task import RunningTask
from viper.position import LEAST, Level, Position, Positions


class TickedTask(RunningTask):
    """Gives its component ticks: between the inputs where they follow event time, else when they are due."""

    def __init__(
        self,
        *args: Any,
        level: Level,
        event_tick_s: float | None,
        replayed_ticks: ReplayTicks | None = None,
    ) -> None:
        """
        Args:
            args: as in the base class.
            level: where outputs are marked, but for inputs that are copied to several replicas.
            event_tick_s: seconds of event time between two ticks; None for no such ticks.
            replayed_ticks: instead of those that follow the wall clock, in a run that repeats another.
        """
        super().__init__(*args)
        self._level = level
        self._event_tick_s = event_tick_s
        self._event_ticks: EventTicks | None = None
        self._replayed_ticks = replayed_ticks
        self._tick_number = 0
        self._positions = Positions()
        """Of the input of this slice."""
        self._last_input = LEAST
        self._lineage = Lineage()
        # How outputs are placed right now: below their inputs, or beside all input.
        self._below_inputs = False
        self._placing = level
        self._beside_at: Position | None = None

    @abstractmethod
    def _process(self, pieces: list[Piece]) -> Iterator[None]:
        """Process input; yields whenever it has to be gone on with later."""

    def resume(self, floor: Position) -> None:
        """As in the base class."""
        super().resume(floor)
        self._lineage.resume(floor)

    @property
    @abstractmethod
    def _untracked_fails(self) -> int:
        """How many tuples that nobody tracks the component has failed."""

    @abstractmethod
    def _event_time(self) -> int:
        """How far event time has come, in microseconds, by what the producers say."""

    def start(self) -> None:
        """Initialize the component; what it emits there comes before everything else."""
        super().start()
        if self._event_tick_s:
            self._event_ticks = EventTicks(self._event_tick_s, self.host.noticeable_ticks)

    # -- between inputs

    def _process_ready(self, ready: list[Piece]) -> Iterator[None]:
        """Process the input of this slice, with the ticks that come in between."""
        ticks, replayed = self._event_ticks, self._replayed_ticks
        if replayed is not None and replayed.next and replayed.next.is_before(self._positions.last()):
            return self._process_between_replayed(ready, replayed)
        if ticks is None:
            return self._process(ready)
        boundary = ticks.next_boundary()
        if boundary is None or self._positions.last().ts >= boundary:
            return self._process_between_ticks(ready, ticks)
        ticks.input_seen()
        return self._process(ready)

    def _process_between_ticks(self, ready: Sequence[Piece], ticks: EventTicks) -> Iterator[None]:
        def before(position: Position) -> Iterator[Callable[[], None]]:
            for time_us in ticks.due(self._time_at(position)):
                yield partial(self.tick, Position(time_us, 0, 0))
            ticks.input_seen()

        return self._process_between(ready, before)

    def _time_at(self, position: Position) -> int:
        """How far event time has come at a position, which after all input says nothing of time."""
        return position.ts if position < LAST else max(self.last_us, self._event_time())

    def _process_between_replayed(self, ready: Sequence[Piece], ticks: ReplayTicks) -> Iterator[None]:
        def before(position: Position) -> Iterator[Callable[[], None]]:
            for tick in ticks.due(position):
                yield partial(self._replay, [tick])

        return self._process_between(ready, before)

    def _process_between(
        self, ready: Sequence[Piece], before: Callable[[Position], Iterator[Callable[[], None]]]
    ) -> Iterator[None]:
        """Process input, and do in between what comes before each."""
        index = 0
        for rows, first, count, stream in ready:
            start = 0
            for row in range(count):
                for fire in before(self._positions[index + row]):
                    if row > start:
                        yield from self._process([(rows, first + start, row - start, stream)])
                    self._place_outputs()
                    fire()
                    if self.restart_at_s is not None:
                        yield
                    start = row
            yield from self._process([(rows, first + start, count - start, stream)])
            index += count

    # -- behind the input so far

    def _tick_until(self, time_us: int, has_producers: bool) -> None:
        """Give the ticks that event time has come to."""
        ticks = self._event_ticks
        if ticks is None or (has_producers and ticks.next_boundary() is None) or time_us == LEAST.ts:
            return  # event time begins with the first tuple, where there are any
        for due_us in ticks.due(time_us):
            self.tick(Position(due_us, 0, 0))
        self.unblock()

    def _replay(self, ticks: Iterable[Tick]) -> None:
        for tick in ticks:
            (self.tick if tick.kind is TickKind.TICK else self.fire_batches)(tick.at)

    def _record_tick(self, kind: TickKind) -> None:
        """Note where in the order of the input something happens that was due by the wall clock."""
        if self.recorder is not None:
            at = max(self._lineage.frontier, self._last_input)
            self.recorder.record_tick(at, after=self._last_input, kind=kind)

    def tick(self, at: Position | None = None) -> None:
        """Give the component a tick; what it emits is placed there, or at the frontier."""
        if self._is_gone(at):
            return
        if at is None:
            self._record_tick(TickKind.TICK)
        self._tick_number += 1
        self.collector.counters.ticks += 1
        values = (self.identity.conf.get("topology.tick.tuple.freq.secs"),)
        record, tick_id = self.host.record, f"{TICK_ID}-{self._tick_number}"
        tup = tuple.__new__(record, (tick_id, TICK_COMPONENT, TICK_STREAM, -1, values))
        failed = self._untracked_fails
        with self._beside_inputs(at):
            try:
                self.host.tick(tup)
            except user_errors() as error:
                self._raised("process_tick", error, tup)
                self.collector.counters.lost += self._untracked_fails - failed

    def fire_batches(self, at: Position | None = None) -> None:
        """Let a batching component process what it has gathered."""
        if self._is_gone(at):
            return
        if at is None:
            self._record_tick(TickKind.BATCH)
        failed = self._untracked_fails
        with self._beside_inputs(at):
            try:
                self.host.fire_batches()
            except user_errors() as error:
                self._raised("process_batch", error)
                self.collector.counters.lost += self._untracked_fails - failed

    def _is_gone(self, at: Position | None) -> bool:
        """Whether there is no component that could be called: it has raised, and comes again after a pause.

        What has its place in event time cannot wait for that.
        """
        if self.restart_at_s is not None and at is not None:
            self._restart()
        return self.restart_at_s is not None

    @contextmanager
    def _beside_inputs(self, at: Position | None) -> Iterator[None]:
        before = self._below_inputs, self._placing
        self._below_inputs, self._placing, self._beside_at = False, self._level, at
        try:
            yield
            self._place_outputs()
        finally:
            (self._below_inputs, self._placing), self._beside_at = before, None

    def end(self) -> None:
        """All input has been processed: the last tick and the last batches."""
        # Who was out of room has published where some output stood; the next ones come beside the last one.
        at = LAST if self._published <= self._last_placed else max(LAST, self._published)
        if self.identity.conf.get("topology.tick.tuple.freq.secs"):
            self.tick(at)
        if self.host.is_batching:
            self.fire_batches(at)
