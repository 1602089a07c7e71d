"""Traits of components: what planning and running must know of a component's class and configuration.

They are gathered once, when planning starts. The plan carries them, so that nobody asks the class again.
"""

from __future__ import annotations

import enum
import functools
import inspect
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framework.model.errors import LoadError
from framework.model.importing import import_class
from framework.model.tables import SharedTable, declared_tables
from framework.model.topology import ComponentSpec, PythonImplementation, Role, ShellImplementation
from framework.operators import components
from framework.operators.components import Component, PartitionedSpout, SeekableSpout, Spout
from framework.operators.state import StateSpec, declared_states
from framework.operators.windows.spec import JOIN_HOW


@dataclass(frozen=True, slots=True)
class Callback:
    """A method that the runtime calls, and that does its work only if somebody awaits or iterates it."""

    name: str
    place: str
    """Its file and line."""
    base: str
    """The class of a library that it overrides the method of."""
    is_coroutine: bool
    """True for a coroutine function; otherwise a generator function, whether asynchronous or not."""


class Batching(enum.StrEnum):
    """The event at which a bolt processes the batches that it gathers."""

    NONE = "none"
    """It gathers none."""
    TICKS = "ticks"
    TIMER = "timer"
    """By a timer of its own, which follows the wall clock."""


@dataclass(frozen=True, slots=True)
class Traits:
    """Facts about a component that do not change while it runs."""

    ported: bool = False
    """True if its class derives from streamparse's (pystorm's) bases instead of ours."""
    isolated: bool = False
    """True if each of its tasks gets a process of its own, as on Storm (``viper.isolated``).

    streamparse's components count on that, unless the user says otherwise; ours do not.
    """
    batching: Batching = Batching.NONE
    hears_ticks: bool = False
    """True if it is a bolt that defines ``process_tick``."""
    stateless: bool = False
    """True if it is declared to keep no state (``viper.stateless``)."""
    partitioned: bool = False
    """True if it is a spout that brings partitions."""
    seekable: bool = False
    """True if it is a spout that reports its offset, and can resume there."""
    hears_answers: bool = False
    """True if it is a spout that defines ``ack`` or ``fail``, and so emits tuples with ids."""
    goes_back: bool = False
    """True if its rows go back to the last commit of its task, whatever it declares."""
    is_class_known: bool = False
    """True if it is a Python class that can be imported; else most of these traits are guesses."""
    forgets: bool = False
    """True if it keeps its result in the memory of its process, whatever it declares."""
    event_time: bool = False
    """True if all rows of a spout have event time: its partitions do, or it declares a field for it."""
    bounded: bool | None = None
    """True if a spout is expected to end: the user says so, it brings partitions, or it is a generator spout.

    None if its class is not known.
    """
    windowed: bool = False
    """True if it is a bolt that processes windows."""
    joins: bool = False
    """True if it is a bolt that joins streams."""
    joins_outer: bool = False
    """True if it puts out also tuples that have no partner."""
    key_windows: bool = False
    """True if these are windows by key."""
    derives_keys: bool = False
    """True if it makes the keys of these windows of its tuples itself."""
    window_inputs: int = 1
    """The number of inputs that these windows keep apart."""
    states: tuple[StateSpec, ...] = ()
    """The state that it declares."""
    state_key: tuple[str, ...] = ()
    """The fields that name the key of its state, if it says so itself."""
    tables: tuple[SharedTable, ...] = ()
    """The shared tables that it names, if it is a bolt of ours."""
    unplain: tuple[Callback, ...] = ()
    """Its callbacks that are coroutine functions or generator functions, and no plain functions."""
    kind: str = ""
    """Of a bolt of ours that is more than a `Bolt`, the name of the class that makes it so."""

    @property
    def keyed(self) -> bool:
        """True if it declares state by key."""
        return any(state.per == "key" for state in self.states)


def traits_of(component: ComponentSpec, conf: Mapping[str, Any]) -> Traits:
    """The traits of a component.

    Args:
        component: any component; a program and a Java class have the traits that `conf` gives them.
        conf: its resolved configuration.

    Raises:
        LoadError: its Python class cannot be imported.
    """
    is_python = isinstance(component.implementation, PythonImplementation)
    return _traits(component, conf, class_of(component) if is_python else None)


def known_traits(component: ComponentSpec, conf: Mapping[str, Any]) -> Traits:
    """The traits of a component as far as they can be known without running user code for it.

    The class of a spout is imported where no front end holds it, that of a bolt is not.

    Args:
        component: any component.
        conf: its resolved configuration.
    """
    cls = held_class(component)
    if cls is None and component.role is Role.SPOUT:
        try:
            cls = class_of(component)
        except LoadError:
            cls = None
    return _traits(component, conf, cls)


def _traits(component: ComponentSpec, conf: Mapping[str, Any], cls: type | None) -> Traits:
    ported = cls is not None and is_ported(cls)
    isolated = conf.get("viper.isolated")
    partitioned = cls is not None and issubclass(cls, PartitionedSpout)
    bolt = base_classes("Bolt")
    return Traits(
        ported=ported,
        isolated=ported if isolated is None else bool(isolated),
        batching=Batching.NONE if cls is None else _batching(cls),
        hears_ticks=cls is not None and issubclass(cls, bolt) and overrides(cls, "process_tick", bolt),
        stateless=bool(conf.get("viper.stateless")),
        partitioned=partitioned,
        seekable=cls is not None and issubclass(cls, SeekableSpout),
        hears_answers=cls is not None and _hears_answers(cls),
        goes_back=bool(getattr(cls, "goes_back_with_task", False)),
        is_class_known=cls is not None,
        forgets=bool(getattr(cls, "dies_with_process", False)),
        event_time=partitioned or conf.get("viper.timestamp.field") is not None,
        bounded=_bounded(component, conf, cls),
        joins=_joins(cls),
        joins_outer=_joins(cls) and conf.get(JOIN_HOW, "inner") != "inner",
        windowed=cls is not None and issubclass(cls, components.WindowedBolt | components.OPlus),
        key_windows=cls is not None and issubclass(cls, components.OPlus),
        derives_keys=cls is not None and issubclass(cls, components.OPlus) and cls.derives_keys,
        window_inputs=cls.inputs if cls is not None and issubclass(cls, components.OPlus) else 1,
        states=() if cls is None else _states(conf, cls),
        state_key=_state_key(conf, cls),
        tables=() if cls is None or not issubclass(cls, components.Bolt) else _tables(conf, cls),
        unplain=() if cls is None else unplain_callbacks(cls),
        kind="" if cls is None else _kind(cls),
    )


_NEVER_GENERATORS = frozenset(
    (
        *("process", "process_tick", "process_result", "process_rows", "process_batch", "next_tuple"),
        *("initialize", "activate", "deactivate", "ack", "fail", "cleanup", "close"),
    )
)
"""Callbacks whose result nobody iterates."""
_LIBRARIES = ("framework", "pystorm", "streamparse")


def unplain_callbacks(cls: type) -> tuple[Callback, ...]:
    """The methods of a user's class that override such of ours or of streamparse's, and do nothing when they
    are called: coroutine functions, and generator functions where nobody iterates."""
    found = []
    own = (base for base in cls.__mro__ if not (base is object or _is_of_library(base)))
    for name in dict.fromkeys(name for base in own for name in vars(base)):
        function = _function(cls, name)
        is_coroutine = inspect.iscoroutinefunction(function)
        is_generator = inspect.isasyncgenfunction(function) or (
            name in _NEVER_GENERATORS and inspect.isgeneratorfunction(function)
        )
        base = _library_class(cls, name) if is_coroutine or is_generator else None
        if base is not None and not _is_of_library(function):
            code = inspect.unwrap(function).__code__
            place = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
            found.append(Callback(name, place, base.__name__, is_coroutine))
    return tuple(found)


def _function(cls: type, name: str) -> Any:
    """The function that a class has by a name, without running any code of the class's."""
    found = inspect.getattr_static(cls, name, None)
    found = getattr(found, "__func__", found)  # of a static or class method
    while isinstance(found, functools.partial | functools.partialmethod):
        found = found.func
    return found


def _library_class(cls: type, name: str) -> type | None:
    """The class of a library that says what a method is for."""
    return next((base for base in cls.__mro__ if name in vars(base) and _is_of_library(base)), None)


def _is_of_library(owner: Any) -> bool:
    return str(owner.__module__).partition(".")[0] in _LIBRARIES


def _kind(cls: type) -> str:
    bolt = components.Bolt
    kinds = (base for base in cls.__mro__ if issubclass(base, bolt) and _is_of_library(base))
    return next((base.__name__ for base in kinds if base is not bolt), "")


def _tables(conf: Mapping[str, Any], cls: type) -> tuple[SharedTable, ...]:
    options = conf.get("viper.tables") or {}
    return tuple(table.with_options(options.get(table.table_name, {})) for table in declared_tables(cls))


def _joins(cls: type | None) -> bool:
    return cls is not None and issubclass(cls, components.JoinBolt)


def _hears_answers(cls: type) -> bool:
    bases = base_classes("Spout")
    return issubclass(cls, bases) and any(overrides(cls, name, bases) for name in ("ack", "fail"))


def _states(conf: Mapping[str, Any], cls: type) -> tuple[StateSpec, ...]:
    return tuple(state.spec for state in declared_states(cls).values() if state.is_kept(conf))


def _state_key(conf: Mapping[str, Any], cls: type | None) -> tuple[str, ...]:
    found = conf.get("viper.state.key") or getattr(cls, "state_key", None) or ()
    return (found,) if isinstance(found, str) else tuple(found)


def _batching(cls: type) -> Batching:
    if issubclass(cls, base_classes("TicklessBatchingBolt")):
        return Batching.TIMER
    return Batching.TICKS if issubclass(cls, base_classes("BatchingBolt")) else Batching.NONE


def _bounded(component: ComponentSpec, conf: Mapping[str, Any], cls: type | None) -> bool | None:
    configured = conf.get("viper.spout.bounded")
    if configured is not None or isinstance(component.implementation, ShellImplementation):
        return bool(configured)
    return None if cls is None else is_generator_spout(cls) or issubclass(cls, PartitionedSpout)


def class_of(component: ComponentSpec) -> type:
    """The Python class that implements a component.

    Raises:
        LoadError: it cannot be imported, or the component is no Python component.
    """
    if not isinstance(component.implementation, PythonImplementation):
        raise LoadError(f"component {component.id!r} is not implemented by a Python class")
    definition = component.implementation.definition
    return definition.cls or import_class(definition.class_name)


def held_class(component: ComponentSpec) -> type | None:
    """The class of a component where a front end holds it; None for a component that a factory makes."""
    if not isinstance(component.implementation, PythonImplementation):
        return None
    definition = component.implementation.definition
    return definition.cls if definition.factory is None else None


def is_ported(cls: type) -> bool:
    """True if a class derives from streamparse's (pystorm's) bases instead of ours."""
    pystorm = sys.modules.get("pystorm.component")
    return pystorm is not None and issubclass(cls, pystorm.Component) and not issubclass(cls, Component)


def is_restarted_by_storm(component: ComponentSpec) -> bool:
    """True if a component is a process of its own on Storm, which starts it again whenever it ends."""
    if isinstance(component.implementation, ShellImplementation):
        return True
    try:
        return is_ported(class_of(component))
    except LoadError:
        return False


def is_generator_spout(cls: type) -> bool:
    """True if a spout of ours defines the generator ``tuples``."""
    return issubclass(cls, Spout) and cls.tuples is not Spout.tuples


def base_classes(name: str) -> tuple[type, ...]:
    """Our base class of that name, and pystorm's if a topology has imported it."""
    module = sys.modules.get("pystorm")
    ported = (getattr(module, name),) if module is not None else ()
    return (getattr(components, name), *ported)


def overrides(cls: type, method: str, bases: tuple[type, ...]) -> bool:
    """True if a class defines a method differently from those of the bases that it derives from."""
    inherited = [getattr(base, method, None) for base in bases if issubclass(cls, base)]
    return all(getattr(cls, method, None) is not found for found in inherited)
