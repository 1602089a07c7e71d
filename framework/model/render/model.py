"""The contents of a picture of a topology as values, and these as JSON for programs."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from framework.model.topology import (
    DEFAULT_STREAM,
    ComponentSpec,
    Grouping,
    Implementation,
    PythonImplementation,
    Role,
    ShellImplementation,
    Topology,
)
from framework.model.topology.graph import feedback_edges


class Kind(enum.StrEnum):
    """The kind of a component's implementation; it decides the shape of its node."""

    PYTHON = "Python"
    SHELL = "shell"
    JAVA = "Java"
    OUTSIDE = "outside"
    """Subscribed to but not defined, such as Storm's ``__system``."""


@dataclass(frozen=True, slots=True)
class RenderedNode:
    """A component."""

    id: str
    role: Role
    kind: Kind
    implementation: str
    """The class without its package, or the command; empty for what is outside."""
    parallelism: int

    @property
    def caption(self) -> str:
        """``spout WordSpout x 2``: the text below the id."""
        kind = "" if self.kind is Kind.PYTHON else f"{self.kind} "
        times = f" × {self.parallelism}" if self.parallelism != 1 else ""
        return "" if self.kind is Kind.OUTSIDE else f"{kind}{self.role} {self.implementation}{times}"


@dataclass(frozen=True, slots=True)
class RenderedEdge:
    """A subscription."""

    source: str
    target: str
    stream: str
    grouping: str
    """The grouping in short, e.g. ``fields(word)``."""
    feedback: bool
    """Whether it closes a cycle."""

    @property
    def caption(self) -> str:
        """The stream where it is not the default one, and the grouping."""
        return self.grouping if self.stream == DEFAULT_STREAM else f"{self.stream}: {self.grouping}"


@dataclass(frozen=True, slots=True)
class RenderedTopology:
    """A topology as it is drawn: nodes in order of definition, edges by target."""

    name: str
    nodes: tuple[RenderedNode, ...]
    edges: tuple[RenderedEdge, ...]

    def keys(self) -> dict[str, str]:
        """A plain name for each node's id, for formats in which ids are not free text."""
        return {node.id: f"n{number}" for number, node in enumerate(self.nodes)}


def rendered(topology: Topology) -> RenderedTopology:
    """The contents of the picture of a topology, whether or not the topology could run."""
    feedback = feedback_edges(topology)
    edges = tuple(
        RenderedEdge(i.source, c.id, i.stream, in_words(i.grouping), (i.source, i.stream, c.id) in feedback)
        for c in topology.components
        for i in c.inputs
    )
    nodes = [_node(component) for component in topology.components]
    return RenderedTopology(topology.name, (*nodes, *_outside(topology)), edges)


def to_json(topology: RenderedTopology) -> str:
    """A JSON object with ``name``, ``nodes`` and ``edges``, whose keys are the fields of the values."""
    return json.dumps(asdict(topology), indent=2, ensure_ascii=False) + "\n"


def in_words(grouping: Grouping) -> str:
    """A grouping in short: ``fields(word)``, ``local or shuffle``, ``custom(Nearest)``."""
    words = str(grouping.kind).lower().replace("_", " ")
    if grouping.definition is not None:
        return f"{words}({grouping.definition.class_name.rpartition('.')[2]})"
    return f"{words}({', '.join(grouping.names)})" if grouping.names else words


def _node(component: ComponentSpec) -> RenderedNode:
    kind, implementation = _implementation(component.implementation)
    parallelism = component.tasks or component.parallelism
    return RenderedNode(component.id, component.role, kind, implementation, parallelism)


def _implementation(implementation: Implementation) -> tuple[Kind, str]:
    if isinstance(implementation, ShellImplementation):
        return Kind.SHELL, " ".join(implementation.command)
    name = implementation.definition.class_name.replace(":", ".").rpartition(".")[2]
    return (Kind.PYTHON if isinstance(implementation, PythonImplementation) else Kind.JAVA), name


def _outside(topology: Topology) -> Iterator[RenderedNode]:
    defined = {component.id for component in topology.components}
    sources = dict.fromkeys(i.source for component in topology.components for i in component.inputs)
    for source in sources:
        if source not in defined:
            yield RenderedNode(source, Role.SPOUT, Kind.OUTSIDE, "", 1)
