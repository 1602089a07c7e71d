"""The results of an experiment as a table in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.peers.alternation import Measured, best_of_each
from benchmarks.peers.registry import YARDSTICKS, Experiment

NOTHING = "-"
"""Stands where there is no figure."""


def to_markdown(experiment: Experiment, measured: Sequence[Measured]) -> str:
    """The table of an experiment, below its title and above what is to be known about it."""
    if experiment.axis:
        header, rows = _growth(experiment, measured)
    elif experiment.is_latency:
        header, rows = _delays(measured)
    else:
        header, rows = _rates(measured)
    lines = [f"## {experiment.title}", "", *aligned(header, rows), "", *_notes(measured)]
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


def _rates(measured: Sequence[Measured]) -> tuple[Sequence[str], list[Sequence[str]]]:
    unit = measured[0].entry.task.unit
    known = [(system, best_rate(measured, system)) for system in YARDSTICKS]
    yardsticks = {system: rate for system, rate in known if rate is not None}
    header = ["", f"{unit}/s", "from", "to", *(f"of {system}" for system in yardsticks), "others' cores"]
    rows: list[Sequence[str]] = []
    for name, one in _named(measured):
        if one.rate is None:
            rows.append([name, *[NOTHING] * (len(header) - 1)])
            continue
        low, high = one.spread
        figures = [rounded(one.rate), rounded(low), rounded(high)]
        ratios = [f"{one.rate / rate:.2f}" for rate in yardsticks.values()]
        rows.append([name, *figures, *ratios, f"{one.foreign_cores:.2f}"])
    return header, rows


def _delays(measured: Sequence[Measured]) -> tuple[Sequence[str], list[Sequence[str]]]:
    header = ["", "p50 µs", "p99 µs", "p99 from", "to", "others' cores"]
    rows: list[Sequence[str]] = []
    for name, one in _named(measured):
        delays = one.delays_us
        if not delays:
            rows.append([name, *[NOTHING] * (len(header) - 1)])
            continue
        worst = [run.outcome.delays_us[-1] for run in one.runs]
        figures = [*delays.values(), min(worst), max(worst)]
        rows.append([name, *(f"{figure:,.0f}" for figure in figures), f"{one.foreign_cores:.2f}"])
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


def _notes(measured: Sequence[Measured]) -> Iterator[str]:
    """Yield the notes that readers of the figures need."""
    rounds = max((len(one.runs) for one in measured), default=0)
    yield f"Medians of {rounds} rounds." if rounds > 1 else "One round."
    versions = {one.entry.program: f"{one.entry.product} {one.version}" for one in measured if one.version}
    if versions:
        yield f"Measured with {', '.join(versions.values())}."
    if any(name.endswith("*") for name, one in _named(measured) if one.entry.x is None):
        yield "An asterisk marks the best of several settings."
    if any(one.entry.is_collapsing and one.rate for one in measured):
        yield "Pathway emits the newest row of a key once per commit, and not each."
    shares = {one.entry.system: one.entry.share for one in measured if one.entry.share != 1 and one.rate}
    if shares and not any(one.entry.x for one in measured):
        yield " ".join(f"{system} was given {share:g} times the input." for system, share in shares.items())
    for one in measured:
        if one.trouble:
            yield f"- {one.entry.name}: {one.trouble}"


def rounded(rate: float) -> str:
    """A rate with three figures that count."""
    digits = max(len(str(int(rate))) - 3, 0)
    return f"{round(rate, -digits):,.0f}"
