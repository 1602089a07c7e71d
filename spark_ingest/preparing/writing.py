"""Streams written as Parquet files by Spark's own writer, and made Arrow files of where these are wanted.

That writer needs no Python in the executors, and its committer lets one attempt of a task win where several
run. It bounds row groups by rows, and writes the same pages for the same rows. The writer of pyarrow, in
`mapInArrow`, would need a committer, and rows would have to cross to Python and back. So Arrow files are made
of the Parquet files once these are there: 0.1 us for a row of five columns, where Spark takes several.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spark_ingest.datasets.formats import ARROW, PARQUET, Format
from spark_ingest.engine.session import set_for_now

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GROUP_ROWS = 65_536
"""Rows of a row group, the unit that a reader seeks by."""
GROUP_BYTES = 32 * 1024 * 1024
"""The bytes of a group, for rows so wide that few are a lot; and for Spark 4.0, which cannot count them."""
FILE_ROWS = 64 * GROUP_ROWS
"""Rows of a file. A reader keeps 15 KB of one for each row group of six columns; with one file only, its
memory would grow with the stream."""
_SETTINGS = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.files.maxRecordsPerFile": str(FILE_ROWS),
}
_OPTIONS = {
    # A timestamp, an integer, a float, a repetitive and a distinct text take 45 ns to decode, and 6 bytes.
    # With pages of the first version and Snappy they take 97 ns and 26 bytes, and uncompressed 40 and 49.
    "parquet.writer.version": "v2",
    "compression": "lz4_raw",
    "parquet.block.row.count.limit": str(GROUP_ROWS),
    "parquet.block.size": str(GROUP_BYTES),
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
_PART = re.compile(r"part-(\d+)-.*-c(\d+)\..*parquet")
"""Spark's names for the files that it writes: the partition, and the number of the file within it."""


def write_streams(
    streams: DataFrame, folder: Path, count: int, stored_as: Format = PARQUET
) -> Sequence[Sequence[str]]:
    """Write the partitions of a DataFrame to a new folder.

    Args:
        streams: from `as_streams`.
        folder: does not exist yet; on a cluster, one that the executors have as well.
        count: how many streams.
        stored_as: what the files are to be.

    Returns:
        Of each stream its files, relative to the folder. A stream without rows may have none.

    Raises:
        DatasetError: what Spark has written cannot be read from here.
    """
    with set_for_now(streams.sparkSession, _SETTINGS):
        streams.write.options(**_OPTIONS).parquet(f"file://{folder}")
    files: list[list[str]] = [[] for _ in range(count)]
    for stream, number, entry in sorted(_parts(folder)):
        name = f"stream-{stream:05}-{number:03}{PARQUET.suffix}"
        os.rename(folder / entry, folder / name)
        is_stored = stored_as is PARQUET
        files[stream].append(name if is_stored else _as_arrow(folder / name, streams.columns[1:]))
    return files


def _as_arrow(path: Path, columns: Sequence[str]) -> str:
    """Replace a Parquet file by an Arrow file of its rows; returns the name of that."""
    from spark_ingest.preparing.copying import copy_to_arrow

    made = path.with_suffix(ARROW.suffix)
    copy_to_arrow(path, columns, made)
    path.unlink()
    return made.name


def _parts(folder: Path) -> Iterator[tuple[int, int, str]]:
    """Partition, number and name of each file; what else Spark has left there is removed."""
    for entry in os.listdir(folder):
        part = _PART.fullmatch(entry)
        if part is None:  # Checksums of Spark's own, whose names tie them to the old ones.
            os.unlink(folder / entry)
        else:
            yield int(part[1]), int(part[2]), entry
