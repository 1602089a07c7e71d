"""One bolt, or one spout, that a test drives step by step, by a clock of its own."""

from __future__ import annotations

import datetime
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, ParamSpec, Self, TypeVar

from framework.frontends.builder import TopologyBuilder
from framework.model.errors import ComponentError, LoadError
from framework.model.topology import DEFAULT_STREAM, Argument, Stream, unknown
from framework.operators.components import Component
from framework.operators.windows.spec import TIME_FIELD
from framework.testing.clock import VirtualClock
from framework.testing.feeding import FedRows, Holding, holding
from framework.testing.harness import Row, TopologyHarness
from framework.testing.preparing import Conf, loaded, own_config

_SOURCE, _BOLT, _SPOUT, _HOLDING = "source", "bolt", "spout", "holding"
"""Ids of the components that take part."""
_ON_ERROR: Final = "viper.on.error"
_TIMES: Final = "viper.timestamp."
"""The prefix of the keys that configure the event time of a spout's tuples."""


P = ParamSpec("P")
R = TypeVar("R")


def _raising_itself(method: Callable[P, R]) -> Callable[P, R]:
    """The same method, which raises what a component has raised, and not the error that a run makes of it."""

    @functools.wraps(method)
    def raising(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except ComponentError as error:
            raised = error.__cause__ or error
        if isinstance(raised, LoadError):  # of a constructor
            raised = raised.__cause__ or raised
        try:
            raise raised  # not above, where it would get another context than the component has given it
        finally:
            del raised  # which knows this frame

    return raising


class _ComponentHarness:
    """The common part of the harnesses of bolts and spouts.

    Args:
        harness: of the topology that the component is in.
        name: the id of the component there.
    """

    def __init__(self, harness: TopologyHarness, name: str) -> None:
        self._harness = harness
        self._name = name

    @_raising_itself
    def __enter__(self) -> Self:
        self._harness.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def clock(self) -> VirtualClock:
        """The clock that the component runs by."""
        return self._harness.clock

    @property
    def component(self) -> Any:
        """The component itself, to inspect its attributes."""
        return self._harness.component(self._name)

    @property
    def logs(self) -> Sequence[logging.LogRecord]:
        """The log records of the component, of any level."""
        return self._harness.logs(self._name)

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The last value of each metric that the component has reported."""
        return self._harness.metrics(self._name)

    def emitted(self, stream: str = DEFAULT_STREAM) -> list[Row]:
        """All that the component has emitted on a stream, in order.

        Raises:
            KeyError: it declares no such stream.
        """
        return self._harness.emitted(self._name, stream)

    def take(self, stream: str = DEFAULT_STREAM) -> list[Row]:
        """As `emitted`, but only what was emitted since the last call for that stream."""
        return self._harness.take(self._name, stream)

    @_raising_itself
    def advance(self, seconds: float | datetime.timedelta) -> None:
        """Let time pass on the clock; whatever becomes due meanwhile is done when it does.

        Raises:
            ValueError: the time is negative or infinite.
            Exception: whatever the component raised.
        """
        self._harness.advance(seconds)

    @_raising_itself
    def close(self) -> None:
        """Close the component, without an end of the input; also at the end of the ``with`` block.

        Raises:
            Exception: whatever its `close` raised.
        """
        self._harness.close()

    def let_go(self) -> None:
        """Free the memory of the component, as `TopologyHarness.let_go` does."""
        self._harness.let_go()


class BoltHarness(_ComponentHarness):
    """Gives tuples and ticks to one task of a bolt, step by step.

        with BoltHarness(Count, fields=["word"], key=["word"]) as bolt:
            bolt.send(["cow"], ["cow"])
            assert bolt.take() == [("cow", 1), ("cow", 2)]
            bolt.advance(60)
            ...

    The bolt is initialized where the ``with`` block begins, and closed where it ends. An exception that it
    raises reaches the test as it is, from the step that raises it, and closes the harness. If
    ``exit_on_exception`` is False, or ``viper.on.error`` says otherwise, the tuple fails instead, as in a
    run.

    Args:
        bolt: its class, ours or streamparse's, or an instance of one of ours.
        fields: the names of the values of its input.
        schema: the type of each field by name, or the types in the order of `fields`.
        sources: for a bolt with several inputs, such as a join, each by its id with the names of its fields,
            or a `Stream`. Then `fields` and `schema` are left out.
        key: the fields that its input is grouped by, for state by key, if the bolt does not say it.
        conf: configuration, over the bolt's own.
        args: its constructor's arguments, plain values.
        kwargs: its constructor's keyword arguments, plain values.
        clock: the clock that it runs by; None for a new one.

    Raises:
        TopologyError: the class is no bolt, or cannot run here; the error has all problems.
    """

    def __init__(
        self,
        bolt: type | Component,
        *,
        fields: Sequence[str] = (),
        schema: Mapping[str, str] | Sequence[str] | None = None,
        sources: Mapping[str, Sequence[str] | Stream] | None = None,
        key: Sequence[str] = (),
        conf: Conf | None = None,
        args: Sequence[Argument] = (),
        kwargs: Mapping[str, Argument] | None = None,
        clock: VirtualClock | None = None,
    ) -> None:
        if sources is None:
            names = fields or (None if isinstance(schema, Mapping) else ())
            sources = {_SOURCE: Stream(names, schema=schema)}
        self._sources = tuple(sources)
        own = own_config(bolt, conf)
        timed = {name: value for name, value in own.items() if name.startswith(_TIMES)}
        if own.get(TIME_FIELD):
            timed["viper.timestamp.field"] = own[TIME_FIELD]
        if getattr(bolt, "exit_on_exception", True):
            own.setdefault(_ON_ERROR, "stop")
        builder = TopologyBuilder()
        for name, given in sources.items():
            stream = given if isinstance(given, Stream) else Stream(given)
            builder.set_spout(name, FedRows, outputs=[stream], config=timed or None)
        declarer = builder.set_bolt(_BOLT, bolt, 1, args=args, kwargs=kwargs, config=own)
        for name in sources:
            declarer.fields_grouping(name, key) if key else declarer.shuffle_grouping(name)
        super().__init__(TopologyHarness(builder, conf=conf, clock=clock), _BOLT)

    @_raising_itself
    def send(self, *rows: Sequence[Any], source: str | None = None) -> None:
        """Give tuples to the bolt; to a batch bolt together.

        Args:
            *rows: the values of each tuple.
            source: the id of the input that they come on; None for the only one.

        Raises:
            KeyError: there is no such source.
            TypeError: no source is named, and there are several.
            Exception: whatever the bolt raised.
        """
        name = self._source(source)
        self._harness.send(name, *rows)

    @_raising_itself
    def tick(self) -> None:
        """Give the bolt a tick now, whether or not ticks are configured.

        Raises:
            Exception: whatever the bolt raised.
        """
        self._harness.tick(_BOLT)

    @_raising_itself
    def finish(self) -> None:
        """End the input, as in a run: a last tick comes; what is left in windows and batches is processed.

        Raises:
            Exception: whatever the bolt raised.
        """
        self._harness.finish()

    @property
    def acked(self) -> list[Row]:
        """The values of the tuples that were acked, of all sources, in order."""
        return [row for name in self._sources for row in self._harness.acked(name)]

    @property
    def failed(self) -> list[Row]:
        """The values of the tuples that failed, or were not answered within the message timeout."""
        return [row for name in self._sources for row in self._harness.failed(name)]

    def state(self, name: str, *key: Any) -> Any:
        """Return the declared state of the bolt.

        Args:
            name: the attribute of the state.
            *key: the values of the key's fields; none for state of a task.

        Raises:
            KeyError: it declares no such state.
            TypeError: a key is missing, or there is one and the state has none.
        """
        return self._harness.state(_BOLT, name, *key)

    def _source(self, name: str | None) -> str:
        if name is None:
            if len(self._sources) > 1:
                raise TypeError(f"name the source: the bolt reads from {', '.join(self._sources)}")
            return self._sources[0]
        if name not in self._sources:
            raise KeyError(unknown("source", name, self._sources))
        return name


class SpoutHarness(_ComponentHarness):
    """Asks one task of a spout for tuples, step by step, and answers them.

        with SpoutHarness(Orders, answers="hold") as spout:
            assert spout.next() == [("a", 1)]
            spout.fail(("a", 1))
            assert spout.next() == [("a", 1)]

    Args:
        spout: its class, ours or streamparse's, or an instance of one of ours.
        answers: ``"ack"`` to ack each tuple at once; ``"hold"`` to leave that to `ack` and `fail`.
        conf: configuration, over the spout's own.
        args: its constructor's arguments, plain values.
        kwargs: its constructor's keyword arguments, plain values.
        clock: the clock that it runs by; None for a new one.

    Raises:
        TopologyError: the class is no spout, or cannot run here; the error has all problems.
        ValueError: there are no such `answers`.
    """

    def __init__(
        self,
        spout: type | Component,
        *,
        answers: str = "ack",
        conf: Conf | None = None,
        args: Sequence[Argument] = (),
        kwargs: Mapping[str, Argument] | None = None,
        clock: VirtualClock | None = None,
    ) -> None:
        if answers not in ("ack", "hold"):
            raise ValueError(f"answers={answers!r}: expected 'ack' or 'hold'")
        self._holds = answers == "hold"
        builder = TopologyBuilder()
        builder.set_spout(_SPOUT, spout, 1, args=args, kwargs=kwargs, config=own_config(spout, conf))
        topology = loaded(builder)
        if self._holds:
            topology = holding(topology, _SPOUT, _HOLDING)
        super().__init__(TopologyHarness(topology, keep=[_SPOUT], conf=conf, clock=clock), _SPOUT)

    @_raising_itself
    def next(self, count: int = 1) -> list[Row]:
        """Ask the spout for tuples.

        Args:
            count: how many, at most. One that emits several in one call may bring more.

        Returns:
            The tuples that it has emitted; fewer than `count` if it has no more at the time that the clock
            shows.

        Raises:
            Exception: whatever the spout raised.
        """
        return self._harness.pull(_SPOUT, count)

    @property
    def has_ended(self) -> bool:
        """True if the spout has said that it will bring nothing more."""
        return self._harness.has_brought_all(_SPOUT)

    @property
    def held(self) -> list[Row]:
        """The tuples that were neither acked nor failed as yet, with ``answers="hold"``."""
        return [tuple(tup.values) for tup in self._holding.held] if self._holds else []

    def ack(self, row: Sequence[Any]) -> None:
        """Have a tuple acked that is held; of several with the same values the first.

        Raises:
            ValueError: none with these values is held.
            Exception: whatever the spout raised in its `ack`.
        """
        self._answer(row, lambda bolt, tup: bolt.ack(tup))

    def fail(self, row: Sequence[Any]) -> None:
        """Have a tuple fail that is held; of several with the same values the first.

        Raises:
            ValueError: none with these values is held.
            Exception: whatever the spout raised in its `fail`.
        """
        self._answer(row, lambda bolt, tup: bolt.fail(tup))

    @property
    def _holding(self) -> Holding:
        bolt: Holding = self._harness.component(_HOLDING)
        return bolt

    @_raising_itself
    def _answer(self, row: Sequence[Any], answer: Callable[[Holding, Any], None]) -> None:
        if not self._holds:
            raise ValueError('every tuple is acked at once: make the harness with answers="hold"')
        bolt = self._holding
        found = next((tup for tup in bolt.held if tuple(tup.values) == tuple(row)), None)
        if found is None:
            raise ValueError(f"no tuple {tuple(row)!r} is held: found {self.held!r}")
        bolt.held.remove(found)
        self._harness.call(_HOLDING, lambda: answer(bolt, found))
