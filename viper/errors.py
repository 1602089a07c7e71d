"""Every error that the communication layer raises on purpose.

    ViperLayerError
    ├── ArenaError (MemoryError)        an arena that cannot be had, is full, or is another build's
    ├── PositionError (ValueError)      a level, or counts of outputs, that give no positions
    ├── OrderError (ValueError)         a jumbo tuple that would break the order of its source
    ├── JumboSizeError (ValueError)     a jumbo tuple that its channel can never take
    └── SourceClosedError (ValueError)  a jumbo tuple after its source was closed
"""


class ViperLayerError(Exception):
    """Root of all errors that the communication layer raises on purpose."""


class ArenaError(ViperLayerError, MemoryError):
    """An arena that the system has no memory for, that is full, or that another build made."""


class PositionError(ViperLayerError, ValueError):
    """A level that does not fit a path, or counts of outputs that give no positions."""


class OrderError(ViperLayerError, ValueError):
    """A jumbo tuple whose positions descend, or lie below what its source has promised."""


class JumboSizeError(ViperLayerError, ValueError):
    """A jumbo tuple with no tuples, more than its channel holds, or another number of positions."""


class SourceClosedError(ViperLayerError, ValueError):
    """A jumbo tuple from a source that has been closed."""
