"""The parameters varied in the grid of transactions: one at a time, from the values of TStream's paper.

The default is that of its section VI-B: Zipf's exponent 0.6 (of Toll Processing 0.2), a quarter of the
transactions over four partitions, batches of 500. Its figure 10 varies the share of transactions over several
partitions where these name six, and their length where they are half of all. Figure 11 varies the share of
reads where all rows are alike. So does the grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Point:
    """An application and its parameters."""

    application: str
    skew: float = 0.6
    """Of Zipf's law."""
    share: float = 0.25
    """Of transactions that name rows of several partitions."""
    length: int = 4
    """Partitions that these name."""
    reads: float = 0.5
    """The share of transactions that read, of Grep & Sum."""
    cost: int = 0
    """Nanoseconds that an operation on a table takes beside what it does."""
    batch: int = 500
    """Transactions between two punctuations."""

    def changed(self, values: Mapping[str, Any]) -> Point:
        """The same with other values of some parameters."""
        return replace(self, **values)


APPLICATIONS: Mapping[str, tuple[int, str]] = {
    "grep_sum": (0, "Grep & Sum"),
    "streaming_ledger": (1, "Streaming Ledger"),
    "online_bidding": (3, "Online Bidding"),
    "toll_processing": (4, "Toll Processing"),
}
"""The number of each load in the program, and its name."""
DEFAULTS: Mapping[str, Point] = {
    name: Point(name, skew=0.2 if name == "toll_processing" else 0.6) for name in APPLICATIONS
}
PARTITIONS = 16
WITH_PARTITIONS = ("grep_sum", "streaming_ledger", "online_bidding")


@dataclass(frozen=True, slots=True)
class Dimension:
    """A parameter that is varied.

    Args:
        title: what it is, for the axis of a figure.
        values: what it is in turn.
        given: what other parameters are meanwhile, where that is not the default.
        applications: of which it is varied.
    """

    title: str
    values: Sequence[float]
    given: Mapping[str, Any]
    applications: Sequence[str]


DIMENSIONS: Mapping[str, Dimension] = {
    "skew": Dimension("Zipf's exponent", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), {}, tuple(APPLICATIONS)),
    "share": Dimension(
        "share over several partitions", (0.0, 0.25, 0.5, 0.75, 1.0), {"length": 6}, WITH_PARTITIONS
    ),
    "length": Dimension(
        "partitions of those over several", (1, 2, 4, 6, 8, 10), {"share": 0.5}, WITH_PARTITIONS
    ),
    "reads": Dimension("share of reads", (0.0, 0.25, 0.5, 0.75, 1.0), {"skew": 0.0}, ("grep_sum",)),
    "cost": Dimension("ns more for an operation", (0, 50, 100, 200, 500, 1000), {}, tuple(APPLICATIONS)),
    "batch": Dimension("transactions of a batch", (25, 100, 250, 500, 1000, 4000), {}, tuple(APPLICATIONS)),
}


def along(application: str, dimension: str) -> Iterator[tuple[float, Point]]:
    """The values of a dimension in order, each with its point."""
    varied = DIMENSIONS[dimension]
    if application in varied.applications:
        for value in varied.values:
            yield value, DEFAULTS[application].changed({**varied.given, dimension: value})


def points_of(applications: Sequence[str], dimensions: Sequence[str]) -> list[Point]:
    """All points of these applications and dimensions, each once; the defaults come first."""
    found = dict.fromkeys(DEFAULTS[application] for application in applications)
    for application in applications:
        for dimension in dimensions:
            found.update(dict.fromkeys(point for _, point in along(application, dimension)))
    return list(found)
