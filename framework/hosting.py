"""What the planner must know of a component's class: whose base it has, how it brings tuples."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from framework import components
from framework.components import Component, PartitionedSpout, Spout
from framework.errors import LoadError
from framework.importing import import_class
from framework.topology import ComponentSpec, PythonImplementation, ShellImplementation


def class_of(component: ComponentSpec) -> type:
    """The Python class that implements a component.

    Raises:
        LoadError: it cannot be imported, or the component is no Python component.
    """
    if not isinstance(component.implementation, PythonImplementation):
        raise LoadError(f"component {component.id!r} is not implemented by a Python class")
    definition = component.implementation.definition
    return definition.cls or import_class(definition.class_name)


def is_ported(cls: type) -> bool:
    """Whether a class derives from streamparse's (pystorm's) bases instead of ours."""
    pystorm = sys.modules.get("pystorm.component")
    return pystorm is not None and issubclass(cls, pystorm.Component) and not issubclass(cls, Component)


def is_restarted_by_storm(component: ComponentSpec) -> bool:
    """Whether a component is a process of its own on Storm, which starts it again whenever it ends."""
    if isinstance(component.implementation, ShellImplementation):
        return True
    try:
        return is_ported(class_of(component))
    except LoadError:
        return False


def base_classes(name: str) -> tuple[type, ...]:
    """Our base class of that name, and pystorm's if a topology has imported it."""
    module = sys.modules.get("pystorm")
    ported = (getattr(module, name),) if module is not None else ()
    return (getattr(components, name), *ported)


def batches_by_timer(cls: type) -> bool:
    """Whether a bolt gathers batches, and processes them by a timer of its own."""
    return issubclass(cls, base_classes("TicklessBatchingBolt"))


def batches_by_ticks(cls: type) -> bool:
    """Whether a bolt gathers batches, and processes them at ticks."""
    return issubclass(cls, base_classes("BatchingBolt")) and not batches_by_timer(cls)


def is_generator_spout(cls: type) -> bool:
    """Whether a spout of ours defines the generator ``tuples``."""
    return issubclass(cls, Spout) and cls.tuples is not Spout.tuples


def brings_event_time(component: ComponentSpec, conf: Mapping[str, Any]) -> bool:
    """Whether all that a spout brings has event time: its partitions do, or it declares a field for it."""
    return is_partitioned(component) or conf.get("viper.timestamp.field") is not None


def is_partitioned(component: ComponentSpec) -> bool:
    """Whether a component is a spout that brings partitions; not if its class cannot be imported."""
    try:
        return issubclass(class_of(component), PartitionedSpout)
    except LoadError:
        return False


def is_bounded_spout(component: ComponentSpec, conf: Mapping[str, Any]) -> bool:
    """Whether a spout is expected to end by itself: it says so, or it is a generator spout."""
    said = conf.get("viper.spout.bounded")
    if said is not None or isinstance(component.implementation, ShellImplementation):
        return bool(said)
    return is_generator_spout(class_of(component)) or is_partitioned(component)
