"""Taps: sinks that watch a stream of a topology from outside."""

from __future__ import annotations

from dataclasses import replace

from framework.model.errors import TopologyError
from framework.model.topology import (
    DEFAULT_STREAM,
    Argument,
    ComponentSpec,
    Grouping,
    Input,
    ObjectDef,
    Problem,
    PythonImplementation,
    Role,
    Topology,
    class_path,
    unknown,
)
from framework.model.topology.graph import SYSTEM_PREFIX
from framework.operators.sinks import Sink

_TAP = f"{SYSTEM_PREFIX}tap "
_ONLOOKER = f"{_TAP}looking on: "


def tap_id(component: str, stream: str = DEFAULT_STREAM, *, looks_on: bool = False) -> str:
    """Id of the sink that `tapped` adds for a stream; no user's component has such an id."""
    return f"{_ONLOOKER if looks_on else _TAP}{component}/{stream}"


def is_tap(component: str) -> bool:
    """True if the component of an id was added by `tapped`, and so is none of the user's."""
    return component.startswith(_TAP)


def looks_on(component: str) -> bool:
    """True if the component of an id was added by `tapped`, and takes tuples of any number of values."""
    return component.startswith(_ONLOOKER)


def tapped(
    topology: Topology,
    component: str,
    sink: type[Sink],
    stream: str = DEFAULT_STREAM,
    *,
    looks_on: bool = False,
    **arguments: Argument,
) -> Topology:
    """The same topology with one more sink, which gets everything that a component emits on a stream.

    The topology must have been validated before, because a tap also reads direct streams as a whole, which
    no user's bolt may do. Components notice nothing, except that ``need_task_ids`` returns one id more.

    Args:
        topology: a valid one.
        component: id of the component to be watched.
        sink: class of the sink; it gets a single task.
        stream: which of the component's streams.
        looks_on: whether values are not counted against the stream's fields for the sink's sake, where nobody
            else subscribes to the stream; for streams without a schema.
        **arguments: of the sink's constructor, plain values.

    Raises:
        TopologyError: there is no such component or stream.
    """
    _check(topology, component, stream)
    tap = ComponentSpec(
        tap_id(component, stream, looks_on=looks_on),
        Role.BOLT,
        PythonImplementation(ObjectDef(class_path(sink), kwargs=arguments, cls=sink)),
        inputs=(Input(component, Grouping.GLOBAL, stream),),
        config={"viper.mutates": False},
    )
    return replace(topology, components=(*topology.components, tap))


def _check(topology: Topology, component: str, stream: str) -> None:
    streams = {c.id: [s.name for s in c.outputs or ()] for c in topology.components}
    if component not in streams:
        raise TopologyError([Problem(topology.sources.at(), unknown("component", component, streams))])
    if stream not in streams[component]:
        message = f"component {component!r}: {unknown('stream', stream, streams[component])}"
        raise TopologyError([Problem(topology.sources.at("components", component), message)])
