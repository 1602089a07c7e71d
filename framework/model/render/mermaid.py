"""Mermaid flowcharts."""

from __future__ import annotations

import json
from collections.abc import Iterator

from framework.model.render.model import Kind, RenderedEdge, RenderedNode, RenderedTopology
from framework.model.topology import Role

_SHAPES = {
    Kind.SHELL: ("[[", "]]"),
    Kind.JAVA: ("{{", "}}"),
    Kind.OUTSIDE: (">", "]"),
}
_PYTHON_SHAPES = {Role.SPOUT: ("([", "])"), Role.BOLT: ("[", "]")}

_ENTITIES = str.maketrans({character: f"#{ord(character)};" for character in '"#&<>`\\'})
"""Characters with a meaning inside a quoted Mermaid text, and the numbers that stand for them."""


def to_mermaid(topology: RenderedTopology) -> str:
    """A flowchart from left to right; feedback edges are dotted."""
    return "\n".join(_lines(topology)) + "\n"


def _lines(topology: RenderedTopology) -> Iterator[str]:
    # The front matter is YAML, of which JSON's strings are a part.
    yield from ("---", f"title: {json.dumps(topology.name, ensure_ascii=False)}", "---", "flowchart LR")
    keys = topology.keys()
    for node in topology.nodes:
        yield f"    {keys[node.id]}{_shape(node)}"
    for edge in topology.edges:
        yield f"    {keys[edge.source]} {_arrow(edge)} {keys[edge.target]}"


def _shape(node: RenderedNode) -> str:
    begin, end = _PYTHON_SHAPES[node.role] if node.kind is Kind.PYTHON else _SHAPES[node.kind]
    texts = (_escaped(text) for text in (node.id, node.caption) if text)
    return f'{begin}"{"<br/>".join(texts)}"{end}'


def _arrow(edge: RenderedEdge) -> str:
    return f'{"-.->" if edge.feedback else "-->"}|"{_escaped(edge.caption)}"|'


def _escaped(text: str) -> str:
    return " ".join(text.split()).translate(_ENTITIES)
