"""The logical topology: what every front end makes and everything after it reads.

Frozen values only. Parallelism is resolved, arguments are plain data, classes are
names; nothing here imports user code or knows which front end was used.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from framework.model.topology.grouping import Grouping
from framework.model.topology.objects import Bean, ObjectDef
from framework.model.topology.places import SourceMap
from framework.model.topology.stream import DEFAULT_STREAM, Stream


class Role(enum.StrEnum):
    """The roles of components in a topology."""

    SPOUT = "spout"
    BOLT = "bolt"


@dataclass(frozen=True, slots=True)
class PythonImplementation:
    """A Python class: ours, streamparse's or a built-in stand-in."""

    definition: ObjectDef


@dataclass(frozen=True, slots=True)
class ShellImplementation:
    """A program in any language that speaks Storm's multilang protocol."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables beside those of its worker; a ``PATH`` is put behind the worker's."""
    stays: bool = False
    """True if it runs in the working directory of its worker, and not where its script is."""


@dataclass(frozen=True, slots=True)
class JavaImplementation:
    """A Java class: it loads, validates and draws, and is refused at run."""

    definition: ObjectDef


Implementation = PythonImplementation | ShellImplementation | JavaImplementation


@dataclass(frozen=True, slots=True)
class Input:
    """One subscription of a bolt."""

    source: str
    """Id of the component that emits."""
    grouping: Grouping
    stream: str = DEFAULT_STREAM
    """Name of its stream."""


@dataclass(frozen=True, slots=True)
class ComponentSpec:
    """A spout or bolt of a topology."""

    id: str
    role: Role
    implementation: Implementation
    outputs: tuple[Stream, ...] | None = ()
    """Declared streams; None where they cannot be known (a Java class)."""
    inputs: tuple[Input, ...] = ()
    parallelism: int = 1
    """Storm's parallelism hint; the number of tasks unless ``tasks`` says otherwise."""
    tasks: int | None = None
    """Number of tasks (Flux ``numTasks``)."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """The component's own configuration, over the topology's."""
    resources: Mapping[str, float] = field(default_factory=dict)
    """Flux's ``onHeapMemoryLoad``, ``offHeapMemoryLoad``, ``cpuLoad``; kept, without effect here."""

    def stream(self, name: str) -> Stream | None:
        """The declared stream of that name, or None."""
        return next((stream for stream in self.outputs or () if stream.name == name), None)


@dataclass(frozen=True, slots=True)
class Topology:
    """A whole topology as it was declared.

    Two topologies are equal when they say the same; places and import paths,
    which depend on where a topology was loaded from, do not count.
    """

    name: str
    components: tuple[ComponentSpec, ...]
    """In the order of their definition."""
    config: Mapping[str, Any] = field(default_factory=dict)
    beans: tuple[Bean, ...] = ()
    worker_hooks: tuple[Bean, ...] = ()
    """Flux's ``workerHooks``; Java-only, kept so that nothing is lost when printed."""
    sources: SourceMap = field(default_factory=SourceMap, compare=False, repr=False)
    import_paths: tuple[str, ...] = field(default=(), compare=False)
    """Folders that user code is imported from, in front of ``sys.path``."""

    def component(self, component_id: str) -> ComponentSpec:
        """The component of that id.

        Raises:
            KeyError: there is none.
        """
        for component in self.components:
            if component.id == component_id:
                return component
        raise KeyError(component_id)

    @property
    def spouts(self) -> tuple[ComponentSpec, ...]:
        """All spouts, in order of definition."""
        return tuple(c for c in self.components if c.role is Role.SPOUT)

    @property
    def bolts(self) -> tuple[ComponentSpec, ...]:
        """All bolts, in order of definition."""
        return tuple(c for c in self.components if c.role is Role.BOLT)
