"""Requests of the leading process to the keeper and the driver, as plain values."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from framework.model.topology import one_of
from spark_ingest.direct.listening import Listening
from spark_ingest.errors import JobError
from spark_ingest.job.quality import KEEP
from spark_ingest.job.spec import JobSpec, from_json, to_json
from spark_ingest.replaying.span import Span

DROP, RAISE, REFUSE = "drop", "raise", "refuse"


@dataclass(frozen=True, slots=True)
class Stream:
    """The length of time for which a stream is read, and how far its rows may be out of order."""

    once: bool = False
    """True if it ends when all that was there at the start has been read."""
    slack_us: int = 0
    """Microseconds of event time by which a row may be earlier than the latest before it."""
    late: str = REFUSE
    """The handling of rows that are earlier than that: ``refuse``, ``drop`` or ``raise``."""


def stream_of(streaming: bool, once: bool, slack_s: float, late: str) -> Stream | None:
    """The stream that keywords of a spout describe.

    Raises:
        JobError: one of them is none, or is used with a source that is no stream.
    """
    if not streaming:
        if once or slack_s or late != REFUSE:
            raise JobError("once, slack and late are for streams: say streaming: true, or leave them out")
        return None
    if isinstance(slack_s, bool) or not isinstance(slack_s, int | float) or not 0 <= slack_s < 1e9:
        raise JobError(f"slack is {slack_s!r}: expected seconds, from 0 upwards")
    if late not in (DROP, RAISE, REFUSE):
        raise JobError(f"late is {late!r}: expected {one_of([DROP, RAISE, REFUSE])}")
    return Stream(bool(once), round(slack_s * 1_000_000), late)


def check_stream(job: JobSpec, stream: Stream | None) -> None:
    """Refuse jobs that cannot be read as a stream.

    Raises:
        JobError: its source is none of those that can be; or duplicates, which are unknown until the stream
            ends, are to be dropped or refused.
    """
    if stream is None:
        return
    source = job.source
    if source.kind not in ("files", "table", "function"):
        raise JobError(
            f"a stream comes from files, a table or a function, found a {source.kind}: "
            f"put it into a function that returns a streaming DataFrame"
        )
    if source.files is not None and (len(source.files) != 1 or not source.format or not source.schema):
        raise JobError(
            "a stream of files needs one folder or glob, format= and schema= (id long, at timestamp): "
            "Spark does not guess them, as there may be no file yet"
        )
    if job.quality.duplicates != KEEP:
        raise JobError(
            f"duplicates is {job.quality.duplicates!r}, but a stream has no end at which they were known: "
            f"expected {KEEP!r}"
        )


@dataclass(frozen=True)
class Request:
    """A job, and which part of its streams is wanted."""

    job: JobSpec
    span: Span = field(default_factory=Span)
    """Rows of other times are left out."""
    listening: Listening = field(default_factory=Listening)
    stream: Stream | None = None
    """The reading of the source as a stream; None: it is none."""

    def to_line(self) -> bytes:
        """As one line.

        Raises:
            JobError: the job's source is a DataFrame of this process.
        """
        content = {
            "job": to_json(self.job),
            "span": asdict(self.span),
            "listening": self.listening,
            "stream": None if self.stream is None else asdict(self.stream),
        }
        return json.dumps(content).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Request:
        """The request that `to_line` wrote."""
        content = json.loads(line)
        stream = None if content["stream"] is None else Stream(**content["stream"])
        return cls(
            from_json(content["job"]), Span(**content["span"]), Listening(*content["listening"]), stream
        )
