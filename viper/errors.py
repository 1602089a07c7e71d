"""Every error that the communication layer raises on purpose.

ViperLayerError
├── ArenaError (MemoryError)        an arena that cannot be had, is full, or is another build's
├── PositionError (ValueError)      a level, counts of outputs or numbers that give no positions
├── OrderError (ValueError)         a jumbo tuple that would break the order of its source
├── JumboSizeError (ValueError)     a jumbo tuple that its gate can never take
├── PayloadSizeError (ValueError)   a jumbo tuple whose encoding its gate can never take
├── CodecError (ValueError)         a payload that cannot be encoded or decoded
├── ForestError (MemoryError)       no room for another tree of tracked tuples
├── StateFullError (MemoryError)    no room for what a task would remember, or for a row of a shared table
├── LogFullError (MemoryError)      transactions that the log of their task never has room for
├── ResultLostError (RuntimeError)  a result that was lost with its process, and cannot be had again
├── SourceClosedError (ValueError)  a jumbo tuple after its source was closed
├── ReentryError (RuntimeError)     an add to a source in the middle of another one to it
└── DivergedError (RuntimeError)    a successor that does not repeat what a killed producer has done
"""

from __future__ import annotations


class ViperLayerError(Exception):
    """Root of all errors that the communication layer raises on purpose."""


class ArenaError(ViperLayerError, MemoryError):
    """An arena that the system has no memory for, that is full, or that another build made."""


class PositionError(ViperLayerError, ValueError):
    """A level that does not fit a path, counts of outputs that give no positions, or no position at all."""


class OrderError(ViperLayerError, ValueError):
    """A jumbo tuple whose positions descend, or lie below what its source has promised."""


class JumboSizeError(ViperLayerError, ValueError):
    """A jumbo tuple with no tuples, more than its gate holds, or another number of positions."""


class PayloadSizeError(ViperLayerError, ValueError):
    """A jumbo tuple whose encoding takes more bytes than its source has in the gate."""

    def __init__(self, message: str, size: int, capacity: int) -> None:
        super().__init__(message)
        self.size = size
        """Bytes of the encoding."""
        self.capacity = capacity
        """Bytes that the source has."""

    def __reduce__(self) -> tuple[type[PayloadSizeError], tuple[str, int, int]]:
        return type(self), (str(self), self.size, self.capacity)


class CodecError(ViperLayerError, ValueError):
    """A payload with a value that cannot be carried to another process, or that cannot be read there."""


class ForestError(ViperLayerError, MemoryError):
    """A tuple of several tracked trees that there is no room for."""


class StateFullError(ViperLayerError, MemoryError):
    """State by key, or a row of a shared table, that there is no room for; all is as before the call."""


class LogFullError(ViperLayerError, MemoryError):
    """Transactions that have to be evaluated together, and that the log of their task never has room for."""


class ResultLostError(ViperLayerError, RuntimeError):
    """The result of a function that ran alone, and is not run again, was lost with its process."""


class SourceClosedError(ViperLayerError, ValueError):
    """A jumbo tuple from a source that has been closed."""


class ReentryError(ViperLayerError, RuntimeError):
    """An add to a source in the middle of another one: by a finalizer, a signal handler or another thread."""


class DivergedError(ViperLayerError, RuntimeError):
    """A successor of a killed task does something else for the same input than that one had done."""
