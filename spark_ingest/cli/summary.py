"""The content of a dataset, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from framework.cli.messages import counted
from framework.cli.table import table
from spark_ingest.replaying.span import shown

if TYPE_CHECKING:
    from spark_ingest.datasets.dataset import Dataset


def short_lines(dataset: Dataset) -> Iterator[str]:
    """Yield the summary for a user after it has been made: its size, its time, and its doubtful rows."""
    streams = counted(len(dataset.streams), "stream")
    yield f"{dataset.rows:,} {'row' if dataset.rows == 1 else 'rows'} in {streams}{_span(dataset)}"
    yield f"timestamps: {', '.join(_doubts(dataset))}"


def all_lines(dataset: Dataset) -> Iterator[str]:
    """All that its manifest says, but for the files."""
    yield from short_lines(dataset)
    made_of = ", ".join(f"{key} {value}" for key, value in dataset.source.items())
    yield f"made of: {made_of}; event time is {dataset.timestamp}"
    yield f"made by: Spark {dataset.spark_version}, ViperStorm {dataset.manifest.software}"
    yield f"fingerprint: {dataset.fingerprint}"
    yield ""
    yield from table(("column", "type"), [(name, dataset.types[name]) for name in dataset.fields])
    yield ""
    rows = [
        (number, stream.rows, _time(stream.min_us), _time(stream.max_us))
        for number, stream in enumerate(dataset.streams)
    ]
    yield from table(("stream", "rows", "first", "last"), rows)


def _span(dataset: Dataset) -> str:
    if dataset.min_us is None or dataset.max_us is None:
        return ""
    return f", from {shown(dataset.min_us)} to {shown(dataset.max_us)}"


def _doubts(dataset: Dataset) -> Iterator[str]:
    for kind, words in (("nulls", "null"), ("unparsable", "unparsable"), ("duplicates", "duplicate")):
        count = dataset.counts.get(kind, {})
        fate = "dropped" if count.get("dropped") else "kept"
        found = count.get("found", 0)
        yield f"{found:,} {words} ({fate})" if found else f"none {words}"


def _time(time_us: int | None) -> str:
    return "" if time_us is None else shown(time_us)
