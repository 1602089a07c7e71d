"""What goes wrong with programs."""

from __future__ import annotations

from framework.errors import ViperError


class ProgramError(ViperError, RuntimeError):
    """A program that cannot be started, has ended before its time, or does not speak the protocol."""


class NoMessage(Exception):
    """A program has written what is no message of the protocol.

    Attributes:
        line: what it wrote, or as much of it as is worth showing.
    """

    def __init__(self, line: str) -> None:
        self.line = line
        super().__init__(f"{line!r:.300}")
