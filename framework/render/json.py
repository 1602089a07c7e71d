"""JSON, for programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from framework.render.model import RenderedTopology


def to_json(topology: RenderedTopology) -> str:
    """An object with ``name``, ``nodes`` and ``edges``, whose keys are the fields of the values."""
    return json.dumps(asdict(topology), indent=2, ensure_ascii=False) + "\n"
