"""Sinks that ship with the framework: they take whole batches and emit nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from framework.components import Bolt
from framework.log import data_stream

Row = tuple[Any, ...]


class Sink(Bolt):
    """A bolt at the end of a topology that takes rows of values instead of tuples.

    Rows come in the order of their positions, as many at a time as were ready. A sink
    does not learn which component, stream or task a row came from.
    """

    def consume(self, rows: Sequence[Row]) -> None:
        """Take some rows; must be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define consume(self, rows)")

    def result(self) -> Any:
        """What the run's report shows for this task when it has ended; None for nothing."""
        return None

    def process(self, tup: Any) -> None:
        """Take one tuple, as other runtimes would deliver it."""
        self.consume([tuple(tup.values)])


class CountingSink(Sink):
    """Counts what it receives."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def consume(self, rows: Sequence[Row]) -> None:
        """Count some rows."""
        self._count += len(rows)

    def result(self) -> int:
        """The number of rows."""
        return self._count


class CollectingSink(Sink):
    """Keeps everything that it receives, in memory; for tests and small results."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Row] = []

    def consume(self, rows: Sequence[Row]) -> None:
        """Keep some rows."""
        self._rows.extend(rows)

    def result(self) -> list[Row]:
        """All rows, in order."""
        return self._rows


class ConsoleSink(Sink):
    """Writes a line per tuple to stdout: its values between tabs, or as JSON.

    Args:
        format: ``tsv`` or ``json``.
    """

    def __init__(self, format: str = "tsv") -> None:
        super().__init__()
        if format not in ("tsv", "json"):
            raise ValueError(f"unknown format {format!r}: expected 'tsv' or 'json'")
        self._line = _as_json if format == "json" else _as_tsv

    def consume(self, rows: Sequence[Row]) -> None:
        """Write some rows."""
        data_stream().writelines(map(self._line, rows))


def _as_tsv(row: Row) -> str:
    return "\t".join(map(str, row)) + "\n"


def _as_json(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, default=str) + "\n"
