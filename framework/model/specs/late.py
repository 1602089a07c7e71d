"""The stream that late rows of a spout with partitions go to, beside those that its class declares."""

from __future__ import annotations

from framework.model.topology import Stream

LATE = "viper.timestamp.late"
"""The key that says what becomes of late rows: one of `NO_STREAM`, or the name of a stream for them."""
NO_STREAM = ("error", "drop", "admit")


def with_late_stream(outputs: tuple[Stream, ...], late: object) -> tuple[Stream, ...]:
    """The streams of a spout, with that of late rows, whose fields and types are those of the first stream.

    Args:
        outputs: the streams that it declares, at least one.
        late: the value of `LATE`.
    """
    names = {stream.name for stream in outputs}
    if not isinstance(late, str) or not late or late in NO_STREAM or late in names:
        return outputs
    first = outputs[0]
    return (*outputs, Stream(first.fields, late, first.direct, first.schema))
