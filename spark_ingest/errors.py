"""What can go wrong between Spark and a topology.

ViperError
├── JobError (ValueError)         a job that asks for what cannot be done; nothing was started or written
│   └── RowsRefused               rows whose timestamp is missing, repeated or not to be read, and refused
├── DatasetError (ValueError)     a folder that is no prepared dataset, or a damaged or foreign one
└── SparkError (RuntimeError)     no Spark or Java to work with, or Spark failed; the cause in one line
"""

from __future__ import annotations

from framework.errors import ViperError


class JobError(ViperError, ValueError):
    """A job that asks for what cannot be done: a missing column, an uncarried type, a wrong option."""


class RowsRefused(JobError):
    """Rows whose timestamps the job refuses.

    Attributes:
        kind: ``"nulls"``, ``"duplicates"`` or ``"unparsable"``.
        count: how many there are, exactly.
    """

    def __init__(self, message: str, kind: str, count: int) -> None:
        self.kind = kind
        self.count = count
        super().__init__(message)

    def __reduce__(self) -> tuple[type[RowsRefused], tuple[str, str, int]]:
        return type(self), (str(self), self.kind, self.count)


class DatasetError(ViperError, ValueError):
    """A folder that is no prepared dataset, that is damaged, or that must not be written to."""


class SparkError(ViperError, RuntimeError):
    """Spark or Java is missing or too old, or a Spark job failed; Spark's own exception is the cause."""
