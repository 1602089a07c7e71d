"""Plots of lines beside each other, as SVG that can be read in black and white."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from benchmarks.peers.drawing import DASHES, MARKS, Scale, line, mark, text

PLOT_WIDTH, PLOT_HEIGHT, LEFT, RIGHT, HEAD, FOOT = 300, 190, 62, 18, 34, 52
"""Pixels: of the plot itself, and of what is around it."""
WIDTH_OF_NAME = 150


@dataclass(frozen=True, slots=True)
class Mark:
    """A value, and its range."""

    value: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class Line:
    """The marks of one thing, such as an evaluator; None for a mark without a value."""

    name: str
    marks: Sequence[Mark | None]
    is_strong: bool = False
    """True if the others are to be compared with it."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over values of one parameter, which stand at equal distances, on a scale of powers of ten."""

    title: str
    across: str
    """The parameter."""
    values: Sequence[str]
    lines: Sequence[Line]


def as_svg(title: str, unit: str, plots: Sequence[Plot], columns: int = 2) -> str:
    """A figure.

    Args:
        title: of all of it.
        unit: of the values, above each plot.
        plots: those of a line have the same kind of mark everywhere.
        columns: how many stand beside each other.
    """
    names = list(dict.fromkeys(each.name for plot in plots for each in plot.lines))
    wide, high = LEFT + PLOT_WIDTH + RIGHT, HEAD + PLOT_HEIGHT + FOOT
    width = 20 + wide * columns
    in_row = max((width - 20) // WIDTH_OF_NAME, 1)
    top = 56 + 20 * -(-len(names) // in_row)
    height = top + high * -(-len(plots) // columns)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
    )
    parts = [head, f"<title>{escape(title)}</title>", '<rect width="100%" height="100%" fill="white"/>']
    parts.append(text(20, 26, escape(title), size=16))
    strong = {each.name for plot in plots for each in plot.lines if each.is_strong}
    for number, name in enumerate(names):
        x, y = 20 + WIDTH_OF_NAME * (number % in_row), 48 + 20 * (number // in_row)
        parts += _name(name, number, (x, y), is_strong=name in strong)
    for number, plot in enumerate(plots):
        x, y = 20 + wide * (number % columns) + LEFT, top + high * (number // columns) + HEAD
        parts += _plot(plot, names, unit, (x, y))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _name(name: str, number: int, corner: tuple[float, float], *, is_strong: bool) -> Iterator[str]:
    x, y = corner
    yield line((x, y), (x + 30, y), _style(number, is_strong=is_strong))
    yield mark(MARKS[number % len(MARKS)], x + 15, y, _fill(number))
    yield text(x + 38, y + 4, escape(name), size=12)


def _plot(plot: Plot, names: Sequence[str], unit: str, corner: tuple[float, float]) -> Iterator[str]:
    left, top = corner
    bottom = top + PLOT_HEIGHT
    told = [each for one in plot.lines for each in one.marks if each is not None]
    low, high = min(each.lowest for each in told), max(each.highest for each in told)
    up = Scale(low / 1.15, high * 1.15, bottom, -PLOT_HEIGHT, is_log=True)
    across = Scale(0, max(len(plot.values) - 1, 1), left + 16, PLOT_WIDTH - 32, is_log=False)
    yield text(left, top - 10, f"{escape(plot.title)}, {escape(unit)}", size=12)
    for tick in up.ticks():
        yield line((left, up(tick)), (left + PLOT_WIDTH, up(tick)), 'stroke="#ddd"')
        yield text(left - 6, up(tick) + 4, f"{tick:,.10g}", anchor="end", size=11)
    for number, value in enumerate(plot.values):
        yield text(across(number), bottom + 16, escape(value), anchor="middle", size=11)
    yield text(left + PLOT_WIDTH / 2, bottom + 34, escape(plot.across), anchor="middle", size=11)
    for one in plot.lines:
        yield from _line(one, names.index(one.name), across, up)


def _line(one: Line, number: int, across: Scale, up: Scale) -> Iterator[str]:
    points = [(across(place), each) for place, each in enumerate(one.marks) if each is not None]
    for (x, each), (next_x, following) in pairwise(points):
        style = _style(number, is_strong=one.is_strong)
        yield line((x, up(each.value)), (next_x, up(following.value)), style)
    for x, each in points:
        yield line((x, up(each.lowest)), (x, up(each.highest)), 'stroke="#222" stroke-width="1"')
        yield mark(MARKS[number % len(MARKS)], x, up(each.value), _fill(number))


def _style(number: int, *, is_strong: bool) -> str:
    dash = DASHES[number % len(DASHES)]
    width = 3 if is_strong else 1.4
    return f'stroke="#222" stroke-width="{width}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _fill(number: int) -> str:
    """Marks come again in grey."""
    return ("white", "#999")[number // len(MARKS) % 2]
