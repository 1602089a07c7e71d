"""The time of events to their callbacks, as `latency.py` has measured it: a file, a table and a figure."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.peers.table import aligned
from benchmarks.transactions.chart import Line, Mark, Plot, as_svg
from benchmarks.transactions.points import APPLICATIONS

PERCENTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
AIMS_MS = {"inline": 2.0, "two processes": 5.0}
"""The limits below which the 99th percentile should be, by place."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Of an application at a place, evaluated in one of several ways."""

    application: str
    place: str
    way: str
    """The way that decides when transactions are evaluated."""
    highest: float
    """Events a second without a schedule."""
    rate: float
    """Events a second of the schedule."""
    ms: dict[str, list[float]] = field(default_factory=dict)
    """By percentile, one value for each round."""

    def at(self, percentile: str) -> float:
        """The median of the rounds."""
        return statistics.median(self.ms[percentile])


def percentiles(delays_ns: Sequence[int]) -> dict[str, float]:
    """Milliseconds by the name of the percentile."""
    ordered = sorted(delays_ns)
    return {name: ordered[int(share * len(ordered))] / 1e6 for name, share in PERCENTILES.items()}


def save(path: Path, found: Sequence[Delays]) -> None:
    """Write a file that `load` reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> list[Delays]:
    """Read a file that `save` has written."""
    return [Delays(**each) for each in json.loads(path.read_text(encoding="utf-8"))]


def table(found: Sequence[Delays]) -> list[str]:
    """All of them in Markdown, with the aims."""
    rows = []
    for each in found:
        aim = AIMS_MS[each.place]
        is_met = f"{'yes' if each.at('p99') < aim else 'no'} ({aim:g})"
        told = [APPLICATIONS[each.application][1], each.place, each.way, f"{each.rate:,.0f}"]
        rows.append([*told, *(_with_range(each.ms[name]) for name in PERCENTILES), is_met])
    heads = ["application", "place", "evaluated", "events/s", *PERCENTILES, "p99 below its aim"]
    sentence = (
        "Milliseconds from when an event was due to when the sink has its answer, at half of the highest "
        "rate; medians of rounds, with their range:"
    )
    return [sentence, "", *aligned(heads, rows)]


def picture(found: Sequence[Delays]) -> str:
    """A plot for each application and place, with a line for each way."""
    grouped: dict[tuple[str, str], list[Delays]] = {}
    for each in found:
        grouped.setdefault((each.application, each.place), []).append(each)
    plots = [
        Plot(
            f"{APPLICATIONS[application][1]}, {place}",
            "percentile",
            list(PERCENTILES),
            [_line(each.way, each.ms) for each in ways],
        )
        for (application, place), ways in grouped.items()
    ]
    return as_svg("From an event to its callback", "ms", plots)


def _line(way: str, ms: Mapping[str, Sequence[float]]) -> Line:
    marks = [Mark(statistics.median(ms[name]), min(ms[name]), max(ms[name])) for name in PERCENTILES]
    return Line(way, marks)


def _with_range(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
