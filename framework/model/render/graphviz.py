"""DOT graphs, and the SVG that Graphviz draws of them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

from framework.model.errors import ViperError
from framework.model.render.model import Kind, RenderedEdge, RenderedNode, RenderedTopology
from framework.model.topology import Role

_SHAPES = {Kind.SHELL: "component", Kind.JAVA: "hexagon", Kind.OUTSIDE: "cds"}
_PYTHON_SHAPES = {Role.SPOUT: "ellipse", Role.BOLT: "box"}


def to_dot(topology: RenderedTopology) -> str:
    """A directed graph from left to right; feedback edges are dashed."""
    return "\n".join(_lines(topology)) + "\n"


def _lines(topology: RenderedTopology) -> Iterator[str]:
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
