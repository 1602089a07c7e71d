"""The spout that replays what Spark has prepared, or prepares meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from framework.model.topology import Stream, unknown
from framework.operators.components.partitioned import Block, Pace, PartitionedSpout, Watermark
from spark_ingest.errors import JobError
from spark_ingest.replaying.feed import Feed
from spark_ingest.replaying.schemas import is_declared, stream_of

if TYPE_CHECKING:
    from spark_ingest.direct.request import Request


class SparkSpout(PartitionedSpout):
    """Replays a dataset by event time, from a folder that `prepare` made or straight from a Spark job.

        SparkSpout("data/flights", columns=["carrier", "delay"], start="2013-02-01", until="2013-03-01")
        SparkSpout(query="SELECT ...", views={"flights": "flights.csv"}, timestamp="at", columns=["delay"])

    A prepared dataset needs pyarrow, but neither Spark nor Java. Its streams are the partitions, so that the
    output does not depend on the parallelism. Numbers, texts and so on arrive as Python's, timestamps as int
    in `unit`, arrays, structs and maps as tuples (`spark_ingest.replaying.values`).

    Args:
        dataset: folder of a prepared dataset; None where a job is given.
        columns: that rows have, in this order. Of a dataset None is all; of a job they have to be named, as
            no Spark runs before the topology does.
        start: rows from this event time on: ISO 8601 text, a datetime (both UTC where they say nothing
            else), or a number in `unit`.
        until: only rows before this event time.
        pace: how many seconds of event time pass in one: 1 for the recorded pace. None: as fast as can be.
        unit: s, ms, us or ns: of timestamps in the rows, of numbers in `start` and `until`, and of the
            timestamp column of a job where that is a number. None: the dataset's; of a job, us.
        typed: the schema of the stream, so that rows travel as columns. True for the types that the dataset
            has, or the type of each column by name, as a job needs them. `schema` is another thing: that of a
            job's files, as Spark's readers take it.
        job: keywords of a job: its source (`Source`), its streams (`StreamSpec`), what becomes of doubtful
            rows (`Quality`), ``master``, ``conf``, and the further ones of `spark_ingest.direct`.

    Raises:
        DatasetError: there is no dataset, it is damaged, or it has nothing from `start` to `until`.
        JobError: neither or both of dataset and job, a missing column, or an argument that is refused.
    """

    def __init__(
        self,
        dataset: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        start: Any = None,
        until: Any = None,
        pace: float | None = None,
        unit: str | None = None,
        typed: bool | Mapping[str, str] | None = None,
        **job: Any,
    ) -> None:
        super().__init__()
        self._speed = _checked_pace(pace)
        wanted = {"columns": columns, "start": start, "until": until, "unit": unit}
        self._feed = _job(wanted, job) if dataset is None else _stage(dataset, wanted, job)
        self._stream: Stream | None = None
        if is_declared(typed):
            self._stream = stream_of(self._feed.outputs, typed, self._feed.types())
            self._feed.bring_columns()

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The columns."""
        return list(self._feed.outputs) if self._stream is None else [self._stream]

    @property
    def partitions(self) -> int:
        """The streams."""
        return self._feed.partitions

    @property
    def identity(self) -> str:
        """Of the dataset or the job."""
        return self._feed.identity

    @property
    def rows_total(self) -> int | None:
        """The rows of a whole dataset."""
        return self._feed.rows_total

    @property
    def request(self) -> Request | None:
        """The job that its rows come from, and which part of them is wanted; None for a prepared dataset."""
        found: Request | None = getattr(self._feed, "request", None)
        return found

    def companion(self, conf: Mapping[str, Any]) -> AbstractContextManager[Mapping[str, Any]]:
        """A job's driver; a dataset is looked into, and refused if it is damaged."""
        return self._feed.companion(conf)

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Get ready to read."""
        self._feed.open(storm_conf)

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        """All rows of a stream from `start` until `until`, in order."""
        return self._feed.blocks(partition, start_us)

    def pace(self) -> Pace | None:
        """From the first row of all streams on, so that all tasks agree."""
        origin_us = None if self._speed is None else self._feed.origin_us()
        return None if origin_us is None or self._speed is None else Pace(origin_us, self._speed)

    def close(self) -> None:
        """Report how many rows each stream had, and stop reading."""
        for stream, rows in sorted(self._feed.read.items()):
            self.report_metric(f"rows read of stream {stream}", rows)
        if self._feed.late:
            self.report_metric("late rows", self._feed.late)
        self._feed.close()


_SPAN = ("start", "until")


def _checked_pace(pace: Any) -> float | None:
    if pace is None:
        return None
    if isinstance(pace, int | float) and not isinstance(pace, bool) and 0 < pace < float("inf"):
        return pace
    raise JobError(f"pace is {pace!r}: expected a number above 0, e.g. 1 for the recorded pace")


def _stage(path: str, wanted: Mapping[str, Any], job: Mapping[str, Any]) -> Feed:
    from spark_ingest.job.spec import KEYWORDS
    from spark_ingest.replaying.stage import StageFeed

    for name in job:
        if name not in KEYWORDS:
            raise JobError(unknown("argument", name, {"pace", "typed", *wanted, *KEYWORDS}))
    if job:
        described = f"{', '.join(job)} {'describes' if len(job) == 1 else 'describe'} a job"
        raise JobError(f"{described}, and {path!r} is a prepared dataset: give one of both")
    return StageFeed(path, **wanted)


def _job(wanted: Mapping[str, Any], job: Mapping[str, Any]) -> Feed:
    from spark_ingest.direct.feed import DirectFeed
    from spark_ingest.job.spec import job_of

    if not job:
        raise JobError(
            "nothing to replay: give the folder of a prepared dataset, or a job (files=, query=, ...)"
        )
    if wanted["columns"] is None:
        raise JobError("columns is missing: the rows of a job have to be named, as it runs later")
    span = {name: wanted[name] for name in _SPAN}
    keywords = {**job, "columns": wanted["columns"], "unit": wanted["unit"]}
    described, beside = job_of(keywords)
    return DirectFeed(described, **span, **beside)
