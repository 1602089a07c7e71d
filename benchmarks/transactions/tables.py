"""The tables of a grid, in Markdown, and what follows from it in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.peers.table import aligned
from benchmarks.transactions.conclusions import CORES, gains, losses, needs
from benchmarks.transactions.points import APPLICATIONS, DEFAULTS, DIMENSIONS, along
from benchmarks.transactions.results import DEFAULT, SERIAL, Cell, Grid, Measured

NAMES = {name: title for name, (_, title) in APPLICATIONS.items()}


def summary(grid: Grid) -> list[str]:
    """The tables that a page has, each with a sentence before it."""
    about = grid.about
    sections = (throughput, default_losses, cores_needed, work_needed, bounds, ratios)
    head = (
        f"{about['machine']}; medians of {about['rounds']} rounds, with the range of all, over "
        f"{about['transactions']:,} transactions each."
    )
    return [head, *(line for section in sections for line in ("", *section(grid)))]


def throughput(grid: Grid) -> Iterator[str]:
    """All evaluators with the paper's defaults."""
    points = {name: grid.points[DEFAULTS[name]] for name in APPLICATIONS if DEFAULTS[name] in grid.points}
    keys = list(dict.fromkeys(key for measured in points.values() for key in measured.cells))
    rows = []
    for evaluator, threads in keys:
        cells = [measured.cells.get((evaluator, threads)) for measured in points.values()]
        wrong = " (wrong)" if any(cell is not None and cell.is_wrong for cell in cells) else ""
        rows.append([f"{evaluator}{wrong}", str(threads), *(_with_range(cell) for cell in cells)])
    yield "Million transactions a second, with the paper's defaults:"
    yield ""
    yield from aligned(["evaluator", "threads", *(NAMES[name] for name in points)], rows)


def default_losses(grid: Grid) -> Iterator[str]:
    """List the points at which the default is slower than another evaluator."""
    found = losses(grid)
    names = {measured.default.evaluator for measured in grid.points.values()}
    default = "the default" if names == {DEFAULT} else "the serial one, which runs use,"
    if not found:
        yield f"At none of {len(grid.points)} points, {default} is slower than another beyond the ranges."
        return
    yield f"At {len(found)} of {len(grid.points)} points, {default} is slower than another beyond the ranges:"
    yield ""
    rows = []
    for loss in found:
        differs = [
            f"{name} {getattr(loss.point, name):g}"
            for name in DIMENSIONS
            if getattr(loss.point, name) != getattr(DEFAULTS[loss.point.application], name)
        ]
        faster = f"{loss.faster.evaluator}, {_threads(loss.faster.threads)}"
        told = [NAMES[loss.point.application], ", ".join(differs) or "the defaults", faster]
        rows.append([*told, _with_range(loss.default), _with_range(loss.faster), f"{loss.times:.2f}"])
    yield from aligned(["application", "point", "faster", "default, M/s", "faster, M/s", "times"], rows)


def cores_needed(grid: Grid) -> Iterator[str]:
    """Tabulate how many cores each evaluator needs to be as fast as the serial one."""
    rows = []
    for need in needs(grid):
        cores = str(need.cores) if need.cores is not None else "never"
        ratio = f"{need.ratio:.2f} ({need.lowest:.2f} to {need.highest:.2f})"
        told = [NAMES[need.application], need.evaluator, ratio, cores]
        rows.append([*told, f"{need.bound:.1f}", f"{need.gain:.1f}"])
    yield (
        "Processor time on one thread, of the serial evaluator's, and so how many cores it takes to come to "
        "its speed, if none of them ever waits; how many can be busy at most, as paths of what conflicts are "
        f"so long; and the most that follows for {CORES} cores, times the serial one:"
    )
    yield ""
    heads = ["application", "evaluator", "of the serial one's time", "cores", "busy at most"]
    yield from aligned([*heads, f"times, {CORES} cores"], rows)


def work_needed(grid: Grid) -> Iterator[str]:
    """From what work a batch on a parallel evaluator gains."""
    rows = []
    for gain in gains(grid):
        if gain.faster is None:
            told = ["none of these", f"more than {gain.batch_us:,.0f}", ""]
        else:
            faster = f"{gain.faster.evaluator}, {_threads(gain.faster.threads)}"
            told = [f"{gain.cost:g}", f"{gain.batch_us:,.0f}", faster]
        rows.append([NAMES[gain.application], *told])
    if not rows:
        yield "From what work on parallel evaluators gain is not known: dearer operations were not measured."
        return
    yield (
        "How much dearer operations must be before a parallel evaluator is faster than the serial one beyond "
        "the ranges, of those measured, and the serial work of a batch then:"
    )
    yield ""
    yield from aligned(["application", "ns an operation", "µs a batch", "evaluator"], rows)


def bounds(grid: Grid) -> Iterator[str]:
    """Tabulate how many can be under way at once, by skew."""
    values = [f"{value:g}" for value in DIMENSIONS["skew"].values]
    rows = []
    for name in APPLICATIONS:
        row = dict(grid.along(along(name, "skew")))
        for unit in ("transactions", "operations"):
            told = [getattr(row[value].paths, f"of_{unit}") for value in row]
            texts = [f"{min(number, CORES):.1f} ({number:.0f})" for number in told]
            if len(texts) == len(values):
                rows.append([NAMES[name], unit, *texts])
    yield (
        f"The bound at {CORES} cores from paths alone: how many transactions, or operations, of a batch of "
        f"{DEFAULTS['grep_sum'].batch} can be under way at once, by Zipf's exponent (in brackets for any "
        "number of cores). Reads do not conflict with each other:"
    )
    yield ""
    yield from aligned(["application", "of", *values], rows)


def ratios(grid: Grid) -> Iterator[str]:
    """Along each dimension the best parallel evaluator beside the serial one."""
    for name, dimension in DIMENSIONS.items():
        rows = []
        for application in APPLICATIONS:
            row = grid.along(along(application, name))
            if row:
                rows.append([NAMES[application], *(_best_in_parallel(measured) for _, measured in row)])
        if rows and len(rows[0]) == len(dimension.values) + 1:
            given = "".join(f", {key} {value:g}" for key, value in dimension.given.items())
            yield f"The best evaluator on several threads, times the serial one, by {dimension.title}{given}:"
            yield ""
            yield from aligned(["application", *(f"{value:g}" for value in dimension.values)], rows)
            yield ""


def all_rates(grid: Grid) -> Iterator[str]:
    """Of each application and dimension all evaluators, on their most threads."""
    for name, dimension in DIMENSIONS.items():
        for application in APPLICATIONS:
            row = grid.along(along(application, name))
            if row:
                yield f"### {NAMES[application]}: {dimension.title}"
                yield ""
                yield from _rates(row)
                yield ""


def _rates(row: Sequence[tuple[float, Measured]]) -> list[str]:
    names = row[0][1].evaluators
    rows = [[name, *(_with_range(measured.at_most(name)) for _, measured in row)] for name in names]
    return aligned(["million a second", *(f"{value:g}" for value, _ in row)], rows)


def _best_in_parallel(measured: Measured) -> str:
    others = (cell for cell in measured.right if cell.evaluator not in (SERIAL, DEFAULT))
    several = (cell for cell in others if cell.threads > 1)
    best = max(several, key=lambda cell: cell.rate, default=None)
    return "" if best is None else f"{best.rate / measured.serial.rate:.2f} {best.evaluator}"


def _with_range(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return f"{_three(cell.rate)} ({_three(min(cell.rates))} to {_three(max(cell.rates))})"


def _three(number: float) -> str:
    """With three digits that count."""
    return f"{number:.3g}"


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count > 1 else ''}"
