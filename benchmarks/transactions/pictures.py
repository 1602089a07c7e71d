"""The figures of a grid, in the order of those in TStream's paper, with the serial evaluator drawn in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.transactions.chart import Line, Mark, Plot, as_svg
from benchmarks.transactions.points import APPLICATIONS, DEFAULTS, DIMENSIONS, along
from benchmarks.transactions.results import SERIAL, Cell, Grid, Measured

UNIT = "million transactions a second"


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure to be drawn."""

    title: str
    dimensions: Sequence[str]
    """Along which; none: over the threads."""
    applications: Sequence[str] = tuple(APPLICATIONS)


PICTURES: Mapping[str, Picture] = {
    "transactions-threads": Picture("Evaluators on one thread and on more", ()),
    "transactions-partitions": Picture(
        "Transactions over several partitions", ("share", "length"), DIMENSIONS["share"].applications
    ),
    "transactions-reads": Picture("Reads and writes", ("reads",), ("grep_sum",)),
    "transactions-skew": Picture("Rows by Zipf's law", ("skew",)),
    "transactions-batch": Picture("Transactions between two punctuations", ("batch",)),
    "transactions-cost": Picture("Operations that are dearer", ("cost",)),
}
"""By the name of the file."""


def drawn(grid: Grid) -> Iterator[tuple[str, str]]:
    """The name and the SVG of each figure for which something was measured."""
    for name, picture in PICTURES.items():
        plots = [plot for application in picture.applications for plot in _plots(grid, picture, application)]
        if plots:
            yield name, as_svg(picture.title, UNIT, plots, columns=min(2, len(plots)))


def _plots(grid: Grid, picture: Picture, application: str) -> Iterator[Plot]:
    title = APPLICATIONS[application][1]
    if not picture.dimensions and DEFAULTS[application] in grid.points:
        yield _over_threads(title, grid.points[DEFAULTS[application]])
    for dimension in picture.dimensions:
        row = grid.along(along(application, dimension))
        if row:
            yield _over_values(title, DIMENSIONS[dimension].title, row)


def _over_threads(title: str, measured: Measured) -> Plot:
    counts = sorted({threads for _, threads in measured.cells})
    lines = []
    for name in measured.evaluators:
        # The serial one has one thread, whatever others have.
        keys = [(name, 1 if name == SERIAL else count) for count in counts]
        cells = [measured.cells.get(key) for key in keys]
        lines.append(_line(name, cells))
    return Plot(title, "threads", [str(count) for count in counts], lines)


def _over_values(title: str, across: str, row: Sequence[tuple[float, Measured]]) -> Plot:
    names = row[0][1].evaluators
    lines = [_line(name, [measured.at_most(name) for _, measured in row]) for name in names]
    return Plot(title, across, [f"{value:,g}" for value, _ in row], lines)


def _line(name: str, cells: Sequence[Cell | None]) -> Line:
    marks = [None if cell is None else Mark(cell.rate, min(cell.rates), max(cell.rates)) for cell in cells]
    return Line(name, marks, is_strong=name == SERIAL)
