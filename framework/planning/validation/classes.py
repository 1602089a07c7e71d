"""Classes: a spout's is a spout, a bolt's is a bolt, and each defines what will be called.

Only classes that a front end holds are looked at; one that could not be imported is reported by it.
"""

from __future__ import annotations

from collections.abc import Iterator

from framework.model.importing import looks_like_java
from framework.model.topology import (
    ComponentSpec,
    ObjectDef,
    Problem,
    Role,
    Topology,
    about,
)
from framework.operators.components import PartitionedSpout
from framework.planning.traits import base_classes, held_class, overrides


def check_classes(topology: Topology) -> Iterator[Problem]:
    """Every class that is held fits its role, and overrides what its base leaves open."""
    for component in topology.components:
        cls = held_class(component)
        if cls is not None:
            complaint = (
                _wrong_role(component, cls)
                or _nothing_defined(component, cls)
                or _direct_blocks(component, cls)
            )
            if complaint:
                yield about(topology, component, f"is implemented by {cls.__name__}, which {complaint}")


def is_java(definition: ObjectDef) -> bool:
    """True if a definition names a Java class that nothing here stands in for."""
    return definition.cls is None and looks_like_java(definition.class_name)


def _wrong_role(component: ComponentSpec, cls: type) -> str | None:
    expected, other = ("Spout", "Bolt") if component.role is Role.SPOUT else ("Bolt", "Spout")
    if issubclass(cls, base_classes(expected)):
        return None
    found = f"is a {other}" if issubclass(cls, base_classes(other)) else "is none"
    return f"{found}: expected a subclass of viperstorm.{expected} or of streamparse's"


def _direct_blocks(component: ComponentSpec, cls: type) -> str | None:
    direct = [stream.name for stream in component.outputs or () if stream.direct]
    if not issubclass(cls, PartitionedSpout) or not direct:
        return None
    return f"brings partitions, and nobody names a task for their rows: found direct {', '.join(direct)}"


def _nothing_defined(component: ComponentSpec, cls: type) -> str | None:
    if issubclass(cls, PartitionedSpout):
        wanted = "partitions", "blocks_from" if cls.has_offsets() else "blocks"
        missing = [name for name in wanted if not overrides(cls, name, (PartitionedSpout,))]
        return f"does not define {' and '.join(missing)}" if missing else None
    if component.role is Role.SPOUT:
        methods, bases = ("next_tuple", "tuples"), base_classes("Spout")
    elif issubclass(cls, base_classes("BatchingBolt")):
        methods, bases = ("process_batch", "process"), base_classes("BatchingBolt")
    else:
        methods, bases = ("process", "process_tick"), base_classes("Bolt")
    if any(overrides(cls, method, bases) for method in methods):
        return None
    return f"does not define {' or '.join(methods)}"
