"""The results of an experiment as a table in Markdown."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.peers.alternation import Measured, best_of_each
from benchmarks.peers.entries import BYTEWAX, Shape, State
from benchmarks.peers.pairs import Measure, Pair
from benchmarks.peers.registry import YARDSTICKS, Experiment

NOTHING = "-"
"""Stands where there is no figure."""


def to_markdown(experiment: Experiment, measured: Sequence[Measured]) -> str:
    """The table of an experiment, below its title and above what is to be known about it."""
    if experiment.pairs:
        header, rows = _pairs(experiment, measured)
    elif experiment.axis:
        header, rows = _growth(experiment, measured)
    elif experiment.is_latency:
        header, rows = _delays(measured)
    else:
        header, rows = _rates(measured)
    lines = [f"## {experiment.title}", "", *aligned(header, rows), "", *_notes(experiment, measured)]
    return "\n".join(lines).rstrip() + "\n"


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table in Markdown: the first column to the left, the others, of numbers, to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    texts = [header, rule, *rows]
    return [
        "| "
        + " | ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        + " |"
        for cells in texts
    ]


def best_rate(measured: Sequence[Measured], system: str) -> float | None:
    """The best median of a system; None if it was not measured."""
    return next((best.rate for best in best_of_each(measured) if best.entry.system == system), None)


def best_alike(measured: Sequence[Measured], shape: Shape) -> float | None:
    """The best median of one worker of Bytewax whose functions get that shape; None if none was measured."""
    several = {"workers", "processes"}
    rates = [
        one.rate
        for one in measured
        if one.entry.product == BYTEWAX and one.entry.shape is shape and not several & set(one.entry.options)
        if one.rate is not None
    ]
    return max(rates, default=None)


def _rates(measured: Sequence[Measured]) -> tuple[Sequence[str], list[Sequence[str]]]:
    unit = measured[0].entry.task.unit
    known = [(system, best_rate(measured, system)) for system in YARDSTICKS]
    yardsticks = {system: rate for system, rate in known if rate is not None}
    alike = {shape: best_alike(measured, shape) for shape in Shape}
    names = [f"of {system}" for system in yardsticks]
    names += [f"of {BYTEWAX} alike"] if any(alike.values()) else []
    header = ["", f"{unit}/s", "from", "to", *names, "state", "others' cores"]
    rows: list[Sequence[str]] = []
    for name, one in _named(measured):
        if one.rate is None:
            rows.append([name, *[NOTHING] * (len(header) - 1)])
            continue
        low, high = one.spread
        figures = [rounded(one.rate), rounded(low), rounded(high)]
        others = [*yardsticks.values(), *([alike[one.entry.shape]] if any(alike.values()) else [])]
        ratios = [NOTHING if rate is None else f"{one.rate / rate:.2f}" for rate in others]
        rows.append([name, *figures, *ratios, one.entry.state or NOTHING, f"{one.foreign_cores:.2f}"])
    return header, rows


def _pairs(experiment: Experiment, measured: Sequence[Measured]) -> tuple[Sequence[str], list[Sequence[str]]]:
    """A row for each pair, whose ratios are those of its rounds."""
    header = [
        *("", "ours", "beside", "state", "its state", "measure", "is", "its", "ratio", "from", "to"),
        *("goal", "reached", "CPU ns", "its CPU ns", "others' cores"),
    ]
    rows: list[Sequence[str]] = []
    for pair in experiment.pairs:
        mine, other = (
            next((one for one in measured if one.entry == entry), None) for entry in (pair.ours, pair.other)
        )
        if mine is None or other is None:  # only some entries are wanted
            continue
        cells = _compared(pair, mine, other)
        first = [pair.work, pair.ours.name.removeprefix("ViperStorm "), pair.other.name]
        first += [entry.state or NOTHING for entry in (pair.ours, pair.other)]
        rows.append([*first, pair.measure, *(cells or [NOTHING] * (len(header) - 6))])
    return header, rows


def _compared(pair: Pair, mine: Measured, other: Measured) -> Sequence[str] | None:
    """The cells from the two figures on; None where there are none."""
    figures, others = mine.figures(pair.measure), other.figures(pair.measure)
    if not figures or not others:
        return None
    ratios = [figure / its for figure, its in zip(figures, others, strict=True)]
    median, ratio = statistics.median(figures), statistics.median(ratios)
    goals, reached = [], []
    if pair.goal is not None:
        is_rate = pair.measure is Measure.RATE
        goals.append(f"{pair.goal:g}" if is_rate else f"at most {pair.goal:g}")
        reached.append(ratio >= pair.goal if is_rate else ratio <= pair.goal)
    if pair.limit is not None:
        goals.append(f"is at most {_shown(pair.measure, pair.limit)}")
        reached.append(median <= pair.limit)
    return [
        *(_shown(pair.measure, figure) for figure in (median, statistics.median(others))),
        *(f"{number:.2f}" for number in (ratio, min(ratios), max(ratios))),
        ", ".join(goals) or NOTHING,
        ("yes" if all(reached) else "no") if reached else NOTHING,
        *(f"{one.unit_ns:,.1f}" if one.unit_ns < 100 else f"{one.unit_ns:,.0f}" for one in (mine, other)),
        f"{max(mine.foreign_cores, other.foreign_cores):.2f}",
    ]


def _shown(measure: Measure, figure: float) -> str:
    """A figure of a run with its unit."""
    if measure is Measure.RATE:
        return f"{rounded(figure)}/s"
    return f"{figure:.1%}" if measure is Measure.CPU else f"{figure:,.0f} µs"


def _delays(measured: Sequence[Measured]) -> tuple[Sequence[str], list[Sequence[str]]]:
    header = ["", "p50 µs", "p99 µs", "p99 from", "to", "of a core", "state", "others' cores"]
    rows: list[Sequence[str]] = []
    for name, one in _named(measured):
        delays = one.delays_us
        if not delays:
            rows.append([name, *[NOTHING] * (len(header) - 1)])
            continue
        worst = [run.outcome.delays_us[-1] for run in one.runs]
        figures = [*delays.values(), min(worst), max(worst)]
        cpu = statistics.median(one.figures(Measure.CPU))
        rest = [f"{cpu:.1%}", one.entry.state or NOTHING, f"{one.foreign_cores:.2f}"]
        rows.append([name, *(f"{figure:,.0f}" for figure in figures), *rest])
    return header, rows


def _named(measured: Sequence[Measured]) -> Iterator[tuple[str, Measured]]:
    """Each with its name, which has an asterisk where it is the best of several settings."""
    best = best_of_each(measured)
    settings = Counter(one.entry.system for one in measured)
    for one in measured:
        is_chosen = settings[one.entry.system] > 1 and one in best
        yield one.entry.name + (" *" if is_chosen else ""), one


def _growth(
    experiment: Experiment, measured: Sequence[Measured]
) -> tuple[Sequence[str], list[Sequence[str]]]:
    series = by_series(measured)
    axis = sorted({x for points in series.values() for x in points})
    header = [f"{measured[0].entry.task.unit}/s by {experiment.axis}", *(f"{x:,}" for x in axis)]
    rows: list[Sequence[str]] = [
        [name, *(rounded(points[x]) if x in points else NOTHING for x in axis)]
        for name, points in series.items()
    ]
    return header, rows


def by_series(measured: Sequence[Measured]) -> dict[str, dict[int, float]]:
    """The medians of a growth: for each system in a setting by what grows, as far as there are any."""
    series: dict[str, dict[int, float]] = {}
    for one in measured:
        if one.rate is not None and one.entry.x is not None:
            series.setdefault(one.entry.name, {})[one.entry.x] = one.rate
    return series


def _notes(experiment: Experiment, measured: Sequence[Measured]) -> Iterator[str]:
    """Yield the notes that readers of the figures need."""
    rounds = max((len(one.runs) for one in measured), default=0)
    yield f"Medians of {rounds} rounds." if rounds > 1 else "One round."
    versions = {one.entry.program: f"{one.entry.product} {one.version}" for one in measured if one.version}
    if versions:
        yield f"Measured with {', '.join(versions.values())}."
    is_single = not experiment.pairs and not experiment.axis
    if is_single and any(name.endswith("*") for name, _ in _named(measured)):
        yield "An asterisk marks the best of several settings."
    if any(one.entry.is_collapsing and one.rate for one in measured):
        yield "Pathway emits the newest row of a key once per commit, and not each."
    shares = {one.entry.system: one.entry.share for one in measured if one.entry.share != 1 and one.rate}
    if shares and is_single:
        yield " ".join(f"{system} was given {share:g} times the input." for system, share in shares.items())
    if any(one.entry.state is not State.NONE for one in measured):
        yield (
            "State is recovered by key, as one value of all keys, or lost with its process, if the system is "
            "told to recover it."
        )
    for one in measured:
        if one.trouble:
            yield f"- {experiment.label(one.entry)}: {one.trouble}"


def rounded(rate: float) -> str:
    """A rate with three figures that count."""
    digits = max(len(str(int(rate))) - 3, 0)
    return f"{round(rate, -digits):,.0f}"
