"""Spouts: components that bring tuples into the topology."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from framework.model.specs import Spec, SpecMethod, spout_spec
from framework.operators.components.collector import EmitResult
from framework.operators.components.component import Component
from framework.operators.components.later import Later


class Spout(Component):
    """Emits tuples, either from `next_tuple` or from the generator `tuples`.

    A spout that defines `tuples` is a generator spout. Each row that it yields is emitted on the default
    stream. None means that there is nothing for now, and a time or an event that there is nothing before it
    (`after`, `at`, `when_readable`). The spout ends when the generator ends. On a stream with a schema it may
    yield a record batch in the place of many rows. Any other spout is polled through `next_tuple`, and ends
    when that raises StopIteration.
    """

    failure: str = ""
    """While `fail` runs: the reason for which the tuple has failed, in words."""

    def next_tuple(self) -> Later | None:
        """Emit what there is, if anything.

        It is called again and again, after a pause that grows while it emits nothing.

        Returns:
            None; or a time or an event before which it need not be called (`after`, `at`, `when_readable`),
            unless the spout hears of an `ack` or a `fail`, or is activated.

        Raises:
            StopIteration: there will never be anything more, so the spout ends.
        """
        raise NotImplementedError(f"{type(self).__name__} must define next_tuple(self) or tuples(self)")

    def tuples(self) -> Iterator[Sequence[Any] | Later | None]:
        """Yield the values of one tuple after the other; define it instead of `next_tuple`.

        Yields:
            The values of a tuple. Or None if there is nothing for now: it is asked again after a pause that
            grows. Or a time or an event (`after`, `at`, `when_readable`), before which it is not resumed.
        """
        raise NotImplementedError

    def activate(self) -> None:
        """Prepare to bring tuples; called before the first one is asked for."""

    def deactivate(self) -> None:
        """Stop bringing tuples; called when no more will be asked for."""

    def ack(self, tup_id: Any) -> None:
        """Hear that a tuple emitted with that id has been processed."""

    def fail(self, tup_id: Any) -> None:
        """Hear that a tuple emitted with that id has failed."""

    def emit(
        self,
        tup: Sequence[Any],
        tup_id: Any = None,
        stream: str | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
        *,
        timestamp: Any = None,
    ) -> EmitResult:
        """Emit a tuple.

        Args:
            tup: its values, a list or tuple, one per declared field.
            tup_id: any id, by which `ack` or `fail` reports the outcome of the tuple; None to hear nothing.
            stream: name of the stream; the default stream if None.
            direct_task: id of the receiving task, for a direct stream only.
            need_task_ids: whether to return the ids of the receiving tasks.
            timestamp: event time, a number in the component's ``viper.timestamp.unit`` or a
                datetime; it must never decrease. Only allowed where ``viper.time`` is ``event``.

        Returns:
            The ids of the receiving tasks if asked for, else None.

        Raises:
            EmitError: an unknown stream, a wrong number of values, a value that cannot be
                carried, or a timestamp that goes back.
            TypeError: the values are neither list nor tuple.
        """
        return self._collector.emit(
            tup,
            tup_id=tup_id,
            stream=stream,
            direct_task=direct_task,
            need_task_ids=need_task_ids,
            timestamp=timestamp,
        )

    def emit_rows(self, rows: Any, stream: str | None = None, *, gives_away: bool = False) -> None:
        """Emit many tuples at once, none of which is tracked.

        By event time each has the time that its timestamp field holds (``viper.timestamp.field``).

        Args:
            rows: the values of each tuple, as for `emit`; or, on a stream with a schema, a record batch, a
                table, or a mapping of each field to its column.
            stream: name of the stream; the default stream if None.
            gives_away: of columns: whether nobody writes to their memory any more; otherwise it is copied.

        Raises:
            EmitError: an unknown stream, or values or columns that do not fit it.
            TypeError: the values of a tuple are neither list nor tuple.
        """
        self._collector.emit_rows(rows, of=None, ends=None, stream=stream, gives_away=gives_away)

    @SpecMethod
    def spec(
        component: Any,
        name: str | None = None,
        par: int | Mapping[str, int] | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Spec:
        """This spout as a part of a `Topology` class; see `framework.frontends.dsl`."""
        return spout_spec(component, name, par, config)


class SeekableSpout(Spout):
    """A spout that can report its offset, so that another process can resume there.

    An offset covers everything that was emitted until then, and nothing else. A generator spout advances it
    before it yields a row, a spout that is polled before `next_tuple` returns.
    """

    def offset(self) -> Any:
        """Return the offset: any value that can be pickled."""
        raise NotImplementedError(f"{type(self).__name__} must define offset(self)")

    def seek(self, offset: Any) -> None:
        """Resume after the rows that an offset covers; called after `initialize`, before a tuple is asked
        for.

        Args:
            offset: what `offset` has returned in another process.
        """
        raise NotImplementedError(f"{type(self).__name__} must define seek(self, offset)")


class ReliableSpout(Spout):
    """Keeps what it emitted until it is acked, and emits it again when it fails."""

    max_fails: int = 3
    """The number of times that a tuple is emitted again before it is given up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.failed_tuples: Counter[Any] = Counter()
        self.unacked_tuples: dict[Any, tuple[Any, ...]] = {}

    def ack(self, tup_id: Any) -> None:
        """Forget a tuple."""
        self.failed_tuples.pop(tup_id, None)
        if self.unacked_tuples.pop(tup_id, None) is None:
            self.logger.error("ack for unknown tuple id %r", tup_id)

    def fail(self, tup_id: Any) -> None:
        """Emit a tuple again, or give it up after `max_fails` times."""
        if tup_id not in self.unacked_tuples:
            self.logger.error("fail for unknown tuple id %r", tup_id)
        elif self.failed_tuples[tup_id] >= self.max_fails:
            self.logger.info("giving up tuple id %r, which failed %d times", tup_id, self.max_fails + 1)
            self.ack(tup_id)
        else:
            self.failed_tuples[tup_id] += 1
            tup, stream, direct_task, need_task_ids, timestamp = self.unacked_tuples[tup_id]
            self.emit(tup, tup_id, stream, direct_task, need_task_ids, timestamp=timestamp)

    def emit(
        self,
        tup: Sequence[Any],
        tup_id: Any = None,
        stream: str | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
        *,
        timestamp: Any = None,
    ) -> EmitResult:
        """As `Spout.emit`, but the id is required.

        Raises:
            ValueError: there is no ``tup_id``.
        """
        if tup_id is None:
            raise ValueError("a ReliableSpout must emit with a tup_id, by which it is acked or failed")
        self.unacked_tuples[tup_id] = (tup, stream, direct_task, need_task_ids, timestamp)
        return super().emit(tup, tup_id, stream, direct_task, need_task_ids, timestamp=timestamp)
