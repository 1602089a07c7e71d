"""Jumbo tuples: many tuples that travel as one."""

from __future__ import annotations

from array import array
from typing import Any

Row = tuple[Any, ...]


class Jumbo:
    """What a jumbo tuple carries; the positions of its tuples are kept beside it, in C memory.

    It is handed over by reference, often to several readers: nobody changes it once it was added.
    """

    __slots__ = ("encoded", "mutable", "rows", "tags")

    def __init__(self, rows: list[Row], tags: array[int] | None = None, mutable: bool = False) -> None:
        self.rows = rows
        """The values of each tuple."""
        self.tags = tags
        """For each row the index of its stream, as `array("H")`; None where there is only one."""
        self.mutable = mutable
        """Whether any value can be changed by who receives it."""
        self.encoded: bytes | None = None
        """Its encoding for other processes, kept while a gate is full so that it is made only once."""

    def __repr__(self) -> str:
        return f"Jumbo({len(self.rows)} rows)"
