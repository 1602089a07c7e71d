"""One bolt in a test: drivers call it with tuples, and note its rows, acks and fails."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from framework.common.units import micros_of
from framework.frontends.builder import TopologyBuilder
from framework.model.config import Settings
from framework.model.instantiate import Beans
from framework.model.topology import DEFAULT_STREAM, Argument, Stream, unknown
from framework.operators.components import Component, RowError, Rows, Tuple
from framework.operators.components.rows import Origin
from framework.operators.sinks import CollectingSink
from framework.operators.windows.due import Due
from framework.operators.windows.spec import TIME_FIELD
from framework.planning import Plan
from framework.recording.tap import tapped
from framework.runtime.durability.state import StateMemory, load_states
from framework.runtime.exchange.inputs import values_class
from framework.runtime.exchange.pieces import InputStream
from framework.runtime.exchange.typed import TypedForm
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import NO_RECORDING, RecordingIO
from framework.runtime.execution.assembly.task_factory import TaskFactory
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.task import Task
from framework.runtime.tasks.transaction_processor import TransactionProcessor
from framework.testing.driver import Driver, is_tick
from framework.testing.given import GivenRows
from framework.testing.preparing import Conf, loaded, own_config, planned, settled
from viper.payload import Payload
from viper.payload import Rows as RowPayload
from viper.position import Level, Position, Positions

_SOURCE, _BOLT = "source", "bolt"
"""Ids of the two components that take part."""


@dataclass(frozen=True, slots=True)
class BoltRun:
    """The emits, answers and logs of a bolt in a test."""

    component: Any
    """The bolt itself, to inspect its state."""
    streams: Mapping[str, Sequence[tuple[Any, ...]]]
    """The rows that it emitted on each declared stream."""
    acked: Sequence[tuple[Any, ...]]
    """Values of the tuples that were acked, in order of the acks; the first answer to a tuple counts."""
    failed: Sequence[tuple[Any, ...]]
    """Values of the tuples that failed."""
    logs: Sequence[logging.LogRecord]
    """Its log records, of any level."""
    metrics: Mapping[str, Any]
    """The last value of each metric that it reported."""
    tables: Mapping[str, Sequence[tuple[Any, ...]]] = field(default_factory=dict)
    """The rows of the shared tables that it names, sorted by key: each its key and its values."""

    def emitted(self, stream: str = DEFAULT_STREAM) -> list[tuple[Any, ...]]:
        """Return the rows that it emitted on a stream, in order.

        Raises:
            KeyError: it declares no such stream.
        """
        if stream not in self.streams:
            raise KeyError(unknown("stream", stream, self.streams))
        return list(self.streams[stream])


def run_bolt(
    bolt: type | Component,
    tuples: Iterable[Sequence[Any]],
    *,
    fields: Sequence[str] = (),
    schema: Mapping[str, str] | Sequence[str] | None = None,
    most_rows: int | None = None,
    conf: Conf | None = None,
    context: Mapping[str, Any] | None = None,
    key: Sequence[str] = (),
    args: Sequence[Argument] = (),
    kwargs: Mapping[str, Argument] | None = None,
) -> BoltRun:
    """Give tuples to a bolt as one of its tasks would get them: in order, and to a batch bolt in batches.

    The bolt is initialized before and closed afterwards. As in a run, a last tick comes where
    ``topology.tick.tuple.freq.secs`` is set, and tuples that are left in batches are processed.

    Args:
        bolt: its class, ours or streamparse's, or an instance of one of ours.
        tuples: for each tuple its values; or a `Tuple`, where its component or stream matters; or `TICK`.
        fields: names of the values, for a bolt that uses names.
        schema: the type of each field by name, or the types in the order of `fields`, with which a batch bolt
            can have its rows as columns.
        most_rows: the most tuples in one batch of a batch bolt; None for all that follow one another on the
            same stream. How many it sees must make no difference, and in a run it may be any number.
        conf: configuration, over the bolt's own.
        context: added to the context that its `initialize` receives in a run, and above that.
        key: the fields by which a bolt that declares state by key has it, if the bolt does not say it.
        args: its constructor's arguments, plain values.
        kwargs: its constructor's keyword arguments, plain values.

    Raises:
        TopologyError: the class is no bolt, or cannot run here.
        EmitError: a value is not of the type that the schema gives its field.
        ComponentError: its constructor raised.
        StateError: what it remembers at its end cannot be pickled, or it has overwritten a state's attribute.
        Exception: whatever its callbacks raise, as it is, unless ``exit_on_exception`` is False.
    """
    stream = Stream(fields or (None if isinstance(schema, Mapping) else ()), schema=schema)
    with ExitStack() as made:
        task, state_key, memory = _task(bolt, stream, conf or {}, key, args, kwargs, made)
        task.context.identity.context.update(context or {})
        record = task.slot.host.record
        received = [_received(record, number, values, stream) for number, values in enumerate(tuples, 1)]
        driver = _driver(task, stream, most_rows, state_key)
        made.callback(driver.recorder.let_go)
        driver.run(received)
        values = {tup.id: tup.values for tup in received if not is_tick(tup)}
        responses = driver.recorder.responses
        return BoltRun(
            component=task.slot.host.component,
            streams=driver.recorder.streams(),
            acked=[values[tup_id] for tup_id, acked in responses.items() if acked and tup_id in values],
            failed=[values[tup_id] for tup_id, acked in responses.items() if not acked and tup_id in values],
            logs=driver.logs,
            metrics=dict(driver.recorder.counters.metrics),
            tables={} if memory is None else memory.shared.rows(),
        )


def _driver(
    task: Task, stream: Stream, most_rows: int | None, state_key: tuple[int, ...] | None
) -> Driver:
    if isinstance(task, BoltTask) and isinstance(task.processor, TransactionProcessor):
        return TransactionDriver(task, task.processor, stream, state_key)
    if task.slot.host.takes_rows:
        return BatchDriver(task, stream, most_rows, state_key)
    host = task.slot.host
    driver = WindowDriver if host.has_key_windows or host.is_windowed else Driver
    return driver(task, state_key)


def _task(
    bolt: type | Component,
    stream: Stream,
    conf: Conf,
    key: Sequence[str],
    args: Sequence[Argument],
    kwargs: Mapping[str, Argument] | None,
    made: ExitStack,
) -> tuple[Task, tuple[int, ...] | None, StateMemory | None]:
    """The bolt's task, the indexes of the fields that name the key of its state, and what it remembers in.

    At the end of `made` they let go of their memory.
    """
    builder = TopologyBuilder()
    own = own_config(bolt, conf)
    timed = {"viper.timestamp.field": own[TIME_FIELD]} if own.get(TIME_FIELD) else None
    builder.set_spout(_SOURCE, GivenRows, args=[{}], outputs=[stream], config=timed)
    declarer = builder.set_bolt(_BOLT, bolt, 1, args=args, kwargs=kwargs, config=own)
    declarer.fields_grouping(_SOURCE, key) if key else declarer.shuffle_grouping(_SOURCE)
    topology = loaded(builder)
    settled(topology, conf)
    for stream in topology.component(_BOLT).outputs or ():
        topology = tapped(topology, _BOLT, CollectingSink, stream.name)
    plan, settings = planned(topology, conf)
    memory = StateMemory.create(plan, settings)
    load_states(memory, None)
    spouts, bolts = _factory(plan, settings, memory).tasks([task.id for task in plan.tasks])
    for task in (*spouts, *bolts):
        made.callback(task.let_go)
    (subscription,) = (s for s in plan.subscriptions if s.target == _BOLT)
    return next(t for t in bolts if t.context.spec.component == _BOLT), subscription.key, memory


def _factory(plan: Plan, settings: Settings, memory: StateMemory | None) -> TaskFactory:
    beans, network = Beans(plan.topology.beans), Network.create(plan, settings)
    return TaskFactory(plan, settings, network, beans, RecordingIO(NO_RECORDING, plan), memory)


def _received(record: type[Any], number: int, given: Sequence[Any], stream: Stream) -> Any:
    """A tuple as the bolt receives it, of its own base's class."""
    if getattr(type(given), "_fields", None) == Tuple._fields:
        return tuple.__new__(record, given)
    fields = stream.fields
    if fields and len(given) != len(fields):
        raise ValueError(f"{given!r} has {len(given)} values, expected one for each of {list(fields)}")
    values = tuple(given)
    if stream.schema is not None:
        values = TypedForm(_SOURCE, stream, stream.schema).row(values)
    if fields:
        values = tuple.__new__(values_class(_SOURCE, DEFAULT_STREAM, fields), values)
    return tuple.__new__(record, (str(number), _SOURCE, DEFAULT_STREAM, 1, values))


_LEVEL = Level(0, 0, 0, 0)
"""Nothing is placed at it."""


class TransactionDriver(Driver):
    """Gives a bolt its tuples one after the other, and with each what came of its transactions.

    Args:
        task: the bolt's.
        processor: the task's.
        stream: that of the tuples.
        key: as of the base class.
    """

    def __init__(
        self,
        task: Task,
        processor: TransactionProcessor,
        stream: Stream,
        key: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(task, key)
        self._slot = task.slot
        self._membership = processor.membership
        self._gathering = processor.gathering
        self._fields = stream.fields
        self._number = 0

    def _give(self, tup: Any) -> None:
        if is_tick(tup):
            super()._give(tup)
        elif self._guarded([tup], self._process, tup) and not self._host.answers_itself:
            self.recorder.ack(tup)

    def _process(self, tup: Any) -> None:
        """Collect the bolt's requests, evaluate them, and give it the results."""
        fields = self._fields
        values = values_class(tup.component, DEFAULT_STREAM, fields) if fields else None
        stream = InputStream(tup.component, tup.stream, tup.task, values, _LEVEL)
        self._slot.process = self._host.process
        raised = self._gathering.gather([([tuple(tup.values)], 0, 1, stream)])
        if raised:
            raise raised[0]
        self._number += 1
        positions = Positions()
        positions.append(Position(self._number, 0, 0))
        self._membership.collect(positions, 0, 1)
        if self._state is not None:
            self._state.scope.enter(tuple(tup.values), self._key)
        for result in self._membership.recorder.take_results():
            self._component.process_result(tup, result)
        self._membership.release()


class WindowDriver(Driver):
    """Gives tuples to a windowed bolt, at the times that a field of theirs says, or at their numbers."""

    def __init__(self, task: Task, key: tuple[int, ...] | None = None) -> None:
        super().__init__(task, key)
        conf = task.context.identity.conf
        self._field: str | None = conf[TIME_FIELD]
        self._unit: str = conf["viper.timestamp.unit"]
        self._now_us = 0

    def run(self, tuples: Iterable[Any]) -> None:
        """As in the base class."""
        assert self._state is not None
        self._state.tell_time_by(lambda: self._now_us)
        super().run(tuples)

    def _give(self, tup: Any) -> None:
        if not is_tick(tup):
            self._now_us = max(self._now_us, self._time_of(tup))
            self._fire_until(self._now_us)
        super()._give(tup)

    def _time_of(self, tup: Any) -> int:
        if self._field is None:
            return self._now_us + 1
        return micros_of(getattr(tup.values, self._field), self._unit)

    def _end(self) -> None:
        self._fire_until(None)
        if self._host.is_windowed:
            self._guarded((), self._host.fire_rest)
        else:
            for due in list(self._host.dues.rest()):
                self._fire(due)

    def _fire_until(self, time_us: int | None) -> None:
        while (due := self._host.dues.next_due(time_us)) is not None:
            self._fire(due)

    def _fire(self, due: Due) -> None:
        for call in self._host.take_due(due):
            self._guarded((), call)


class BatchDriver(Driver):
    """Runs a batch bolt over some tuples.

    Args:
        task: the bolt's.
        stream: declares the fields of the tuples, and their types if they have any.
        most: the most tuples in one batch; None for all that follow one another on a stream.
        key: indexes of the fields that name the key of its declared state; None if it has none by key.
    """

    def __init__(
        self, task: Task, stream: Stream, most: int | None, key: tuple[int, ...] | None = None
    ) -> None:
        super().__init__(task, key)
        self._slot = task.slot
        self._stream = stream
        self._most = most

    def _give_all(self, tuples: Iterable[Any]) -> None:
        for _, group in groupby(tuples, lambda tup: (tup.component, tup.stream)):
            together = list(group)
            if is_tick(together[0]):
                for tick in together:
                    self._give(tick)
            else:
                self._give_rows(together)

    def _give_rows(self, tuples: Sequence[Any]) -> None:
        most = self._most or len(tuples)
        first = 0
        while first < len(tuples):
            first += self._processed(tuples[first : first + most])

    def _processed(self, batch: Sequence[Any]) -> int:
        """Process a batch; returns how many of its tuples need not come again."""
        payload = self._payload([tuple(tup.values) for tup in batch])
        lease, done = payload.lease, self._called(payload, batch)
        del payload
        if lease is not None and not lease.end():
            self._slot.kept(lease)
        return done

    def _payload(self, values: list[tuple[Any, ...]]) -> Payload:
        """Values as the bolt receives them; one that declares that it keeps no columns is lent them."""
        stream = self._stream
        if self._host.keeps_columns or stream.schema is None:
            return RowPayload(values)
        from viper.columns.batches import Batches  # wants pyarrow, which other bolts do without
        from viper.columns.payload import Columns

        return Columns(Batches(stream.schema, stream.fields).of_rows(values)).lent_out()

    def _called(self, payload: Payload, batch: Sequence[Any]) -> int:
        """Call the bolt; returns as `_processed` does."""
        bulk, (_, component, stream, *_) = self.recorder.bulk, batch[0]
        key = self._slot.key_of(self._key)
        origin = Origin(component, stream, self._stream.fields, self._stream.schema, key)
        rows = Rows.received(payload, origin, (), 0)
        bulk.begin(len(batch), rows.made, payload.lease)
        self._end_call()
        try:
            self._component.process_rows(rows)
            done = len(batch)
        except RowError as error:
            return self._without(error, batch)
        except Exception as error:
            self._take_back()
            bulk.drop()
            self._raised(error, batch)
            return len(batch)
        bulk.finish(done)
        self._ack(batch)
        return done

    def _without(self, error: RowError, batch: Sequence[Any]) -> int:
        """Keep the rows before one that could not be processed."""
        if not 0 <= error.index < len(batch):
            self.recorder.bulk.drop()
            self._raised(error, batch)
            return len(batch)
        self.recorder.bulk.finish(error.index)
        self._ack(batch[: error.index])
        self._raised(error.cause, [batch[error.index]])
        return error.index + 1

    def _ack(self, tuples: Sequence[Any]) -> None:
        for tup in tuples:
            self.recorder.ack(tup)
