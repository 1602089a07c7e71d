"""Errors on their way from one process to another."""

from __future__ import annotations

from typing import Any

import spark_ingest.errors
from framework.errors import ViperError
from spark_ingest.errors import RowsRefused, SparkError

LONGEST_LOG = 20
"""Lines of Spark's log that an error shows."""


def plain(error: ViperError) -> dict[str, Any]:
    """An error as plain values: its class, text and attributes."""
    told: dict[str, Any] = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, RowsRefused):
        told |= {"kind": error.kind, "count": error.count}
    return told


def rebuilt(told: dict[str, Any]) -> ViperError:
    """The error that `plain` took apart."""
    if told["error"] == RowsRefused.__name__:
        return RowsRefused(told["message"], told["kind"], told["count"])
    made = getattr(spark_ingest.errors, told["error"], SparkError)
    error: ViperError = made(told["message"])
    return error


def ended(status: int, log: list[str]) -> SparkError:
    """The driver has ended before its job had.

    Args:
        status: its exit status; negative: the signal that killed it.
        log: the last lines that it and Spark wrote.
    """
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    shown = "".join(f"\n    {line}" for line in log[-LONGEST_LOG:]) or " nothing"
    return SparkError(f"the Spark job's driver process {how} before the job was done; it wrote last:{shown}")
