"""Sinks that keep nothing beyond the run: they count, collect, or print."""

from __future__ import annotations

import json
from collections.abc import Sequence

from framework.operators.log import data_stream
from framework.operators.sinks.arrival import check_whole
from framework.operators.sinks.sink import Row, Sink


class CountingSink(Sink):
    """Counts what it receives."""

    dies_with_process = True

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

    dies_with_process = True

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
        """Write some rows.

        Raises:
            SinkError: a row that stdout cannot show; those before it are written.
        """
        stream = data_stream()

        def encoded(rows: Sequence[Row]) -> bytes:
            text = "".join(map(self._line, rows))
            return text.encode(stream.encoding or "utf-8", stream.errors or "strict")

        try:
            stream.writelines(map(self._line, rows))
        except UnicodeEncodeError:
            check_whole(rows, encoded)
            raise


def _as_tsv(row: Row) -> str:
    return "\t".join(map(str, row)) + "\n"


def _as_json(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, default=str) + "\n"
