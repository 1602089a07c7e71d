"""The measurements of the grid of transactions: cells of evaluators at points, and the file of them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.transactions.points import Point

SERIAL, DEFAULT = "serial", "default"


@dataclass(frozen=True, slots=True)
class Cell:
    """An evaluator on some threads at a point; there is a value for each round."""

    evaluator: str
    threads: int
    is_wrong: bool
    """True if it gives other results than those of one transaction after the other."""
    rates: list[float] = field(default_factory=list)
    """Million transactions a second."""
    cpu_ns: list[float] = field(default_factory=list)
    """Of processor time for a transaction."""

    @property
    def rate(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.rates)

    @property
    def cpu(self) -> float:
        """Likewise of processor time."""
        return statistics.median(self.cpu_ns)

    def is_faster_than(self, other: Cell) -> bool:
        """True if its slowest round was faster than the other's fastest one."""
        return min(self.rates) > max(other.rates)


@dataclass(frozen=True, slots=True)
class Paths:
    """Sums over the batches of a load."""

    transactions: int
    operations: int
    transactions_path: int
    """The longest paths of transactions that conflict, each of which waits for the one before it."""
    operations_path: int
    """Likewise of operations."""

    @property
    def of_transactions(self) -> float:
        """The number of transactions under way at once, at most, if each takes equally long."""
        return self.transactions / self.transactions_path

    @property
    def of_operations(self) -> float:
        """Likewise of operations."""
        return self.operations / self.operations_path


@dataclass(frozen=True, slots=True)
class Measured:
    """A point, its paths and its cells."""

    point: Point
    paths: Paths
    cells: dict[tuple[str, int], Cell]
    """By evaluator and threads."""

    def add(self, told: Sequence[Mapping[str, Any]]) -> None:
        """Note one more round, as the program has printed it."""
        for line in told:
            key = line["evaluator"], line["threads"]
            cell = self.cells.setdefault(key, Cell(*key, is_wrong=line["wrong"]))
            cell.rates.append(line["median"])
            cell.cpu_ns.append(line["cpu"])

    @property
    def serial(self) -> Cell:
        """One transaction after the other, on one thread."""
        return self.cells[SERIAL, 1]

    @property
    def default(self) -> Cell:
        """The evaluator that runs use: the one of that name on most threads; without it the serial one."""
        chosen = [cell for cell in self.cells.values() if cell.evaluator == DEFAULT]
        return max(chosen, key=lambda cell: cell.threads, default=self.serial)

    def at_most(self, evaluator: str) -> Cell:
        """An evaluator on the most threads that it was measured on."""
        return max(self._of(evaluator), key=lambda cell: cell.threads)

    @property
    def evaluators(self) -> list[str]:
        """Their names, each once."""
        return list(dict.fromkeys(name for name, _ in self.cells))

    @property
    def right(self) -> Iterator[Cell]:
        """The cells of those that give right results."""
        return (cell for cell in self.cells.values() if not cell.is_wrong)

    def _of(self, evaluator: str) -> Iterator[Cell]:
        return (cell for cell in self.cells.values() if cell.evaluator == evaluator)


@dataclass(frozen=True, slots=True)
class Grid:
    """All that was measured, and how."""

    about: Mapping[str, Any]
    """The machine, and how many rounds and transactions there were."""
    points: Mapping[Point, Measured]

    def along(self, values: Iterator[tuple[float, Point]]) -> list[tuple[float, Measured]]:
        """List the points of these that were measured, each with the value that it is for.

        The list is empty if there are not two of them, as one was not varied then.
        """
        found = [(value, self.points[point]) for value, point in values if point in self.points]
        return found if len(found) > 1 else []


def save(path: Path, grid: Grid) -> None:
    """Write a file that `load` reads."""
    points = [
        {
            "point": asdict(measured.point),
            "paths": asdict(measured.paths),
            "cells": [asdict(cell) for cell in measured.cells.values()],
        }
        for measured in grid.points.values()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**grid.about, "points": points}, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Grid:
    """Read a file that `save` has written."""
    told = json.loads(path.read_text(encoding="utf-8"))
    found = {}
    for each in told.pop("points"):
        point = Point(**each["point"])
        cells = [Cell(**cell) for cell in each["cells"]]
        by_key = {(cell.evaluator, cell.threads): cell for cell in cells}
        found[point] = Measured(point, Paths(**each["paths"]), by_key)
    return Grid(told, found)


def paths_of(told: Mapping[str, Any]) -> Paths:
    """Read paths as the program prints them."""
    return Paths(**{name: told[name] for name in Paths.__dataclass_fields__})
