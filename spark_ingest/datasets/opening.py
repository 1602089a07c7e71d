"""Files of rows, opened by their format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spark_ingest.datasets.arrow_files import ArrowRows
from spark_ingest.datasets.formats import ARROW, PARQUET, Format, format_of
from spark_ingest.datasets.parquet_files import ParquetRows
from spark_ingest.datasets.row_files import RowFile

_OPEN: dict[Format, Callable[[Path], RowFile]] = {PARQUET: ParquetRows.open, ARROW: ArrowRows.open}


def open_rows(path: Path) -> RowFile:
    """Open a file of a dataset.

    Raises:
        OSError: it cannot be read.
        pyarrow.ArrowException: it is damaged.
    """
    return _OPEN[format_of(path)](path)
