"""A topology that a test drives step by step, by a clock of its own."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from framework.model.topology import DEFAULT_STREAM, Topology, unknown
from framework.operators.sinks import CollectingSink
from framework.operators.state import State, declared_states
from framework.operators.state.kinds import TableState
from framework.recording.tap import tap_id, tapped
from framework.runtime.durability.state import TaskState
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.source_task import SourceTask
from framework.testing.clock import VirtualClock
from framework.testing.feeding import FedRows, fed
from framework.testing.given import collected
from framework.testing.preparing import Conf, by_the_clock, loaded, names_of, settled
from framework.testing.stage import Stage

Row = tuple[Any, ...]


class TopologyHarness:
    """Runs a topology in the thread of a test, step by step: it sends rows, lets time pass, reads results.

    Use it in a ``with`` block: components are initialized where it begins, and closed where it ends. After
    each step, everything has been done that can be done at the time that the clock shows; nobody waits. An
    exception of a component reaches the test from the step that raises it, and closes the harness.

    Args:
        topology: whatever `run_topology` takes.
        keep: ids of the spouts that run as they are, when `pull` asks them; a spout that is not named here
            emits what `send` brings.
        sinks: ids of bolts that are not to run, such as those that write to a database; see `received`.
        conf: configuration, over what the topology says.
        clock: the clock that it runs by; None for a new one.
        seed: run tasks in a random order, which this number determines, instead of the usual one.
        environment: chooses from a ``par`` that is given per environment.

    Raises:
        TopologyError: the topology cannot run here; the error has all problems.
        TypeError: `keep` or `sinks` is one text.
    """

    def __init__(
        self,
        topology: object,
        *,
        keep: Collection[str] = (),
        sinks: Collection[str] = (),
        conf: Conf | None = None,
        clock: VirtualClock | None = None,
        seed: int | None = None,
        environment: str | None = None,
    ) -> None:
        options = {
            **({"viper.scheduling": "random", "viper.seed": seed} if seed is not None else {}),
            **(conf or {}),
        }
        known = loaded(topology, environment)
        kept = names_of("keep", keep)
        spouts = [spout.id for spout in known.spouts]
        for name in kept:
            if name not in spouts:
                raise KeyError(unknown("spout", name, spouts))
        self._fed = [name for name in spouts if name not in kept]
        prepared = fed(collected(known, names_of("sinks", sinks)), self._fed)
        settled(prepared, options)
        self._sinks = tuple(sinks)
        self._streams = [(c.id, stream.name) for c in prepared.components for stream in c.outputs or ()]
        self._taken: dict[tuple[str, str], int] = {}
        """The number of rows that `take` has returned, by stream."""
        plan, settings = by_the_clock(self._watched(prepared), options)
        self._stage = Stage(plan, settings, clock or VirtualClock(), limited=bool(kept))

    def _watched(self, topology: Topology) -> Topology:
        for component, stream in self._streams:
            topology = tapped(topology, component, CollectingSink, stream)
        return topology

    def __enter__(self) -> Self:
        self._stage.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- steps

    def send(self, spout: str, *rows: Sequence[Any], stream: str = DEFAULT_STREAM) -> None:
        """Have rows come from a spout, and process them.

        Args:
            spout: its id.
            *rows: the values of each tuple.
            stream: the stream of the spout that they come on.

        Raises:
            KeyError: there is no such spout or stream, or the spout is kept and brings its own rows.
            ComponentError: a component raised.
        """
        if spout not in self._fed:
            found = unknown("spout", spout, self._fed)
            raise KeyError(f"{found}; one that is named in keep brings rows of its own, see pull()")
        self._check(spout, stream)
        task = self._source(spout)
        component = task.slot.host.component
        assert isinstance(component, FedRows)
        self._stage.bring([task], component.feed(stream, rows))

    def pull(self, spout: str, count: int = 1) -> list[Row]:
        """Ask a spout that is kept for tuples, and process them.

        Args:
            spout: its id.
            count: how many, at most; it brings fewer if it has no more at the time that the clock shows. One
                that emits several tuples in one call may bring more.

        Returns:
            The tuples that it has emitted, on whatever streams.

        Raises:
            KeyError: there is no such spout, or it is not kept.
            ComponentError: a component raised.
        """
        if spout in self._fed:
            raise KeyError(f"spout {spout!r} is not kept: name it in keep=[...], or send its rows")
        before = {stream: len(self.emitted(spout, stream)) for stream in self._declared(spout)}
        tasks = [task for task in self._stage.tasks(spout) if isinstance(task, SourceTask)]
        if not tasks:
            raise KeyError(f"component {spout!r} is a bolt: only spouts can be asked for tuples")
        self._stage.bring(tasks, count)
        return [row for stream, had in before.items() for row in self.emitted(spout, stream)[had:]]

    def tick(self, bolt: str) -> None:
        """Give each task of a bolt a tick now, whether or not ticks are configured.

        Raises:
            KeyError: there is no such component.
            ValueError: it is a spout.
            ComponentError: a component raised.
        """
        self._stage.tick(bolt)

    def advance(self, seconds: float | datetime.timedelta) -> None:
        """Let time pass on the clock; ticks, windows, timers and timeouts come when they are due.

        Raises:
            ValueError: the time is negative or infinite.
            ComponentError: a component raised.
        """
        self._stage.advance(seconds.total_seconds() if isinstance(seconds, datetime.timedelta) else seconds)

    def finish(self) -> None:
        """End the input, as in a run: last ticks come, and what is left in windows and batches is processed.

        Raises:
            ComponentError: a component raised.
        """
        self._stage.finish()

    def close(self) -> None:
        """Close all components, without an end of the input; also at the end of the ``with`` block.

        Raises:
            ComponentError: one of them raised in its `close`; all the others have been closed as well.
        """
        self._stage.close()

    def let_go(self) -> None:
        """Free the memory of the topology, which can be inspected no more.

        A harness that nobody refers to does so by itself. The fixtures do it when their test is over, as an
        error that a test has caught keeps the test's variables for longer.
        """
        self._stage.let_go()

    # -- what there is to see

    @property
    def clock(self) -> VirtualClock:
        """The clock that the topology runs by."""
        return self._stage.clock

    @property
    def fed(self) -> Sequence[str]:
        """The ids of the spouts that emit what `send` brings."""
        return tuple(self._fed)

    def emitted(self, component: str, stream: str = DEFAULT_STREAM) -> list[Row]:
        """All that the tasks of a component have emitted on a stream, in the order of its positions.

        Raises:
            KeyError: there is no such component, or it declares no such stream.
        """
        self._check(component, stream)
        return self._collected(tap_id(component, stream))

    def take(self, component: str, stream: str = DEFAULT_STREAM) -> list[Row]:
        """As `emitted`, but only what was emitted since the last call for that stream."""
        rows = self.emitted(component, stream)
        first = self._taken.get((component, stream), 0)
        self._taken[component, stream] = len(rows)
        return rows[first:]

    def received(self, sink: str) -> list[Row]:
        """All that has come to a bolt that `sinks` names, in the order of its positions.

        Raises:
            KeyError: it is not among them.
        """
        if sink not in self._sinks:
            raise KeyError(f"{unknown('sink', sink, self._sinks)}: name it in sinks=[...]")
        return self._collected(sink)

    def acked(self, spout: str) -> list[Row]:
        """The rows that were sent from a spout and have been processed, with all that came of them.

        Raises:
            KeyError: there is no such spout, or it is kept.
        """
        return list(self._feed(spout).acked)

    def failed(self, spout: str) -> list[Row]:
        """The rows that were sent from a spout and have failed, or were not answered in time.

        Raises:
            KeyError: there is no such spout, or it is kept.
        """
        return list(self._feed(spout).failed)

    def logs(self, component: str) -> Sequence[logging.LogRecord]:
        """Return the log records of a component's tasks, of any level.

        Raises:
            KeyError: there is no such component.
        """
        return self._stage.logs(component)

    def component(self, component: str, index: int = 0) -> Any:
        """The instance of a component that one of its tasks has, to inspect its attributes.

        Raises:
            KeyError: there is no such component.
            IndexError: it has fewer tasks.
        """
        return self._stage.tasks(component)[index].slot.host.component

    def state(self, component: str, name: str, *key: Any) -> Any:
        """Return the declared state of a component as of now.

        Args:
            component: its id.
            name: the attribute of the state.
            *key: the values of the fields that the component's input is grouped by; none for state of a task.

        Returns:
            The value; of a list state the list, of a map state and a table a dictionary.

        Raises:
            KeyError: there is no such component, or it declares no such state.
        """
        tasks = [task for task in self._stage.tasks(component) if isinstance(task, BoltTask)]
        return read_state([task.slot for task in tasks], name, key, self._stage.now_us)

    def metrics(self, component: str, index: int = 0) -> Mapping[str, Any]:
        """The last value of each metric that a task of a component has reported.

        Raises:
            KeyError: there is no such component.
            IndexError: it has fewer tasks.
        """
        return dict(self._stage.tasks(component)[index].context.counters.metrics)

    def has_brought_all(self, spout: str) -> bool:
        """True if all tasks of a spout have said that they will bring nothing more.

        Raises:
            KeyError: there is no such component.
        """
        tasks = self._stage.tasks(spout)
        return all(isinstance(task, SourceTask) and task.brings_nothing for task in tasks)

    def call(self, component: str, function: Callable[[], None]) -> None:
        """Call something in the place of the first task of a component, and process what comes of it.

        Raises:
            KeyError: there is no such component.
            ComponentError: a component raised.
        """
        self._stage.call(self._stage.tasks(component)[0], function)

    @property
    def has_ended(self) -> bool:
        """True if all input has ended and was processed."""
        return self._stage.has_ended

    # -- inside

    def _collected(self, sink: str) -> list[Row]:
        (task,) = self._stage.tasks(sink)
        component = task.slot.host.component
        assert isinstance(component, CollectingSink)
        return list(component.result())

    def _source(self, spout: str) -> SourceTask:
        (task,) = self._stage.tasks(spout)
        assert isinstance(task, SourceTask)
        return task

    def _feed(self, spout: str) -> FedRows:
        if spout not in self._fed:
            raise KeyError(unknown("spout that rows are sent from", spout, self._fed))
        component = self._source(spout).slot.host.component
        assert isinstance(component, FedRows)
        return component

    def _declared(self, component: str) -> list[str]:
        return [stream for name, stream in self._streams if name == component]

    def _check(self, component: str, stream: str) -> None:
        names = [c.id for c in self._stage.plan.topology.components if (c.id, stream) in self._streams]
        declared = self._declared(component)
        if component not in self._stage.plan.confs:
            raise KeyError(unknown("component", component, names))
        if stream not in declared:
            raise KeyError(f"component {component!r}: {unknown('stream', stream, declared)}")


def read_state(
    slots: Sequence[ComponentSlot], name: str, key: tuple[Any, ...], now: Callable[[], int]
) -> Any:
    """Return the state of a key, from the tasks of a bolt.

    Args:
        slots: those of its tasks.
        name: the attribute of the state.
        key: the values that name the key; none for state of a task, which is then that of the first task.
        now: returns the time in microseconds, by which keys with a time to live expire.

    Returns:
        The value; a list or a dictionary of a state that holds several.

    Raises:
        KeyError: no state of that name is declared.
        TypeError: a key is missing, or there is one and the state has none.
    """
    component: Any = slots[0].host.component if slots else None
    declared = declared_states(type(component))
    if name not in declared:
        raise KeyError(unknown("state", name, declared))
    state = declared[name]
    if state.per == "key" and not key:
        raise TypeError(f"state {name!r} is of a key: give the values of the key's fields")
    if state.per == "task" and key:
        raise TypeError(f"state {name!r} is of a task, and has no key: found {key!r}")
    for slot in slots:
        assert slot.state is not None
        with slot.state.at_time(now, {} if state.ttl is None else {name: state.ttl}):
            found = _read(slot.state, slot.host.component, state, name, key)
        if found is not None:
            return found[0]
    raise LookupError(f"no task owns the key {key!r}")


def _read(
    of_task: TaskState, component: Any, state: State, name: str, key: tuple[Any, ...]
) -> tuple[Any] | None:
    """Return the state that one task has; None if another one owns the key."""
    if state.per == "task":
        return (_plain(state, getattr(component, name)),)
    of_task.scope.enter(key, tuple(range(len(key))))
    try:
        return (_plain(state, getattr(component, name)),) if of_task.owns_key() else None
    finally:
        of_task.scope.leave()


def _plain(state: State, handle: Any) -> Any:
    if isinstance(state, TableState):
        return {column: getattr(handle, column) for column in state.columns}
    if state.kind == "map":
        return dict(handle.items())
    return handle.get() if state.kind == "list" else handle.value
