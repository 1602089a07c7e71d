"""One value of one key, and where it was set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framework.topology.places import Place


@dataclass(frozen=True, slots=True)
class Entry:
    """A value as one layer sets it."""

    value: Any
    place: Place


Layer = Mapping[str, Entry]
"""What one source of configuration sets, by key."""
