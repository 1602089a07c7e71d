"""Pictures of topologies: one value that says what is drawn, and a writer for each format."""

from __future__ import annotations

import enum
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from framework.model.errors import ViperError
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
    """True if it closes a cycle."""

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


_BRACKETS = {
    Kind.SHELL: ("[[", "]]"),
    Kind.JAVA: ("{{", "}}"),
    Kind.OUTSIDE: (">", "]"),
}
_PYTHON_BRACKETS = {Role.SPOUT: ("([", "])"), Role.BOLT: ("[", "]")}

_ENTITIES = str.maketrans({character: f"#{ord(character)};" for character in '"#&<>`\\'})
"""Characters with a meaning inside a quoted Mermaid text, and the numbers that stand for them."""


def to_mermaid(topology: RenderedTopology) -> str:
    """A flowchart from left to right; feedback edges are dotted."""
    return "\n".join(_mermaid_lines(topology)) + "\n"


def _mermaid_lines(topology: RenderedTopology) -> Iterator[str]:
    # The front matter is YAML, of which JSON's strings are a part.
    yield from ("---", f"title: {json.dumps(topology.name, ensure_ascii=False)}", "---", "flowchart LR")
    keys = topology.keys()
    for node in topology.nodes:
        yield f"    {keys[node.id]}{_shape(node)}"
    for edge in topology.edges:
        yield f"    {keys[edge.source]} {_arrow(edge)} {keys[edge.target]}"


def _shape(node: RenderedNode) -> str:
    begin, end = _PYTHON_BRACKETS[node.role] if node.kind is Kind.PYTHON else _BRACKETS[node.kind]
    texts = (_escaped(text) for text in (node.id, node.caption) if text)
    return f'{begin}"{"<br/>".join(texts)}"{end}'


def _arrow(edge: RenderedEdge) -> str:
    return f'{"-.->" if edge.feedback else "-->"}|"{_escaped(edge.caption)}"|'


def _escaped(text: str) -> str:
    return " ".join(text.split()).translate(_ENTITIES)


_SHAPES = {Kind.SHELL: "component", Kind.JAVA: "hexagon", Kind.OUTSIDE: "cds"}
_PYTHON_SHAPES = {Role.SPOUT: "ellipse", Role.BOLT: "box"}


def to_dot(topology: RenderedTopology) -> str:
    """A directed graph from left to right; feedback edges are dashed."""
    return "\n".join(_dot_lines(topology)) + "\n"


def _dot_lines(topology: RenderedTopology) -> Iterator[str]:
    yield f"digraph {_quoted(topology.name)} {{"
    yield "    rankdir=LR;"
    keys = topology.keys()
    for node in topology.nodes:
        yield f"    {keys[node.id]} [{_attributes(node)}];"
    for edge in topology.edges:
        yield f"    {keys[edge.source]} -> {keys[edge.target]} [{_edge_attributes(edge)}];"
    yield "}"


def _attributes(node: RenderedNode) -> str:
    shape = _PYTHON_SHAPES[node.role] if node.kind is Kind.PYTHON else _SHAPES[node.kind]
    return f"label={_quoted(node.id, node.caption)}, shape={shape}"


def _edge_attributes(edge: RenderedEdge) -> str:
    # An edge that counted for the ranks would draw the cycle's components out of their order.
    style = ", style=dashed, constraint=false" if edge.feedback else ""
    return f"label={_quoted(edge.caption)}{style}"


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines if line)
    return '"' + "\\n".join(" ".join(line.split()) for line in escaped) + '"'


class RenderError(ViperError, RuntimeError):
    """A picture that cannot be drawn on this machine."""


def to_svg(topology: RenderedTopology) -> str:
    """The DOT graph as SVG.

    Raises:
        RenderError: Graphviz is not installed, or failed.
    """
    dot = shutil.which("dot")
    if dot is None:
        raise RenderError(
            "SVG is drawn by Graphviz, whose program 'dot' is not on the PATH: install it "
            "(on Debian: apt-get install graphviz), or choose the format mermaid, dot or json"
        )
    drawn = subprocess.run(
        [dot, "-Tsvg"], input=to_dot(topology), capture_output=True, text=True, encoding="utf-8"
    )
    if drawn.returncode != 0:
        raise RenderError(f"{dot} failed with exit code {drawn.returncode}: {drawn.stderr.strip()}")
    return drawn.stdout
