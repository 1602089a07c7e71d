"""Lines, marks, texts and scales of figures in SVG that can be read in black and white."""

from __future__ import annotations

import math

DASHES = ("", "8 4", "2 3", "10 3 2 3", "5 5", "1 5", "14 4", "6 2 2 2")
MARKS = ("circle", "square", "diamond", "triangle")


def text(x: float, y: float, content: str, *, anchor: str = "start", size: int = 13) -> str:
    """A line of text, which has been escaped."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}">{content}</text>'


class Scale:
    """The scale that maps numbers to an axis.

    Args:
        low: the least number.
        high: the largest.
        start: pixel of the axis's beginning.
        length: pixels from there to its end; negative where it runs upwards.
        is_log: whether it has equal steps for equal ratios.
    """

    def __init__(self, low: float, high: float, start: float, length: float, *, is_log: bool) -> None:
        self._is_log = is_log
        self._low, self._high = self._at(low), self._at(high)
        self._start = start
        self._length = length

    def __call__(self, number: float) -> float:
        """The pixel of a number."""
        whole = self._high - self._low or 1.0
        return self._start + (self._at(number) - self._low) / whole * self._length

    def ticks(self) -> list[float]:
        """Round numbers within it: powers of ten, maybe three times these, or four to ten equal steps."""
        if self._is_log:
            powers = range(math.floor(self._low), math.ceil(self._high) + 1)
            # Beyond three powers of ten there is no room for further numbers.
            factors = (1, 3) if self._high - self._low < 3 else (1,)
            found = [factor * 10.0**power for power in powers for factor in factors]
            return [tick for tick in found if self._low <= self._at(tick) <= self._high]
        step = 10.0 ** math.floor(math.log10(self._high / 2 or 1.0))
        step *= next(factor for factor in (1, 2, 5, 10) if self._high / (step * factor) <= 10)
        return [step * number for number in range(int(self._high / step) + 1)]

    def _at(self, number: float) -> float:
        return math.log10(number) if self._is_log else number


def line(start: tuple[float, float], end: tuple[float, float], style: str) -> str:
    """A line between two points."""
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def mark(kind: str, x: float, y: float, fill: str) -> str:
    """A mark of one of the kinds around a point."""
    style = f'fill="{fill}" stroke="#222" stroke-width="1.6"'
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {style}/>'
    corners = {
        "square": ((-4, -4), (4, -4), (4, 4), (-4, 4)),
        "diamond": ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)),
        "triangle": ((0, -5), (5, 4), (-5, 4)),
    }[kind]
    joined = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{joined}" {style}/>'
