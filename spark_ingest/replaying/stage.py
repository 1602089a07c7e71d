"""A prepared dataset as what a spout replays. Neither Spark nor Java is needed."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.model.topology import unknown
from framework.operators.components.partitioned import Block
from spark_ingest.datasets.dataset import Dataset
from spark_ingest.errors import DatasetError, JobError
from spark_ingest.replaying.ahead import Ahead
from spark_ingest.replaying.marks import marks_of
from spark_ingest.replaying.span import checked_unit, shown, span_of

if TYPE_CHECKING:
    import pyarrow as pa

FINGERPRINT = "spark.dataset"
"""In a task's configuration: identity of the dataset that the run began with."""


class StageFeed:
    """Replays the streams of a dataset, or the part of them that is asked for.

    Args:
        path: of the dataset.
        columns: that rows have, in this order; None: all.
        start: only rows from this event time on; as in `spark_ingest.replaying.span.moment`.
        until: only rows before this event time.
        unit: of timestamps in rows, and of `start` and `until` where they are numbers; None: the dataset's.

    Raises:
        DatasetError: there is no dataset, it is damaged, or has nothing between `start` and `until`.
        JobError: it has no such column, or one of the other arguments is none.
    """

    def __init__(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        start: Any = None,
        until: Any = None,
        unit: str | None = None,
    ) -> None:
        self._dataset = Dataset.open(path)
        self._marks = marks_of(self._dataset)
        self._unit = checked_unit(self._dataset.unit if unit is None else unit)
        self._span = span_of(start, until, self._unit)
        self.outputs = _chosen(columns, self._dataset.fields)
        self.read: dict[int, int] = {}
        """The number of rows of each stream that have been read."""
        self._ahead = Ahead(self.partitions)
        self._typed = False
        self._check_span()

    def types(self) -> pa.Schema:
        """The types of the columns, as the first file of the dataset has them.

        Raises:
            DatasetError: the file is damaged, or there is none.
        """
        from spark_ingest.replaying.reading import schema_of

        files = [path for number in range(self.partitions) for path in self._files(number)]
        if not files:
            raise DatasetError(f"{self._dataset.path}: no file tells the types of its columns: declare them")
        return schema_of(files[0], self.outputs, self._marks).remove(0)

    def bring_columns(self) -> None:
        """From now on, bring blocks of record batches."""
        self._typed = True

    @property
    def late(self) -> int:
        """A dataset has none."""
        return 0

    @property
    def partitions(self) -> int:
        """As many as the dataset has streams."""
        return len(self._dataset.streams)

    @property
    def rows_total(self) -> int | None:
        """The rows of the whole dataset; None for a part, whose rows nobody has counted."""
        return self._dataset.rows if self._span.is_all else None

    @property
    def identity(self) -> str:
        """Of the dataset and the part that is asked for, as whoever is at the end of it has not seen more."""
        fingerprint = self._dataset.fingerprint
        return fingerprint if self._span.is_all else f"{fingerprint} {self._span}"

    @contextmanager
    def companion(self, conf: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Looks into every file once, so that a damaged one refuses the run; nothing runs beside the tasks.

        Raises:
            DatasetError: a file is damaged or of something else.
            JobError: a column cannot be carried.
        """
        self._check_files()
        yield {FINGERPRINT: self._dataset.fingerprint}

    def open(self, conf: Mapping[str, Any]) -> None:
        """See that all tasks have one dataset; a stream's files are opened when its rows are asked for.

        Raises:
            DatasetError: the run began with another one.
        """
        expected = conf.get(FINGERPRINT, self._dataset.fingerprint)  # No companion runs beside executors.
        if expected != self._dataset.fingerprint:
            raise DatasetError(
                f"{self._dataset.path} has fingerprint {self._dataset.fingerprint}, but the run began with "
                f"{expected}: the dataset was replaced during the run; start the run again"
            )

    def close(self) -> None:
        """End the threads that read; who asked for rows has closed their generators before."""
        self._ahead.close()

    def origin_us(self) -> int | None:
        """Event time of the first row of all streams; None where there is none."""
        from spark_ingest.replaying.reading import first_time

        if self._span.start_us is None:
            return self._dataset.min_us
        firsts = (
            first_time(self._files(number), self._span, self._marks) for number in range(self.partitions)
        )
        return min((first for first in firsts if first is not None), default=None)

    def blocks(self, partition: int, start_us: int | None) -> Generator[Block]:
        """All rows of a stream within the span, from an event time on.

        Raises:
            DatasetError: a file is damaged or not the one that was there when the dataset was opened, its
                time goes back, or it has not the rows that were prepared.
        """
        from spark_ingest.replaying.reading import in_order, parts_of
        from spark_ingest.replaying.values import Blocks

        span = self._span.starting(start_us)
        self.read[partition] = 0
        made = Blocks(self._unit, typed=self._typed)
        parts = parts_of(self._files(partition), self.outputs, span, self._marks, plain=self._typed)
        with closing(self._ahead.of(parts)) as pieces:
            for batch in in_order(pieces, span):
                for block in made.of(batch):
                    self.read[partition] += len(block.rows)
                    yield block
        if span.is_all:
            self._check_count(partition, self.read[partition])

    def _files(self, partition: int) -> list[Path]:
        return [Path(name) for name in self._dataset.streams[partition].files]

    def _check_count(self, partition: int, found: int) -> None:
        expected = self._dataset.streams[partition].rows
        if found != expected:
            raise DatasetError(
                f"{self._dataset.path}: stream {partition} has {found:,} rows, "
                f"{expected:,} were prepared: prepare the dataset again"
            )

    def _check_files(self) -> None:
        from spark_ingest.replaying.reading import rows_of, schema_of
        from spark_ingest.replaying.values import Blocks

        for number in range(self.partitions):
            rows = 0
            for path in self._files(number):
                Blocks(self._unit).expect(schema_of(path, self.outputs, self._marks))
                rows += rows_of(path, self._marks)
            self._check_count(number, rows)

    def _check_span(self) -> None:
        first, last = self._dataset.min_us, self._dataset.max_us
        if first is not None and last is not None and not self._span.meets(first, last):
            found = f"it goes from {shown(first)} to {shown(last)}"
            raise DatasetError(f"{self._dataset.path}: nothing to replay {self._span}: {found}")


def _chosen(columns: Sequence[str] | None, fields: Sequence[str]) -> tuple[str, ...]:
    """The columns that are asked for.

    Raises:
        JobError: an unknown name, one that comes twice, or none at all.
    """
    if columns is None:
        return tuple(fields)
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in names:
        if name not in fields:
            raise JobError(unknown("column", name, fields))
        if names.count(name) > 1:
            raise JobError(f"columns names {name!r} more than once")
    if not names:
        raise JobError("columns is empty: name at least one, or leave it out for all of them")
    return names
