"""The host of a component that is derived from our base classes: all calls that the runtime makes on it."""

from __future__ import annotations

import logging
import os
from array import array
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

from framework.operators.components import (
    APlus,
    Bolt,
    JoinBolt,
    OPlus,
    Spout,
    StatefulBolt,
    TicklessBatchingBolt,
    Tuple,
    WindowedBolt,
)
from framework.operators.components.batch_bolt import BatchBolt
from framework.operators.components.batching import BatchingBolt
from framework.operators.components.collector import EmitResult
from framework.operators.windows.due import Due, DueByGroup
from framework.operators.windows.key_state import OpenKeyWindows
from framework.operators.windows.stretches import WindowAdder
from framework.planning.traits import is_generator_spout
from framework.runtime.exchange.collector import TaskCollector
from framework.runtime.tasks.hosts.user_errors import TRIES, OnError

MOST_NOTICED = 1000
"""Most ticks in a row that a bolt gets without input between them: by then all its windows have passed."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The facts that a component learns about itself before `initialize`."""

    topology: str
    component: str
    task: int
    conf: dict[str, Any]
    context: dict[str, Any]
    logger: logging.Logger


_ANSWERED = (WindowedBolt, OPlus, JoinBolt, StatefulBolt)
"""Bolts that pystorm does not have. The runtime answers for their tuples, whatever the class defines."""


def owner_of(cls: type, name: str) -> str:
    """The module of the class that a class has a method from; empty if it has none."""
    return next((base.__module__ for base in cls.__mro__ if name in vars(base)), "")


_MISSING: Any = object()


def own_attribute(instance: object, name: str, default: Any = None) -> Any:
    """The value of an attribute that an instance itself has, and not its class; no code of its class runs.

    `vars` would make CPython before 3.13 put the instance's attributes into a dictionary, where they stay.
    Its interpreter then takes 17 ns for each access to one of them, and 2 without. So nobody asks a component
    for `vars` that is going to process tuples.

    Args:
        instance: any object with attributes.
        name: of the attribute.
        default: the value if the instance has none of that name.
    """
    of_class = next((vars(base)[name] for base in type(instance).__mro__ if name in vars(base)), _MISSING)
    is_function = isinstance(of_class, FunctionType)
    if not is_function and hasattr(type(of_class), "__get__"):  # which may be a property
        return getattr(instance, "__dict__", {}).get(name, default)
    try:
        found = object.__getattribute__(instance, name)
    except AttributeError:
        return default
    inherited = of_class.__get__(instance, type(instance)) if is_function else of_class
    return default if found is inherited or (is_function and found == inherited) else found


class Host:
    """Drives a component that is derived from our base classes; hosts of other components derive from it.

    Hooks are looked up on the component's class, because an instance of the user's may have properties that
    raise before `initialize`, and attributes of its own under any name.
    """

    record: type[tuple[Any, ...]] = Tuple
    """The class of the tuples that the component receives."""
    on_error = OnError.STOP
    """The reaction when the component raises, where the configuration leaves that open."""
    computes_here = True
    """True if the component computes in its task's thread."""
    restart_tries: int | None = TRIES
    """Restarts of the component within a window, where the configuration leaves that open; None for any
    number."""
    _answering: tuple[str, ...] = ("ack", "fail")
    """Methods of a bolt that the runtime calls for its answers where a class has them of its own."""
    _base_bolt: type[Any] = Bolt

    def __init__(self, component: Any) -> None:
        self.component = component
        self.cls: type[Any] = type(component)
        self.takes_rows = issubclass(self.cls, BatchBolt)
        """True if the component receives many tuples in one call."""
        self.keeps_columns = not self.takes_rows or bool(self.cls.keeps_columns)
        """True if the component may keep the columns that it receives."""
        self._gathers = issubclass(self.cls, BatchingBolt)
        self._is_stateful = issubclass(self.cls, StatefulBolt)
        self.is_windowed = issubclass(self.cls, WindowedBolt)
        """True if the component processes windows of tuples."""
        self.joins = issubclass(self.cls, JoinBolt)
        """True if the component joins streams."""
        self.has_key_windows = issubclass(self.cls, OPlus)
        """True if the component keeps windows by key."""
        self.aggregates = issubclass(self.cls, APlus)
        """True if it aggregates their tuples, and so may take columns of them."""
        self.answers_by_methods = self._overrides(*self._answering)
        """True if the class has an `ack` or a `fail` of its own, which is called as pystorm calls it."""
        self._opened: Set[str] = frozenset()
        """The attributes of the component that its windows or batches are."""

    @property
    def takes_payloads(self) -> bool:
        """True if columns are to reach the component as they are."""
        return self.takes_rows or self.aggregates

    def bind(self, collector: TaskCollector, identity: Identity) -> None:
        """Connect the component to its task."""
        self._connect(collector, collector.outbox.emit)
        self.tell(identity)

    def _connect(self, collector: Any, emit: Callable[..., EmitResult]) -> None:
        """Have a collector take what the component does; `emit` is the fastest way to it."""
        component = self.component
        component._collector = collector
        if self.cls.emit in (Bolt.emit, Spout.emit):
            component.emit = emit

    def initialized(self, collector: TaskCollector) -> None:
        """Adapt the component's `emit` after its `initialize`, which may have changed how it anchors."""
        if self.is_bolt and not self.anchors_itself:
            self.component.emit = collector.emit if self.cls.emit is Bolt.emit else self.component.emit

    def unbind(self, collector: TaskCollector) -> None:
        """Have the collector check every emit from now on, because the component may have been closed."""
        self.component.emit = collector.emit

    def let_go(self) -> None:
        """Take away from the component what `initialize` has given it for the run, and refers to it."""
        for name in self._opened:
            vars(self.component).pop(name, None)

    def tell(self, identity: Identity) -> None:
        """Set the attributes that streamparse's components have."""
        component = self.component
        component.topology_name = identity.topology
        component.component_name = identity.component
        component.task_id = identity.task
        component.storm_conf = identity.conf
        component.context = identity.context
        component.debug = bool(identity.conf.get("topology.debug"))
        component.logger = identity.logger
        component.pid = os.getpid()

    def initialize(self, identity: Identity) -> None:
        """Call the component's `initialize`; a windowed bolt has its windows by then, a batching one its
        batches, and a stateful one gets its state."""
        if self._gathers or self.is_windowed or self.has_key_windows:
            self._open(identity)
        self.component.initialize(identity.conf, identity.context)
        self.answers_by_methods |= self._has_replaced(*self._answering)
        if self._is_stateful:
            self.component.init_state(self.component.key_values)

    def _open(self, identity: Identity) -> None:
        before = set(vars(self.component))
        if self._gathers:
            self.component._open_batches()
        if self.is_windowed:
            self.component._open_windows(identity.conf)
        if self.has_key_windows:
            self.component._open_windows(identity.conf, identity.context)
        self._opened = vars(self.component).keys() - before

    def take_distances(self) -> array[int] | None:
        """Return and forget the distances of a join's last outputs (`JoinBolt`); None where outputs are
        counted."""
        told: array[int] | None = self.component._take_distances()
        return told

    def roll_back(self) -> None:
        """Inform a stateful bolt that its state is about to go back."""
        if self._is_stateful:
            self.component.pre_rollback()

    def _overrides(self, *names: str) -> bool:
        """True if it is a bolt whose class defines any of these methods itself.

        Methods that the library defines in between, as `BatchingBolt` does, do not count.
        """
        library = self._base_bolt.__module__.partition(".")[0]
        own = (name for name in names if owner_of(self.cls, name).partition(".")[0] != library)
        return self._is_as_in_pystorm and any(own)

    @property
    def _is_as_in_pystorm(self) -> bool:
        """True if it is a bolt of a kind that pystorm has, whose answer follows when it was processed."""
        is_bolt = issubclass(self.cls, self._base_bolt) and not issubclass(self.cls, _ANSWERED)
        has_tables = issubclass(self.cls, Bolt) and bool(self.cls.tables)
        return is_bolt and not self.takes_rows and not has_tables

    def _has_replaced(self, *names: str) -> bool:
        """True if a bolt has replaced any of these methods by an attribute of its own."""
        return self._is_as_in_pystorm and any(callable(own_attribute(self.component, name)) for name in names)

    @property
    def process(self) -> Any:
        """The component's `process`; of one that takes batches its `process_rows`."""
        if self.takes_rows:
            return self.component.process_rows
        return self._process_and_ack if self.answers_by_methods else self.component.process

    def _process_and_ack(self, tup: Any) -> None:
        component = self.component
        component.process(tup)
        if component.auto_ack and not self.is_batching:
            component.ack(tup)

    def tick(self, tup: Any) -> None:
        """Give the component a tick, and ack it as pystorm does where the class has an `ack` of its own."""
        component = self.component
        if self.answers_by_methods and self.is_batching:
            component.ack(tup)  # "immediately, since it's just responsible for counter"
        component.process_tick(tup)
        if self.answers_by_methods and not self.is_batching and component.auto_ack:
            component.ack(tup)

    def raised(self, error: BaseException, tup: Any) -> None:
        """Let the component do what pystorm's `_handle_run_exception` would let it do about its exception.

        It has been reported.

        Args:
            error: the exception.
            tup: the tuple in process; None if there was none, or several.
        """
        component = self.component
        if owner_of(self.cls, "raise_exception") != owner_of(Bolt, "raise_exception"):
            tuples = component._current_tups if self._gathers else tup
            component.raise_exception(error, *([] if tuples is None else [tuples]))
        if self.answers_by_methods and not self.is_batching and tup is not None and component.auto_fail:
            component.fail(tup)

    @property
    def is_bolt(self) -> bool:
        """True if the component receives tuples."""
        return issubclass(self.cls, Bolt)

    @property
    def answers_itself(self) -> bool:
        """True if the component acks its tuples itself, so that the runtime must not."""
        return not self.takes_rows and (
            self.is_batching or self.answers_by_methods or not self.component.auto_ack
        )

    @property
    def anchors_itself(self) -> bool:
        """True if an emit without anchors is anchored to the tuple in process."""
        return bool(self.component.auto_anchor)

    @property
    def fails_itself(self) -> bool:
        """True if a tuple fails by itself when `process` raises for it."""
        return bool(self.component.auto_fail) and not self.answers_by_methods

    @property
    def gathered(self) -> int:
        """The number of tuples in the batches of a component that gathers batches; 0 for any other."""
        return sum(map(len, self.component._batches.values())) if self.is_batching else 0

    @property
    def keeps_batches(self) -> bool:
        """True if the batches of a component outlive it, as declared state."""
        return self._gathers and bool(self.component._keeps_batches)

    @property
    def is_batching(self) -> bool:
        """True if the component gathers batches."""
        return self._gathers

    @property
    def batch_seconds(self) -> float | None:
        """Seconds between two batches for a component that processes them by a timer; None for any other."""
        return (
            float(self.component.secs_between_batches) if issubclass(self.cls, TicklessBatchingBolt) else None
        )

    @property
    def noticeable_ticks(self) -> int:
        """The number of ticks in a row, without input between them, that can affect the component."""
        if not self.is_batching:
            return MOST_NOTICED
        # So many ticks until the gathered batch is processed, and as many until a next one would be at once.
        return 2 * (int(self.component.ticks_between_batches) + 1)

    def fire_batches(self) -> None:
        """Have a batching component process the tuples that it has gathered."""
        if self.component._batches:
            self.component.process_batches()

    def fire_rest(self) -> None:
        """Have a windowed bolt process what is left at the end of all."""
        self.component._fire_rest()

    @property
    def key_windows(self) -> OpenKeyWindows:
        """The windows of a component that keeps such by key; once it has been initialized."""
        found: OpenKeyWindows = self.component.window_state
        return found

    def window_adder(self, *, of_columns: bool) -> WindowAdder | None:
        """The adder of columns or of rows into the windows of a component that aggregates, if it has one."""
        found: WindowAdder | None = self.component._window_adder(of_columns=of_columns)
        return found

    @property
    def has_dues(self) -> bool:
        """True if the component has work that is due at times."""
        if self.joins:
            return bool(self.component.search.how != "inner")
        if self.is_windowed:
            return bool(self.component.window_contents.spec.is_timed)
        return self.has_key_windows and self.key_windows.spec.is_timed

    @property
    def fires_by_group(self) -> bool:
        """True if the component puts out what is left at the end of all by key group."""
        return self.has_key_windows or (self.joins and self.has_dues)

    @property
    def dues(self) -> DueByGroup:
        """The work that is due: windows, or the tuples of a join that find no partner."""
        if self.is_windowed:
            found: DueByGroup = self.component.window_contents
        else:
            found = self.component.joined if self.joins else self.key_windows
        return found

    def take_due(self, due: Due, most: int | None = None) -> Iterator[Callable[[], None]]:
        """The function to call for each of the windows that are due; once, where nothing is ever taken back.

        They are due no more. Of more windows than `most` the others stay due.
        """
        if self.is_windowed:
            yield partial(self.component._fire_to, due.end_us)
            return
        if self.joins:
            yield partial(self.component._emit_alone, self.component.joined.unmatched.take(due))
            return
        windows, component = self.key_windows, self.component
        if not (windows.takes_back or windows.lateness_us):
            taken = windows.take(due, most)
            if taken:
                yield partial(component._fire_all, taken)
            return
        for kept, window in windows.take(due, most):
            windows.close(kept, window)
            yield partial(component._fire, kept, window)

    @property
    def leaves_due(self) -> bool:
        """True if `take_due` has left windows that are due."""
        return self.has_key_windows and self.key_windows.leaves_due

    @property
    def is_polled(self) -> bool:
        """True if this is a spout that is asked through `next_tuple`."""
        return issubclass(self.cls, Spout) and not is_generator_spout(self.cls)

    @property
    def survives_errors(self) -> bool:
        """True if the component continues after an exception."""
        return not self.component.exit_on_exception

    def tuples(self) -> Iterator[Any] | None:
        """The generator of a generator spout; None for any other component."""
        return iter(self.component.tuples()) if is_generator_spout(self.cls) else None

    @property
    def waits_for(self) -> str | None:
        """A sentence on whoever is waited for by a callback that takes long; None if that is nobody."""
        return None

    speaks_by_itself = False
    """True if the component emits and answers only while its output is read, as a program does."""

    def take_answers(self) -> None:
        """Take what a component has emitted and answered since, that speaks by itself."""

    def finish(self) -> bool:
        """Inform it that its input is over, and take its last output; return whether it has said all."""
        return True

    def failed_because(self, reason: str) -> None:
        """Give a spout the reason why the tuple has failed for which its `fail` is called next."""
        self.component.failure = reason

    def abandon(self) -> None:
        """Let go of a component that has raised and is replaced, without calling it again."""

    def close(self) -> None:
        """Inform the component that its task has ended."""
        self.component.cleanup()
        self.component.close()
