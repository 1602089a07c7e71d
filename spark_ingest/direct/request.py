"""What the leading process asks of the keeper and of the driver, as plain values."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from spark_ingest.direct.listening import Listening
from spark_ingest.direct.stream import Stream
from spark_ingest.job.spec import JobSpec, from_json, to_json
from spark_ingest.replaying.span import Span


@dataclass(frozen=True)
class Request:
    """A job, and which part of its streams is wanted."""

    job: JobSpec
    span: Span = field(default_factory=Span)
    """Rows of other times are left out."""
    listening: Listening = field(default_factory=Listening)
    stream: Stream | None = None
    """How the source is read as a stream; None: it is none."""

    def to_line(self) -> bytes:
        """As one line.

        Raises:
            JobError: the job's source is a DataFrame of this process.
        """
        said = {
            "job": to_json(self.job),
            "span": asdict(self.span),
            "listening": self.listening,
            "stream": None if self.stream is None else asdict(self.stream),
        }
        return json.dumps(said).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Request:
        """The request that `to_line` wrote."""
        said = json.loads(line)
        stream = None if said["stream"] is None else Stream(**said["stream"])
        return cls(from_json(said["job"]), Span(**said["span"]), Listening(*said["listening"]), stream)
