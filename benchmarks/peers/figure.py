"""The results of an experiment as a figure in SVG that can be read in black and white."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from benchmarks.peers.alternation import Measured, best_of_each
from benchmarks.peers.drawing import DASHES, MARKS, Scale, line, mark, text
from benchmarks.peers.registry import Experiment
from benchmarks.peers.table import by_series, rounded

WIDTH, LABELS, NUMBERS, MARGIN = 860, 250, 110, 20
"""Pixels: of the whole, of the names to the left, of the figures to the right, and around everything."""
ROW, BAR, TOP = 26, 16, 56
PLOT = WIDTH - LABELS - NUMBERS - 2 * MARGIN

PATTERNS = """<defs>
<pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="6" height="6" fill="white"/><rect width="2.4" height="6" fill="#333"/></pattern>
</defs>"""
FILLS = {"ours": "#222", "plain": "white"}
"""By program; peers are striped."""


def to_svg(experiment: Experiment, measured: Sequence[Measured]) -> str:
    """The figure of an experiment: bars or delays of the best setting of each system, or lines of growth."""
    if experiment.axis:
        height, body = _lines(experiment, by_series(measured))
    elif experiment.is_latency:
        height, body = _delays([one for one in best_of_each(measured) if one.delays_us])
    else:
        height, body = _bars(best_of_each(measured))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="13">'
    )
    unit = "" if experiment.is_latency or not measured else f", {measured[0].entry.task.unit}/s"
    title = escape(experiment.title + unit)
    parts = [head, f"<title>{title}</title>", PATTERNS, '<rect width="100%" height="100%" fill="white"/>']
    parts.append(text(MARGIN, 28, title, size=16))
    return "\n".join([*parts, *body, "</svg>"]) + "\n"


def _bars(best: Sequence[Measured]) -> tuple[int, Iterator[str]]:
    longest = max((one.spread[1] for one in best), default=1.0)
    return TOP + ROW * len(best) + MARGIN, _drawn_bars(best, PLOT / longest)


def _drawn_bars(best: Sequence[Measured], scale: float) -> Iterator[str]:
    """A bar to the median for each, with a whisker from the lowest rate to the highest."""
    for number, one in enumerate(best):
        assert one.rate is not None
        y, left = TOP + ROW * number, MARGIN + LABELS
        yield text(left - 8, y + BAR - 3, escape(one.entry.system), anchor="end")
        fill = FILLS.get(one.entry.program, "url(#stripes)")
        bar = f'x="{left}" y="{y}" width="{one.rate * scale:.1f}" height="{BAR}"'
        yield f'<rect class="bar" {bar} fill="{fill}" stroke="#222"/>'
        low, high = (left + rate * scale for rate in one.spread)
        middle = y + BAR / 2
        # White around the whisker sets it off from a dark bar.
        for colour, width in (("white", 4), ("#888", 2)):
            yield line((low, middle), (high, middle), f'stroke="{colour}" stroke-width="{width}"')
        yield text(max(high, left + one.rate * scale) + 6, y + BAR - 3, rounded(one.rate))


def _delays(best: Sequence[Measured]) -> tuple[int, Iterator[str]]:
    return TOP + ROW * len(best) + 2 * MARGIN + 20, _drawn_delays(best)


def _drawn_delays(best: Sequence[Measured]) -> Iterator[str]:
    """For each a line from the median of its delays to the 99th percentile, on a scale of powers of ten."""
    delays = [delay for one in best for delay in one.delays_us.values()] or [10.0, 100.0]
    scale = Scale(min(delays), max(delays), MARGIN + LABELS + 10, PLOT - 10, is_log=True)
    bottom = TOP + ROW * len(best)
    for tick in scale.ticks():
        x = scale(tick)
        yield line((x, TOP - 8), (x, bottom), 'stroke="#ccc"')
        yield text(x, bottom + 18, duration(tick), anchor="middle")
    for number, one in enumerate(best):
        y = TOP + ROW * number + BAR / 2
        p50, p99 = (scale(delay) for delay in one.delays_us.values())
        yield text(MARGIN + LABELS - 8, y + 5, escape(one.entry.system), anchor="end")
        yield line((p50, y), (p99, y), 'stroke="#222" stroke-width="2"')
        yield mark("circle", p50, y, "white")
        yield mark("square", p99, y, "#222")
        yield text(p99 + 10, y + 5, " / ".join(map(duration, one.delays_us.values())))
    yield text(MARGIN, bottom + 38, "circle: median; square: 99th percentile")


def _lines(experiment: Experiment, series: Mapping[str, Mapping[int, float]]) -> tuple[int, Iterator[str]]:
    height = 360
    return TOP + height + 60 + 20 * len(series), _drawn_lines(experiment, series, height)


def _drawn_lines(
    experiment: Experiment, series: Mapping[str, Mapping[int, float]], height: int
) -> Iterator[str]:
    """A line for each series, with dashes and marks of its own, above the list of their names."""
    xs = sorted({x for points in series.values() for x in points}) or [1]
    rates = [rate for points in series.values() for rate in points.values()] or [1.0]
    left, right, bottom = MARGIN + 90, WIDTH - 2 * MARGIN, TOP + height
    across = Scale(xs[0], xs[-1], left, right - left, is_log=True)
    up = Scale(0.0, max(rates), bottom, -height, is_log=False)
    for tick in up.ticks():
        yield line((left, up(tick)), (right, up(tick)), 'stroke="#ddd"')
        yield text(left - 8, up(tick) + 4, f"{tick:,.0f}", anchor="end")
    for x in xs:
        yield text(across(x), bottom + 20, f"{x:,}", anchor="middle")
    yield text(right, bottom + 38, escape(experiment.axis), anchor="end")
    for number, (name, points) in enumerate(series.items()):
        yield from _series(number, "series", [(across(x), up(points[x])) for x in sorted(points)])
        y = bottom + 56 + 20 * number
        yield from _series(number, "legend", [(left, y), (left + 60, y)])
        yield text(left + 72, y + 4, escape(name))


def _series(number: int, kind: str, path: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Draw a line through points, in the style of the series of this number."""
    dash = DASHES[number % len(DASHES)]
    style = 'fill="none" stroke="#222" stroke-width="1.6"' + (f' stroke-dasharray="{dash}"' if dash else "")
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
    yield f'<polyline class="{kind}" points="{joined}" {style}/>'
    fill = "#222" if number // len(MARKS) % 2 else "white"
    for x, y in path:
        yield mark(MARKS[number % len(MARKS)], x, y, fill)


def duration(microseconds: float) -> str:
    """A time with three figures that count."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} µs"
