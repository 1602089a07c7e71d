"""The places in the user's sources where each part of a topology was declared.

A topology is a value; its places are not part of that value. They live in one side table, so that validation
can name ``file:line`` without every record carrying it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Path = tuple[str | int, ...]
"""A part of a topology: ``("config", key)``, ``("components", id)``,
``("components", id, "inputs", n)``, ``("components", id, "inputs", n, "grouping")``,
``("components", id, "config", key)``, ``("components", id, "parallelism")``,
``("beans", id)``, ``("name",)`` or ``()`` for the whole."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the user's sources: ``file:line`` or a class and its attribute."""

    file: str = ""
    """Path of the file as the user gave it; empty if unknown."""
    line: int = 0
    """Line, from 1; 0 if unknown."""
    attribute: str = ""
    """For Python sources: the class and attribute, e.g. ``WordCount.counter``."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (where, self.attribute) if part) or "topology"


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Places by path; what has no place of its own has that of its nearest ancestor."""

    places: Mapping[Path, Place] = field(default_factory=dict)

    def at(self, *path: str | int) -> Place:
        """The place of ``path`` or of its nearest ancestor that has one."""
        for end in range(len(path), -1, -1):
            place = self.places.get(path[:end])
            if place is not None:
                return place
        return Place()
