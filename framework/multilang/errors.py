"""What goes wrong with programs."""

from __future__ import annotations

from framework.errors import ProgramError

__all__ = ["NoMessage", "ProgramError"]


class NoMessage(Exception):
    """A program has written what is no message of the protocol.

    Attributes:
        line: what it wrote, or as much of it as is worth showing.
    """

    def __init__(self, line: str) -> None:
        self.line = line
        super().__init__(f"{line!r:.300}")
