"""Errors between Spark and a topology, and how they get from one process to another.

ViperError
├── JobError (ValueError)         a job that asks for what cannot be done; nothing was started or written
│   └── RowsRefused               rows whose timestamp is missing, repeated or not to be read, and refused
├── DatasetError (ValueError)     a folder that is no prepared dataset, or a damaged or foreign one
└── SparkError (RuntimeError)     no Spark or Java to work with, or Spark failed; the cause in one line
"""

from __future__ import annotations

from typing import Any

from framework.model.errors import ViperError


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


LONGEST_LOG = 20
"""Lines of Spark's log that an error shows."""


def plain(error: ViperError) -> dict[str, Any]:
    """An error as plain values: its class, message and attributes."""
    fields: dict[str, Any] = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, RowsRefused):
        fields |= {"kind": error.kind, "count": error.count}
    return fields


_SIMPLE = {cls.__name__: cls for cls in (ViperError, JobError, DatasetError, SparkError)}
"""Errors that have nothing but a message."""


def rebuilt(fields: dict[str, Any]) -> ViperError:
    """The error that `plain` took apart."""
    if fields["error"] == RowsRefused.__name__:
        return RowsRefused(fields["message"], fields["kind"], fields["count"])
    return _SIMPLE.get(fields["error"], SparkError)(fields["message"])


def ended(status: int, log: list[str]) -> SparkError:
    """The driver has ended before its job had.

    Args:
        status: its exit status; negative: the signal that killed it.
        log: the last lines that it and Spark wrote.
    """
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    shown = "".join(f"\n    {line}" for line in log[-LONGEST_LOG:]) or " nothing"
    return SparkError(f"the Spark job's driver process {how} before the job was done; it wrote last:{shown}")
