"""SVG, drawn by Graphviz."""

from __future__ import annotations

import shutil
import subprocess

from framework.errors import ViperError
from framework.render.dot import to_dot
from framework.render.model import RenderedTopology


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
