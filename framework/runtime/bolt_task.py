"""The task of a bolt: ready tuples in, positioned tuples out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from framework.components.tuple import TICK_COMPONENT, TICK_STREAM
from framework.planning import Task
from framework.recording.ticks import ReplayTicks, Tick, TickKind
from framework.runtime.collector import TaskCollector
from framework.runtime.destination import Row
from framework.runtime.hosts import Host, Identity
from framework.runtime.inputs import InputSource, Piece, by_level, cut, rows_of
from framework.runtime.lineage import LAST, Lineage
from framework.runtime.output import Output
from framework.runtime.task import PAUSE_AT, USER_ERRORS, RunningTask
from framework.runtime.ticks import EventTicks
from framework.sinks import Sink
from viper.errors import CodecError
from viper.position import END, LEAST, Level, Position, Positions
from viper.reader import Reader, Run
from viper.rows import Inbox


class BoltTask(RunningTask):
    """Runs one replica of a bolt."""

    consumes = True

    def __init__(
        self,
        task: Task,
        host: Host,
        collector: TaskCollector,
        output: Output,
        identity: Identity,
        *,
        reader: Reader,
        sources: Sequence[InputSource],
        feedback: Sequence[tuple[Reader, InputSource]],
        shares_input: bool,
        level: Level,
        event_tick_s: float | None,
        replayed_ticks: ReplayTicks | None = None,
    ) -> None:
        """
        Args:
            task: as in the base class, like all before the star.
            host: the component.
            collector: takes what it emits.
            output: routes that.
            identity: what the component is told about itself.
            reader: its input.
            sources: the producing tasks, by their index at the reader's gate.
            feedback: the ways back through cycles, with their producing tasks.
            shares_input: whether other replicas get the same values, which one of them may change.
            level: where its outputs are marked, but for inputs that are copied to several replicas.
            event_tick_s: seconds of event time between two ticks; None for no such ticks.
            replayed_ticks: instead of those that follow the wall clock, in a run that repeats another.
        """
        super().__init__(task, host, collector, output, identity)
        self.feedback = tuple(feedback)
        self.drained = False
        """Whether all input has been processed, but for what may come back through a cycle."""
        self.nothing_comes_back = False
        """Set by the worker when nothing is in flight that could come back through a cycle."""
        self._reader = reader
        self._shares_input = shares_input
        self._sources = tuple(sources)
        self._level = level
        """The level of outputs for inputs that are not copied, and of ticks."""
        all_sources = [*sources, *(source for _, source in feedback)]
        streams = [stream for source in all_sources for stream in source.streams.values()]
        self._levels = len({stream.level for stream in streams})
        self._event_tick_s = event_tick_s
        self._event_ticks: EventTicks | None = None
        self._replayed_ticks = replayed_ticks
        self._last_input = LEAST
        self._positions = Positions()
        self._lineage = Lineage()
        self._inbox = Inbox(host.record, collector.outbox if output.is_used else None, PAUSE_AT)
        # How outputs are placed right now: below their inputs, or beside all input.
        self._below_inputs = False
        self._placing = level
        self._beside_at: Position | None = None
        self._tick_number = 0
        self._slice: Iterator[None] | None = None
        """What is left of a slice that found no room for its output."""

    def start(self) -> None:
        """Initialize the component; what it emits there comes before everything else."""
        super().start()
        self._process_tuple = self.host.process
        if self._event_tick_s:
            self._event_ticks = EventTicks(self._event_tick_s, self.host.noticeable_ticks)

    # -- state

    def has_input(self) -> bool:
        """Whether a tuple could be processed now."""
        return self._reader.ready() or any(reader.ready() for reader, _ in self.feedback)

    @property
    def has_ended(self) -> bool:
        """Whether there will be no more input."""
        return self.drained and (self.nothing_comes_back or not self.feedback)

    @property
    def waiting_for(self) -> str | None:
        """The task that holds this one's input back, if one does."""
        held = self._reader.holding_source()
        return None if held is None else self._sources[held].name

    def _wants_turn(self, now_s: float) -> bool:
        # The outbox holds something where a thread of the component's own has emitted.
        return self.signalled or self._slice is not None or len(self.collector.outbox) > 0

    # -- work

    def run(self, limit: int) -> int:
        """Process about so many ready tuples at most, and tell the consumers how far that is.

        Where the output has no room for what comes of them, the rest is processed in a later turn.
        """
        self.signalled = False
        before = self.collector.counters.processed
        if self._slice is None:
            self._slice = self._process_slice(limit)
        for _ in self._slice:
            self._place_outputs()
            if not self.unblock():
                self._publish_last()
                return self.collector.counters.processed - before
        self._slice = None
        if not self.unblock():
            self._publish_last()
        self._advance()
        self.signalled = self.signalled or self.has_input()
        return self.collector.counters.processed - before

    def _process_slice(self, limit: int) -> Iterator[None]:
        """Process a slice of the input; yields whenever the outbox is full."""
        if len(self.collector.outbox):  # a thread of the component's own has emitted
            self._place_outputs()
        positions = self._positions
        positions.clear()
        runs = self._received(self._reader, limit, positions)
        if runs:
            self._lineage.begin(positions)
            self._below_inputs = True
            yield from self._process_ready(cut(runs, self._sources, self._shares_input))
            self._place_outputs()
            self._below_inputs = False
            self.collector.counters.processed += len(positions)
            self._last_input = positions.last()
        for reader, source in self.feedback:
            yield from self._process_feedback(reader, source, limit)

    def _received(self, reader: Reader, limit: int, positions: Positions) -> list[Run]:
        try:
            return reader.get_ready(limit, positions)
        except CodecError as error:
            self._failed("input", error)

    def _process_ready(self, ready: list[Piece]) -> Iterator[None]:
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

    def _process_feedback(self, reader: Reader, source: InputSource, limit: int) -> Iterator[None]:
        # In order of arrival: what comes back takes its place at the frontier, as a timer's emit does.
        positions = Positions()
        pieces = cut(self._received(reader, limit, positions), (source,), self._shares_input)
        if not pieces:
            return
        self.signal_neighbours()  # among them who waits for room to send more back
        yield from self._process(pieces)
        self._place_outputs()
        self.collector.counters.processed += len(positions)

    def _process(self, pieces: list[Piece]) -> Iterator[None]:
        if isinstance(self.host.component, Sink):
            self._consume(self.host.component, rows_of(pieces))
        elif self._levels == 1:
            self._placing = pieces[0][3].level if pieces else self._level
            yield from self._process_tuples(pieces)
        else:
            for level, group in by_level(pieces):
                self._place_outputs()
                self._placing = level
                yield from self._process_tuples(group)

    def _process_tuples(self, pieces: list[Piece]) -> Iterator[None]:
        inbox, process, tup = self._inbox, self._process_tuple, None
        inbox.load(pieces)
        while True:
            try:
                for tup in inbox:
                    process(tup)
            except USER_ERRORS as error:
                self._survive("process", error, tup)
                continue
            if not inbox.paused:
                return
            yield

    def _consume(self, sink: Sink, rows: list[Row]) -> None:
        try:
            sink.consume(rows)
        except USER_ERRORS as error:
            self._survive("consume", error)

    # -- positions

    def _take_placed(self) -> tuple[list[tuple[object, ...]], bytes | None, bool]:
        """What the outbox holds, with its positions in `_out`."""
        unfinished = self._inbox.open
        marks = memoryview(self._inbox.cut()).cast("I")
        rows, tags, mutable, _ = self.collector.take()
        self._out.clear()
        if self._below_inputs:
            self._lineage.place(marks, unfinished, self._placing, self._out)
        beside = len(rows) - len(self._out)  # all of them, or what a thread emitted just now
        if beside:
            self._lineage.place_beside(beside, self._placing, self._out, self._beside_at)
            self.collector.counters.unplanned += beside if self._beside_at is None else 0
        return rows, tags, mutable

    def _advance(self) -> None:
        frontier = self._reader.watermark()
        self.last_us = max(self.last_us, self._reader.last_ts())
        self.drained = frontier == END
        if self.drained:  # what comes back through a cycle may still be placed at a later round
            frontier = max(LAST, self._published)
        self._lineage.advance(frontier)
        if self._replayed_ticks is not None:
            self._replay(self._replayed_ticks.due(frontier))
        self._tick_until(frontier.ts if frontier < LAST else self.last_us)
        if frontier >= LAST:
            self.output.tell_last_ts(self.last_us)
        self.collector.counters.saturated = self._lineage.saturated
        self.publish(frontier)

    def go_round(self, time_us: int) -> None:
        """With all other input processed, place what comes back through a cycle at this time."""
        self._lineage.advance(Position(time_us, 0, 0))
        self.publish(Position(time_us, 0, 0))

    @property
    def waits_with_input(self) -> bool:
        """Whether there is input that cannot be processed yet."""
        return self._reader.waiting_tuples() > 0

    def _tick_until(self, time_us: int) -> None:
        ticks = self._event_ticks
        if ticks is None or (self._levels and ticks.next_boundary() is None) or time_us == LEAST.ts:
            return  # event time begins with the first tuple, where there are any
        for due_us in ticks.due(time_us):
            self.tick(Position(due_us, 0, 0))
        self.unblock()

    # -- what is not input

    def _process_between_ticks(self, ready: Sequence[Piece], ticks: EventTicks) -> Iterator[None]:
        def before(position: Position) -> Iterator[Callable[[], None]]:
            for time_us in ticks.due(self._time_at(position)):
                yield partial(self.tick, Position(time_us, 0, 0))
            ticks.input_seen()

        return self._process_between(ready, before)

    def _time_at(self, position: Position) -> int:
        """How far event time has come at a position, which after all input says nothing of time."""
        return position.ts if position < LAST else max(self.last_us, self._reader.last_ts())

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
                    start = row
            yield from self._process([(rows, first + start, count - start, stream)])
            index += count

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
        if at is None:
            self._record_tick(TickKind.TICK)
        self._tick_number += 1
        self.collector.counters.ticks += 1
        values = (self.identity.conf.get("topology.tick.tuple.freq.secs"),)
        record = self.host.record
        tup = tuple.__new__(record, (f"tick-{self._tick_number}", TICK_COMPONENT, TICK_STREAM, -1, values))
        with self._beside_inputs(at):
            try:
                self.host.tick(tup)
            except USER_ERRORS as error:
                self._survive("process_tick", error, tup)

    def fire_batches(self, at: Position | None = None) -> None:
        """Let a batching component process what it has gathered."""
        if at is None:
            self._record_tick(TickKind.BATCH)
        with self._beside_inputs(at):
            try:
                self.host.fire_batches()
            except USER_ERRORS as error:
                self._survive("process_batch", error)

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
        at = max(LAST, self._published)
        if self.identity.conf.get("topology.tick.tuple.freq.secs"):
            self.tick(at)
        if self.host.is_batching:
            self.fire_batches(at)
