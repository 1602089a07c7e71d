"""A stream of Structured Streaming, micro-batch after micro-batch, in the order of event time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spark_ingest.direct.request import DROP, REFUSE, Stream
from spark_ingest.direct.sending import Sending, within
from spark_ingest.errors import JobError, RowsRefused
from spark_ingest.job.quality import checked
from spark_ingest.job.source import Source
from spark_ingest.job.spec import JobSpec
from spark_ingest.job.stream_spec import TIME
from spark_ingest.job.streams import as_streams
from spark_ingest.replaying.span import Span, shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Epochs:
    """Puts micro-batches into the order of event time, and sends them.

    A row is held back until the stream's latest time, less the slack, is beyond it. So every row that is sent
    is earlier than all that are sent later, and together the epochs are what `as_streams` makes of the whole.

    Args:
        job: what becomes of the rows.
        stream: how far they may be out of order.
        span: rows of other times are left out.
        sending: sends an epoch.
        tell: called with the number of rows that have come too late, as ``late``.
    """

    def __init__(
        self, job: JobSpec, stream: Stream, span: Span, sending: Sending, tell: Callable[..., None]
    ) -> None:
        self._job = job
        self._stream = stream
        self._span = span
        self._sending = sending
        self._tell = tell
        self._held: DataFrame | None = None
        """Rows that are not before `_until_us`."""
        self._until_us: int | None = None
        """All before this time has been sent."""
        self._latest_us: int | None = None
        self._late = 0
        self.sent = 0
        """Epochs."""
        self.error: Exception | None = None
        """Why a micro-batch failed; Spark reports only its text."""

    def take(self, batch: DataFrame, number: int) -> None:
        """Take the next micro-batch (`foreachBatch`).

        Raises:
            RowsRefused: it has rows that the job refuses, or that are too late.
            SparkError: Spark failed.
        """
        try:
            self._take(batch.persist())
        except Exception as error:
            self.error = error
            raise
        finally:
            batch.unpersist()

    def finish(self) -> None:
        """No micro-batch follows: send what has been held back."""
        if self._held is not None:
            self._send(self._held, None)

    def _take(self, batch: DataFrame) -> None:
        from pyspark.sql import functions as F

        rows, _ = checked(batch, self._job.streams, self._job.quality, count_duplicates=False)
        latest_us = self._look(rows)
        if latest_us is None:
            return
        self._latest_us = max(latest_us, self._latest_us or latest_us)
        self._hold(self._in_time(rows))
        until_us = self._latest_us - self._stream.slack_us
        if self._held is not None and (self._until_us is None or until_us > self._until_us):
            self._send(self._held.where(F.col(TIME) < until_us), until_us)
            self._until_us = until_us
            self._hold(None)

    def _look(self, rows: DataFrame) -> int | None:
        """The latest time of a micro-batch; counts its rows that are too late.

        Raises:
            RowsRefused: there are some, and they are refused.
        """
        from pyspark.sql import functions as F

        is_late = F.lit(False) if self._until_us is None else F.col(TIME) < self._until_us
        found = rows.agg(F.max(TIME), F.min(TIME), F.count(F.when(is_late, 1))).first()
        assert found is not None
        latest_us, first_us, late = found
        if late:
            self._count_late(late, first_us)
        return None if latest_us is None else int(latest_us)

    def _count_late(self, late: int, first_us: int) -> None:
        assert self._until_us is not None
        if self._stream.late == REFUSE:
            raise RowsRefused(
                f"{late} rows of the stream come too late: the first is of {shown(first_us)}, and all before "
                f"{shown(self._until_us)} has gone on: give more slack, or say late: drop or raise",
                "late",
                late,
            )
        self._late += late
        self._tell(late=self._late)

    def _in_time(self, rows: DataFrame) -> DataFrame:
        """The rows without those that are too late, or with these raised to the least time that may come."""
        from pyspark.sql import functions as F

        if self._until_us is None:
            return rows
        if self._stream.late == DROP:
            return rows.where(F.col(TIME) >= self._until_us)
        return rows.withColumn(TIME, F.greatest(F.col(TIME), F.lit(self._until_us)))

    def _hold(self, more: DataFrame | None) -> None:
        """Hold further rows back, if any, and no longer those that have been sent.

        They are kept where the executors are, and are left out of their micro-batches.
        """
        from pyspark.sql import functions as F

        held = self._held
        if more is not None:
            held = more if held is None else held.unionByName(more)
        if held is not None:
            rest = held if self._until_us is None else held.where(F.col(TIME) >= self._until_us)
            self._held = rest.localCheckpoint()

    def _send(self, rows: DataFrame, until_us: int | None) -> None:
        streams = as_streams(within(rows, self._span), self._job.streams, ends=True)
        self._sending.send(streams, self.sent, until_us)
        self.sent += 1


def stream_from(source: Source, spark: SparkSession) -> DataFrame:
    """The source as a streaming DataFrame.

    Raises:
        JobError: it is none.
    """
    if source.files is not None:
        reader = spark.readStream.format(source.format or "").options(**source.options)
        path = source.files[0]
        return reader.schema(source.schema or "").load(path if "://" in path else os.path.abspath(path))
    if source.table is not None:
        return spark.readStream.table(source.table)
    frame = source.read(spark)
    if not frame.isStreaming:
        raise JobError(
            f"function {source.function!r} returned a DataFrame that is no stream: "
            f"expected one of spark.readStream, or leave streaming out"
        )
    return frame


def run_stream(frame: DataFrame, epochs: Epochs, stream: Stream) -> None:
    """Read a stream until it ends.

    Raises:
        ViperError: a micro-batch failed.
        StreamingQueryException: Spark did.
    """
    from pyspark.errors import StreamingQueryException

    once: dict[str, Any] = {"availableNow": True} if stream.once else {"processingTime": "0 seconds"}
    with tempfile.TemporaryDirectory(prefix="viper-stream-", ignore_cleanup_errors=True) as checkpoint:
        writer = frame.writeStream.foreachBatch(epochs.take).option("checkpointLocation", checkpoint)
        try:
            writer.trigger(**once).start().awaitTermination()
        except StreamingQueryException as error:
            raise epochs.error or error from error
    epochs.finish()
