"""The figure of Viper's evaluation: for each operator and layer throughput, processor time and delays."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from benchmarks.peers.drawing import DASHES, MARKS, Scale, line, mark, text
from framework.version import VERSION

LAYERS = {
    "communication": "communication layer",
    "operator": "merge bolts, in C",
    "operator-python": "merge bolts, in Python",
}
MEASURES = {
    "rows_a_second": "rows/s",
    "cpu_s_a_million": "CPU s per million rows",
    "delay_ms": "median delay, ms",
}
WIDTH, PLOT_WIDTH, PLOT_HEIGHT, LEFT, TOP, GAP = 900, 220, 120, 90, 100, 46


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid."""

    operator: str
    injectors: int
    instances: int
    values: Mapping[str, Mapping[str, Sequence[float]]]
    """For each layer and measure the value of each round."""

    @classmethod
    def parsed(cls, text: str) -> Cell:
        """Read a line that `as_json` has made, of which only the values count."""
        told = json.loads(text)
        return cls(told["operator"], told["injectors"], told["instances"], told["values"])

    def median(self, layer: str, measure: str) -> float:
        """The median of the rounds."""
        return statistics.median(self.values[layer][measure])

    def ratios(self, layer: str, measure: str) -> list[float]:
        """Of each round the communication layer's value by that of another layer, ascending."""
        ours, others = self.values["communication"][measure], self.values[layer][measure]
        return sorted(a / b for a, b in zip(ours, others, strict=True))

    def as_json(self) -> str:
        """A line with medians, ratios to the other layers with their range, and all values."""
        told = {
            f"{measure}, {layer}": float(f"{self.median(layer, measure):.4g}")
            for measure in MEASURES
            for layer in LAYERS
        }
        ratios = {
            f"{measure} to {layer}": [
                round(found, 3) for found in (statistics.median(all_), all_[0], all_[-1])
            ]
            for measure in ("rows_a_second", "cpu_s_a_million")
            for layer in list(LAYERS)[1:]
            for all_ in [self.ratios(layer, measure)]
        }
        head = {"operator": self.operator, "injectors": self.injectors, "instances": self.instances}
        return json.dumps({**head, **told, **ratios, "values": self.values})


def machine() -> str:
    """The processor, how many of it, and versions."""
    info = Path("/proc/cpuinfo")
    names = [row for row in info.read_text().splitlines() if "model name" in row] if info.exists() else []
    name = names[0].partition(":")[2].strip() if names else platform.machine()
    return f"{name}, {os.cpu_count()} cores; Python {platform.python_version()}, ViperStorm {VERSION}"


def as_svg(cells: Sequence[Cell], caption: str) -> str:
    """A grid of plots for each operator: layers beside each other, measures below each other.

    Args:
        cells: all cells; a line of a plot has those with one number of injectors.
        caption: what they were measured on.
    """
    operators = list(dict.fromkeys(cell.operator for cell in cells))
    block = len(MEASURES) * (PLOT_HEIGHT + GAP) + 40
    height = TOP + block * len(operators)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12">'
    )
    title = "Determinism by the communication layer and by operators"
    parts = [head, f"<title>{title}</title>", '<rect width="100%" height="100%" fill="white"/>']
    parts += [text(20, 26, title, size=16), text(20, 44, escape(caption), size=11), *_legend(cells)]
    for number, operator in enumerate(operators):
        found = [cell for cell in cells if cell.operator == operator]
        parts += _block(operator, found, TOP + number * block)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(cells: Sequence[Cell]) -> Iterator[str]:
    for number, injectors in enumerate(sorted({cell.injectors for cell in cells})):
        x = 20 + 120 * number
        yield line((x, 62), (x + 30, 62), _style(number))
        yield mark(MARKS[number % len(MARKS)], x + 15, 62, "white")
        yield text(x + 38, 66, f"{injectors} injector{'s' if injectors > 1 else ''}")


def _block(operator: str, cells: Sequence[Cell], top: float) -> Iterator[str]:
    yield text(20, top, escape(operator), size=14)
    for row, (measure, unit) in enumerate(MEASURES.items()):
        most = max(cell.median(layer, measure) for cell in cells for layer in LAYERS)
        bottom = top + 30 + PLOT_HEIGHT + row * (PLOT_HEIGHT + GAP)
        up = Scale(0.0, most, bottom, -PLOT_HEIGHT, is_log=False)
        for column, (layer, name) in enumerate(LAYERS.items()):
            left = LEFT + column * (PLOT_WIDTH + GAP)
            if not row:
                yield text(left + PLOT_WIDTH / 2, top, escape(name), anchor="middle")
            yield from _plot(cells, layer, measure, left, bottom, up, labels=not column)
        yield text(20, bottom - PLOT_HEIGHT - 6, escape(unit), size=11)


def _plot(
    cells: Sequence[Cell], layer: str, measure: str, left: float, bottom: float, up: Scale, *, labels: bool
) -> Iterator[str]:
    counts = sorted({cell.instances for cell in cells})
    across = Scale(counts[0], counts[-1], left + 10, PLOT_WIDTH - 20, is_log=False)
    ticks = up.ticks()
    for tick in ticks[:: 1 + len(ticks) // 6]:
        yield line((left, up(tick)), (left + PLOT_WIDTH, up(tick)), 'stroke="#ddd"')
        if labels:
            yield text(left - 6, up(tick) + 4, f"{tick:,.10g}", anchor="end", size=11)
    yield text(left + PLOT_WIDTH, bottom + 30, "instances", anchor="end", size=11)
    for count in counts:
        yield text(across(count), bottom + 16, str(count), anchor="middle", size=11)
    for number, injectors in enumerate(sorted({cell.injectors for cell in cells})):
        points = [
            (across(cell.instances), up(cell.median(layer, measure)))
            for cell in sorted(cells, key=lambda cell: cell.instances)
            if cell.injectors == injectors
        ]
        for start, end in pairwise(points):
            yield line(start, end, _style(number))
        for x, y in points:
            yield mark(MARKS[number % len(MARKS)], x, y, "white")


def _style(number: int) -> str:
    dash = DASHES[number % len(DASHES)]
    return 'stroke="#222" stroke-width="1.6"' + (f' stroke-dasharray="{dash}"' if dash else "")
