"""The collector of a task: carries out the `emit`, `ack`, `fail` and `log` of a component, by its rules."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

from framework.model.errors import EmitError
from framework.model.topology import DEFAULT_STREAM, unknown
from framework.model.tracebacks import place_of
from framework.operators.components.collector import EmitResult
from framework.operators.components.levels import LEVELS
from framework.operators.components.tuple import TICK_ID
from framework.operators.log import log_raised
from framework.planning import TimeMode
from framework.runtime.exchange.buffer import SPILL_AT, EmitBuffer
from framework.runtime.exchange.bulk import BulkEmits
from framework.runtime.exchange.output import Output, Port
from framework.runtime.exchange.typed import is_batch
from framework.runtime.exchange.values import as_json, snapshot
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.positions.event_times import to_micros
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.order.tracking.answers import Mistakes, Unanswered, id_of
from viper.payload import Row
from viper.rows import Outbox
from viper.scalars import ScalarError, python_of

if TYPE_CHECKING:
    from viper.columns.payload import Columns


class EmitListener(Protocol):
    """The calls that a collector makes on its task in the middle of a callback."""

    def spill(self) -> None:
        """Empty the buffer, which is full, before the callback continues."""

    def deliver_and_tell(self, append: Callable[[], None]) -> list[int]:
        """Append a row to the buffer, and place and route it; return the ids of the tasks that receive it."""


class TaskCollector:
    """Carries out the calls of one task's component: its emits, acks, fails and log messages.

    A component may emit from threads that it has started. The common emit is atomic, and all other emits take
    a lock. Such a thread waits while the buffer is full; it never runs tasks.
    """

    def __init__(
        self,
        component: str,
        output: Output,
        counters: TaskCounters,
        logger: logging.Logger,
        rules: EmitRules | None = None,
    ) -> None:
        """
        Args:
            component: its id, for messages.
            output: its streams.
            counters: the task's.
            logger: the component's.
            rules: how emits are checked, and their values copied.
        """
        self.output = output
        self.counters = counters
        self._rules = rules or EmitRules()
        self._component = component
        self._logger = logger
        self._listener: EmitListener | None = None
        self._acker: Acker | None = None
        self.unanswered = Unanswered()
        """The untracked tuples that a component which answers itself has not answered."""
        self.mistakes = Mistakes(counters, logger, strict=self._rules.strict)
        """Counts answers and anchors that name no open tuple."""
        self._closed = False
        self._warned: set[str] = set()
        self._has_told_of_late = False
        self._ports = {port.stream.name: port for port in output.ports}
        self.buffer = EmitBuffer(
            output.ports,
            counters,
            slow=self._emit_in_any_form,
            on_full=self._full,
            limit=self._rules.limit,
            checked=self._rules.checked,
            takes_ids=self._rules.tracks,
        )
        self._reported: BaseException | None = None
        self._begin_group: Callable[[int], None] = lambda group: None
        self.bulk = BulkEmits(self.buffer, self._row_of)
        """Takes the emits of many rows."""

    @property
    def tells_receivers(self) -> bool:
        """True if an emit can say which tasks receive it."""
        return not self._rules.holds_back

    @property
    def outbox(self) -> Outbox:
        """The part of the buffer that is in C, whose `emit` a component may call directly."""
        return self.buffer.outbox

    def group_by(self, begin: Callable[[int], None]) -> None:
        """Set the function that places outputs among those of a key group."""
        self._begin_group = begin

    def begin_group(self, group: int) -> None:
        """As of `Collector`."""
        self._begin_group(group)

    def attach(self, listener: EmitListener) -> None:
        """Connect the collector with its task."""
        self._listener = listener

    def answer_by(self, acker: Acker) -> None:
        """Pass the component's acks and fails to an acker, which also finds the trees of anchors."""
        self._acker = acker

    # -- what the component calls

    def emit(
        self,
        tup: Sequence[Any],
        stream: str | None = None,
        anchors: Any = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
    ) -> EmitResult:
        """A bolt's emit, in all its forms."""
        return self._put(tup, stream, direct_task, need_task_ids, about=anchors)

    def emit_rows(
        self,
        rows: Any,
        *,
        of: Sequence[int] | None,
        ends: Sequence[int] | None,
        stream: str | None,
        gives_away: bool,
    ) -> None:
        """Emit many tuples; see `BatchBolt.emit_rows` and `Spout.emit_rows`."""
        self._check_open(need_task_ids=False)
        if not self.buffer.is_mine:
            raise EmitError(
                f"component {self._component!r} calls emit_rows from a thread of its own, which has no rows "
                "in process: call emit for each tuple"
            )
        name = DEFAULT_STREAM if stream is None else stream
        port = self._ports.get(name)
        if port is None:
            for row in [()] if is_batch(rows) else rows:
                self._undeclared(name, len(row), need_task_ids=False)
        elif port.stream.direct:
            raise EmitError(
                f"component {self._component!r}, stream {name!r} is a direct one: emit_rows cannot name a "
                "task for each tuple; emit them one by one from a Bolt"
            )
        elif is_batch(rows):
            columns = self._columns(port, rows, gives_away)
            if isinstance(columns, list):
                self.bulk.add(port, columns, of, ends)
            else:
                self.bulk.add_columns(port, columns, of, ends)
        else:
            self.bulk.add(port, rows, of, ends)
        if not self.bulk.is_open and len(self.buffer) >= self.buffer.limit:
            self._full()

    def ack(self, tup: Any) -> None:
        """Ack a tuple, given itself or by its id.

        Raises:
            AnswerError: the tuple was acked or failed before, and ``viper.answers`` is strict.
        """
        if self._is_first(tup, "acks") if self._acker is None else self._acker.ack(tup):
            self.counters.acked += 1
        self.unanswered.answer(tup)

    def fail(self, tup: Any) -> None:
        """Fail a tuple, given itself or by its id; errors as for `ack`."""
        if self._is_first(tup, "fails") if self._acker is None else self._acker.fail(tup):
            self.counters.failed += 1
        self.unanswered.answer(tup)

    def _is_first(self, tup: Any, verb: str) -> bool:
        """True if an answer is the first one to a tuple, if none are tracked; an answer to a tick never
        is."""
        if (tup_id := id_of(tup)).startswith(TICK_ID):
            return False
        if self.unanswered.knows_all and not self.unanswered.may_be_open(tup_id):
            self.mistakes.unknown_answer(verb, tup_id)
            return False
        return True

    def log(self, message: str, level: str | None) -> None:
        """Write to the component's log; an unknown level is info, as in streamparse."""
        self._logger.log(LEVELS.get(level or "", logging.INFO), "%s", message)

    def report_metric(self, name: str, value: Any) -> None:
        """Keep a copy of the last value of a metric."""
        # A new dictionary, as another thread may be reading the old one.
        self.counters.metrics = {**self.counters.metrics, name: snapshot(value)}

    @contextmanager
    def reported(self, exception: BaseException) -> Iterator[None]:
        """Suppress further reports of an exception within the block, as it was reported already."""
        self._reported = exception
        try:
            yield
        finally:
            self._reported = None

    def is_reported(self, exception_name: str) -> bool:
        """True if the component is being informed of a reported exception of that class."""
        return type(self._reported).__name__ == exception_name

    def report_error(self, exception: BaseException, tup: Any, during: str | None = None) -> None:
        """Log an exception that does not end the run, with the callback that has raised it."""
        if exception is self._reported:
            return
        place = place_of(exception) + (f" in {during}" if during else "")
        self.counters.error_raised(exception, place, time.time())
        log_raised(self._logger, exception, tup, during)

    def close(self) -> None:
        """Refuse all emits from now on."""
        self._closed = True
        self.buffer.close()

    def let_go(self) -> None:
        """Let go of the task, its output and its answers, as the run has ended.

        A component that is kept then keeps nothing of the run, and whatever it calls counts nowhere.
        """
        self.close()
        self._listener = self._acker = None
        self._ports = {}
        self._begin_group = lambda group: None
        self.counters, self.unanswered = TaskCounters(), Unanswered()
        self.buffer.let_go()
        del self.output, self.bulk

    def is_taken(self, stream: str | None) -> bool:
        """True if anybody subscribes to a stream, or records it."""
        port = self._ports.get(DEFAULT_STREAM if stream is None else stream)
        return port is not None and port.is_used

    # -- for a component that is called ahead of its turn

    def prepared(
        self, tup: Sequence[Any], stream: str | None, anchors: Any, direct_task: int | None
    ) -> Callable[[], None]:
        """Check an emit now, in any thread, and return the function that emits it in the task's thread.

        Raises:
            EmitError: as for an emit.
        """
        _check_type(tup)
        self._check_open(need_task_ids=False, is_late=False)
        name = DEFAULT_STREAM if stream is None else stream
        port = self._ports.get(name)
        if port is None:
            self._undeclared(name, len(tup), need_task_ids=False)
            return _emit_nothing
        row = self._row(port, tup, direct_task)
        task = direct_task if port.stream.direct else None

        def emit() -> None:
            self._append(port, row, task, None, anchors)
            if len(self.buffer) >= self.buffer.limit:
                self._full()

        return emit

    def late(self, mistake: str) -> None:
        """Log once that something comes too late to have a place in the order."""
        if not self._has_told_of_late:
            self._has_told_of_late = True
            self._logger.warning("%s; further ones are not told of", mistake)

    # -- inside

    def _emit_in_any_form(self, *args: Any, **options: Any) -> EmitResult:
        # Looked up at each call: a spout's collector has an emit of its own.
        return self.emit(*args, **options)

    def _full(self) -> None:
        if self.buffer.appending:
            return
        if not self.buffer.is_mine:
            self.buffer.wait_for_room()
            self._check_open(need_task_ids=False)
        elif self._listener is not None:
            self._listener.spill()

    def _append_and_tell(self, append: Callable[[], None]) -> list[int]:
        if self._listener is not None:
            return self._listener.deliver_and_tell(append)
        append()
        return []

    def _put(
        self,
        tup: Sequence[Any],
        stream: str | None,
        direct_task: int | None,
        need_task_ids: bool,
        stamp: int | None = None,
        about: Any = None,
    ) -> EmitResult:
        _check_type(tup)
        self._check_open(need_task_ids)
        if self.bulk.is_open and self.buffer.is_mine:
            raise EmitError(
                f"component {self._component!r} emits a single tuple in process_rows: "
                "emit_rows([values], of=[index]) says which row it belongs to"
            )
        name = DEFAULT_STREAM if stream is None else stream
        port = self._ports.get(name)
        if port is None:
            return self._undeclared(name, len(tup), need_task_ids)
        row = self._row(port, tup, direct_task)
        task = direct_task if port.stream.direct else None
        if need_task_ids:
            return self._append_and_tell(lambda: self._append(port, row, task, stamp, about))
        self._append(port, row, task, stamp, about)
        if len(self.buffer) >= self.buffer.limit:
            self._full()
        return None

    def _append(self, port: Port, row: Row, task: int | None, stamp: int | None, about: Any) -> None:
        with self.buffer.guard:
            note = self._note(about)  # first, as it may raise: then nothing has been emitted
            self.buffer.append(port, row, task, stamp, note)

    def _note(self, about: Any) -> Any:
        """The note of an emit: the tree of its anchors."""
        if self._acker is not None:
            return self._acker.note_for(about)
        for anchor in map(id_of, about or ()):
            is_known = self.unanswered.may_be_open(anchor) or anchor.startswith(TICK_ID)
            if self.unanswered.knows_all and not is_known:
                self.mistakes.anchor(anchor)
        return None

    def _check_open(self, need_task_ids: bool, *, is_late: bool = True) -> None:
        if self._closed:
            if is_late:
                self._tell_of_late_thread()
            raise EmitError(
                f"component {self._component!r} emits in or after close, when nobody receives it any more: "
                "emit at the last tick or in process_batch, which come before"
            )
        if need_task_ids and not self.buffer.is_mine:
            raise EmitError(
                f"component {self._component!r} emits with need_task_ids=True from a thread of its own, "
                "where the receivers are not known yet"
            )

    def _tell_of_late_thread(self) -> None:
        """Log that a thread emits when all is over, as what a pool of threads raises is often not seen."""
        if not self.buffer.is_mine and "" not in self._warned:
            self._warned.add("")
            self._logger.warning(
                "a thread of the component emits after its task has ended, and nobody receives that; set "
                "auto_ack = False, and ack each tuple when all that comes of it was emitted: then the task "
                "waits for it"
            )

    def _row_of(self, port: Port, tup: Any) -> Row:
        _check_type(tup)
        return self._row(port, tup, None)

    def _row(self, port: Port, tup: Sequence[Any], direct_task: int | None) -> Row:
        """The row of an emit that is as its stream declares, or that nobody receives."""
        try:
            self._check(port, tup, direct_task)
            return self._carried(tup) if port.form is None else port.form.row(tup)
        except EmitError as error:
            self._let_pass(port, error)
            return self._carried(tup)

    def _let_pass(self, port: Port, error: EmitError) -> None:
        """Log that an emit is not as its stream declares; it is let pass, as nobody subscribes to the stream.

        Storm makes a tuple, and so compares values with fields, only for a task that receives it.

        Raises:
            EmitError: somebody subscribes to the stream.
        """
        if port.subscribed:
            raise error
        if port.stream.name not in self._warned:
            self._warned.add(port.stream.name)
            self._logger.warning(
                "%s; nobody subscribes to the stream, so this is no error, as on Storm; further such emits "
                "are not told of",
                error,
            )

    def _columns(self, port: Port, given: Any, gives_away: bool) -> Columns | list[Row]:
        if port.form is None:
            raise EmitError(
                f"component {self._component!r}, stream {port.stream.name!r} declares no schema, so it "
                f"carries no columns, found {type(given).__name__}: declare Stream(schema=...), or emit rows"
            )
        try:
            return port.form.columns(given, gives_away=gives_away, was_carried=self.bulk.has_made(given))
        except EmitError as error:
            self._let_pass(port, error)
            columns = given if isinstance(given, Mapping) else given.to_pydict()
            return list(zip(*columns.values(), strict=False))

    def _carried(self, tup: Sequence[Any]) -> Row:
        carried = self._rules.carried
        return tuple([snapshot(value if carried is None else carried(value)) for value in tup])

    def _check(self, port: Port, tup: Sequence[Any], direct_task: int | None) -> None:
        stream, where = port.stream, f"component {self._component!r}, stream {port.stream.name!r}"
        if stream.direct and direct_task is None:
            raise EmitError(f"{where}: a direct stream needs direct_task=, the id of the receiving task")
        if direct_task is not None and not stream.direct:
            raise EmitError(
                f"{where}: direct_task={direct_task!r}, but the stream is not declared direct=True"
            )
        if direct_task is not None:
            self._check_direct(port, direct_task, where)
        if stream.fields and len(tup) != len(stream.fields):
            raise EmitError(
                f"{where}: {len(tup)} values {list(tup)!r:.200}, "
                f"expected {len(stream.fields)}: {list(stream.fields)}"
            )

    def _check_direct(self, port: Port, task: Any, where: str) -> None:
        if not isinstance(task, Integral) or isinstance(task, bool):
            raise EmitError(f"{where}: direct_task={task!r:.100}: expected an int, the id of a task")
        if port.edges and not port.reaches(int(task)) and port.stream.name not in self._warned:
            self._warned.add(port.stream.name)
            self._logger.warning(
                "emits on the direct stream %r to task %s, which does not subscribe to it, so nobody "
                "receives the tuple, as on Storm; further ones are not told of",
                *(port.stream.name, task),
            )

    def _undeclared(self, name: str, count: int, need_task_ids: bool) -> EmitResult:
        if self._ports or self._rules.undeclared_is_error:
            raise EmitError(f"component {self._component!r}: {unknown('stream', name, self._ports)}")
        self.counters.undeclared += 1
        if name not in self._warned:
            self._warned.add(name)
            fields = ", ".join(f'"field{i}"' for i in range(1, count + 1))
            declaration = (
                f"[{fields}]" if name == DEFAULT_STREAM else f'[Stream(fields=[{fields}], name="{name}")]'
            )
            self._logger.warning(
                "emits on stream %r, but declares no outputs, so nobody receives it; "
                "add to its class: outputs = %s",
                name,
                declaration,
            )
        return [] if need_task_ids else None


def _emit_nothing() -> None:
    """Do nothing, as nobody can receive it."""


def _check_type(tup: Any) -> None:
    if not isinstance(tup, list | tuple):
        raise TypeError(f"emit takes a list or tuple of values, found {type(tup).__name__}: {tup!r:.200}")


class SpoutCollector(TaskCollector):
    """A spout's collector: its emit takes an id and a timestamp."""

    def answer_untracked(self, ack: Callable[[Any], None]) -> None:
        """Have `ack` called with the id of each tuple that is not tracked, right after its emit."""
        self._ack_untracked = ack

    def let_go(self) -> None:
        """As in the base class."""
        super().let_go()
        self.answer_untracked(lambda tup_id: None)

    def emit(  # type: ignore[override]
        self,
        tup: Sequence[Any],
        tup_id: Any = None,
        stream: str | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
        *,
        timestamp: Any = None,
    ) -> EmitResult:
        """A spout's emit, in all its forms."""
        if need_task_ids and not self.tells_receivers:
            raise EmitError(
                f"component {self._component!r} emits with need_task_ids=True, but its tuples are held back "
                "until they are in order (viper.timestamp.slack or late), so nobody knows their receivers: "
                "emit without it"
            )
        if is_batch(tup):  # of a generator spout
            if any(given is not None for given in (tup_id, direct_task, timestamp)) or need_task_ids:
                raise EmitError(
                    f"component {self._component!r} emits {type(tup).__name__} with an id, a timestamp or a "
                    "task, which belong to single tuples: emit it without, or its tuples one by one"
                )
            self.emit_rows(tup, of=None, ends=None, stream=stream, gives_away=False)
            return None
        stamp = None if timestamp is None else self._micros(timestamp)
        receivers = self._put(tup, stream, direct_task, need_task_ids, stamp, about=tup_id)
        if tup_id is not None and not (self._rules.tracks and self.is_taken(stream)):
            self._ack_untracked(tup_id)
        return receivers

    def _note(self, about: Any) -> Any:
        return about if self._rules.tracks else None

    def _micros(self, timestamp: Any) -> int:
        rules = self._rules
        if rules.time is not TimeMode.EVENT:
            raise EmitError(
                f"component {self._component!r} emits with timestamp={timestamp!r:.100}, "
                f"but the topology runs by {rules.time} time: set viper.time to event"
            )
        try:
            given = python_of(timestamp)
        except ScalarError as error:
            raise EmitError(f"component {self._component!r} emits with timestamp=: {error}") from None
        return to_micros(given, rules.unit, self._component)


@dataclass(frozen=True, slots=True)
class EmitRules:
    """The rules by which a component's emits are checked, and their values copied."""

    limit: int = SPILL_AT
    """Rows in the buffer at which the task sends them off in the middle of a callback."""
    undeclared_is_error: bool = False
    """True if the emit of a component without declared streams is refused; otherwise a warning is logged."""
    strict: bool = False
    """For a bolt: whether a second answer to a tuple, or an anchor that is not open, is an error."""
    checked: bool = False
    """True if every emit is handled by Python code, and none in C."""
    tracks: bool = False
    """For a spout: whether tuples that it emits with an id are tracked."""
    time: TimeMode = TimeMode.LOGICAL
    """The topology's time: only in event time may a spout's emit give a timestamp."""
    holds_back: bool = False
    """For a spout: whether its tuples are held back for a while, so that nobody knows their receivers."""
    unit: str = "ms"
    """The unit of a timestamp that is a number: s, ms, us or ns."""
    carried: Callable[[Any], Any] | None = None
    """Converts a value to what arrives of it; None where the value itself arrives. It needs `checked`."""

    @classmethod
    def configured(cls, conf: Mapping[str, Any]) -> EmitRules:
        """The rules that a component's configuration gives."""
        is_json = conf["viper.values"] == "json"
        return cls(
            undeclared_is_error=conf["viper.emit.undeclared"] == "error",
            strict=conf["viper.answers"] == "strict",
            checked=is_json,
            unit=conf["viper.timestamp.unit"],
            carried=as_json if is_json else None,
        )
