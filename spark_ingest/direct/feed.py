"""Rows of a spout straight from a Spark job."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from framework.operators.components.partitioned import Block, Watermark
from spark_ingest.direct.companion import kept
from spark_ingest.direct.listening import LOOPBACK, Listening
from spark_ingest.direct.request import REFUSE, Request, check_stream, stream_of
from spark_ingest.direct.slots import check_master
from spark_ingest.errors import JobError, SparkError
from spark_ingest.job.spec import JobSpec
from spark_ingest.replaying.span import span_of

if TYPE_CHECKING:
    from spark_ingest.direct.receiver import Receiver

MEETING = "spark_ingest.direct.meeting"
"""Under this key each task finds in its configuration where and how to reach the job."""


class DirectFeed:
    """The streams of a job that runs beside the topology, or the part of them that is asked for.

    Args:
        job: what to run; its streams name the columns.
        start: only rows from this event time on; as in `spark_ingest.replaying.span.moment`.
        until: only rows before this event time.
        listen: address of the interface on which tasks wait for executors: loopback for a local master,
            ``0.0.0.0`` for executors on other hosts.
        advertise: name or address by which executors know this host; None: this host's name.
        streaming: whether the source is a stream (Structured Streaming): it ends with the run.
        once: of a stream, only what is there at the start; then it ends.
        slack: of a stream, seconds of event time by which a row may be earlier than the latest before it.
        late: what becomes of rows of a stream that are earlier than that: ``refuse``, ``drop``, or ``raise``
            them to the least time that is still to come. They are counted.

    Raises:
        JobError: the job names no columns, it cannot be handed to another process, its streams cannot all run
            at once, or an argument is refused.
    """

    def __init__(
        self,
        job: JobSpec,
        start: Any = None,
        until: Any = None,
        *,
        listen: str = LOOPBACK,
        advertise: str | None = None,
        streaming: bool = False,
        once: bool = False,
        slack: float = 0.0,
        late: str = REFUSE,
    ) -> None:
        if job.streams.columns is None:
            raise JobError("columns is missing: the rows of a job have to be named, as it runs later")
        check_master(job)
        self.outputs: tuple[str, ...] = job.streams.columns
        self._job = job
        stream = stream_of(streaming, once, slack, late)
        check_stream(job, stream)
        span = span_of(start, until, job.streams.unit)
        self._request = Request(job, span, Listening(listen, advertise), stream)
        self._receiver: Receiver | None = None
        self._min_us: int | None = None
        self._typed = False
        self.read: dict[int, int] = {}
        """The number of rows of each stream that have been read."""

    def types(self) -> None:
        """They are known only when the job runs."""

    def bring_columns(self) -> None:
        """From now on, bring blocks of record batches."""
        self._typed = True

    @property
    def request(self) -> Request:
        """The job, and which part of its streams is wanted."""
        return self._request

    @property
    def late(self) -> int:
        """The number of rows of a stream that came too late; the task with the first partition reports it."""
        return self._receiver.late if self._receiver is not None and 0 in self.read else 0

    @property
    def partitions(self) -> int:
        """As many as the job has streams."""
        return self._job.streams.streams

    @property
    def rows_total(self) -> int | None:
        """Spark does not know it before it has brought them."""
        return None

    @property
    def identity(self) -> str:
        """Of what is asked for, wherever it runs; nobody knows whether its source has changed."""
        job, stream = self._job, self._request.stream
        asked = [job.source.to_plain(), asdict(job.streams), asdict(job.quality), asdict(self._request.span)]
        asked.append({} if stream is None else asdict(stream))
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    @contextmanager
    def companion(self, conf: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Starts the job, and ends it.

        Raises:
            ViperError: the job is refused, as by `spark_ingest.preparing.prepare`, or Spark failed.
        """
        self._job.source.check()
        with kept(self._request) as meeting:
            yield {MEETING: meeting}

    def open(self, conf: Mapping[str, Any]) -> None:
        """Get ready to receive.

        Raises:
            SparkError: the job has not been started, or does not answer.
        """
        from spark_ingest.direct.receiver import Receiver

        if MEETING not in conf:
            raise SparkError("no Spark job runs beside this task: its spout needs a whole run (`viper run`)")
        self._min_us = conf[MEETING]["min_us"]
        self._receiver = Receiver(conf[MEETING])

    def origin_us(self) -> int | None:
        """The earliest event time of the job's rows, or `start` where that is later; None without rows."""
        start_us = self._request.span.start_us
        if self._min_us is None or start_us is None:
            return self._min_us
        return max(self._min_us, start_us)

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        """All rows of a stream, from an event time on; None: nothing for now.

        Closed before its end, it has Spark send the stream again to whoever asks next.

        Raises:
            SparkError: the job failed; names the cause.
            DatasetError: a value cannot be carried.
        """
        from spark_ingest.replaying.values import Blocks

        assert self._receiver is not None
        self.read[partition] = 0
        made = Blocks(self._job.streams.unit, typed=self._typed)
        with closing(self._receiver.batches(partition, start_us)) as batches:
            for batch in batches:
                if batch is None:
                    yield None
                elif isinstance(batch, int):
                    yield Watermark(batch)
                else:
                    for block in made.of(batch):
                        self.read[partition] += len(block.rows)
                        yield block

    def close(self) -> None:
        """Break off what is still being received."""
        if self._receiver is not None:
            self._receiver.close()
            self._receiver = None
