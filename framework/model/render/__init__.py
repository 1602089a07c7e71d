"""Pictures of topologies: one value that says what is drawn, and a writer for each format."""

from framework.model.render.graphviz import RenderError, to_dot, to_svg
from framework.model.render.mermaid import to_mermaid
from framework.model.render.model import (
    Kind,
    RenderedEdge,
    RenderedNode,
    RenderedTopology,
    in_words,
    rendered,
    to_json,
)

__all__ = [
    "Kind",
    "RenderError",
    "RenderedEdge",
    "RenderedNode",
    "RenderedTopology",
    "in_words",
    "rendered",
    "to_dot",
    "to_json",
    "to_mermaid",
    "to_svg",
]
