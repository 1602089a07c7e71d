"""Streams of a job, sent to the tasks that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from spark_ingest.replaying.span import Span


class Sending(NamedTuple):
    """The way by which executors find the tasks."""

    rendezvous: tuple[str, int]
    """The address at which they ask."""
    secret: str
    """Executors prove that they know it."""

    def send(self, streams: DataFrame, epoch: int, until_us: int | None) -> None:
        """Send every partition to the task that reads it, all at once; returns when all has been taken.

        Spark repeats a stage in barrier mode when an executor is lost, but not the last stage of a job. Hence
        one more, which brings together a row per partition.

        Args:
            streams: as many partitions as there are streams, each in order, with its end (`as_streams`).
            epoch: number of the micro-batch.
            until_us: where it ends, as in `sender.make_sender`.
        """
        from spark_ingest.direct.sender import SENT_FIELDS, make_sender

        _travel_by_value()
        sent = streams.mapInArrow(make_sender(*self, epoch, until_us), SENT_FIELDS, barrier=True)
        sent.repartition(1).collect()


def within(rows: DataFrame, span: Span) -> DataFrame:
    """The rows whose time lies in a span, where they are."""
    from pyspark.sql import functions as F

    from spark_ingest.job.stream_spec import TIME

    if span.start_us is not None:
        rows = rows.where(F.col(TIME) >= span.start_us)
    if span.until_us is not None:
        rows = rows.where(F.col(TIME) < span.until_us)
    return rows


def _travel_by_value() -> None:
    """Executors need not have this project: what they run is sent along, not its name."""
    from pyspark.cloudpickle import register_pickle_by_value

    from spark_ingest.direct import sender, wire

    for module in (sender, wire):
        register_pickle_by_value(module)  # type: ignore[no-untyped-call]
