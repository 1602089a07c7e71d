"""A sink in whose runs worker processes die, as far as that is planned: whoever imports this module may."""

from __future__ import annotations

from framework.operators.sinks import JsonLinesSink
from tests.kills import deaths

__all__ = ["Told", "deaths"]


class Told(JsonLinesSink):
    """Writes what is told to a file."""
