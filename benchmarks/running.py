"""Running a topology as the benchmarks do, measuring in fresh processes, and tables of what came of it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from framework.model.config import resolve
from framework.model.topology import Topology
from framework.planning import make_plan
from framework.runtime import run
from framework.runtime.report import RunReport

Measured = TypeVar("Measured")


def run_with(topology: Topology, options: dict[str, Any], **arguments: Any) -> RunReport:
    """Run a topology with options of the configuration; other arguments are those of `run`."""
    settings, problems = resolve(topology, options=options)
    assert not problems, problems
    return run(make_plan(topology, settings), settings, **arguments)


def output_of(script: str, *arguments: object) -> Any:
    """Run a script in a process of its own, where nothing is warm from another run, and read its JSON.

    Args:
        script: the file.
        arguments: of its command line.
    """
    command = [sys.executable, script, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def printed_by(module: str, *arguments: str) -> Any:
    """Run a module of the benchmarks in a process of its own, and read the JSON that it prints.

    Args:
        module: its name, as of ``python -m``.
        arguments: of its command line.
    """
    command = [sys.executable, "-m", module, *arguments]
    folder = Path(__file__).parents[1]
    return json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=folder).stdout
    )


def in_turn(
    names: Iterable[str], forms: Iterable[str], rounds: int, measure: Callable[[str, str], Measured]
) -> dict[tuple[str, str], list[Measured]]:
    """Measure each name in each form, all of them in turn, round after round.

    Args:
        names: of the programs that are measured.
        forms: in which each of them is.
        rounds: how often.
        measure: measures a name in a form once.
    """
    found: dict[tuple[str, str], list[Measured]] = {kind: [] for kind in product(names, forms)}
    for _ in range(rounds):
        for kind, runs in found.items():
            runs.append(measure(*kind))
    return found


def code_of(tree: str) -> dict[str, str]:
    """The environment of a process that imports the code of another folder; empty: that of this process."""
    return {**os.environ, "PYTHONPATH": str(Path(tree).resolve())} if tree else dict(os.environ)


def rates_in_turn(
    kinds: Iterable[str], rounds: int, measure: Callable[[str], tuple[int, float]]
) -> dict[str, list[float]]:
    """Measure kinds of the same work in turn, so that a busy machine slows all of them alike.

    Args:
        kinds: their names.
        rounds: how often each is measured.
        measure: gives the words of one kind, and the seconds that they took.

    Returns:
        Words per second, by kind.
    """
    rates: dict[str, list[float]] = {kind: [] for kind in kinds}
    counted = set()
    for _ in range(rounds):
        for kind, measured in rates.items():
            words, seconds = measure(kind)
            counted.add(words)
            measured.append(words / seconds)
    if len(counted) != 1:
        sys.exit(f"the kinds have counted different numbers of words: {sorted(counted)}")
    return rates


def print_rates(rates: Mapping[str, Sequence[float]], *bases: str) -> None:
    """Print the median of each kind in words per second, its ratio to the kinds named, and its spread."""
    medians = {kind: statistics.median(measured) for kind, measured in rates.items()}
    width = max(map(len, rates))
    for kind, measured in rates.items():
        ratios = " ".join(f"{medians[kind] / medians[base]:5.2f}" for base in bases)
        spread = f"({min(measured):,.0f} to {max(measured):,.0f})"
        print(f"{kind:{width}} {medians[kind]:12,.0f} words/s  {ratios}  {spread}")


def print_rates_by_cpu(rates: Mapping[str, Sequence[tuple[float, float]]], base: str, digits: int) -> None:
    """Print the medians of each kind, and their ratios to those of one of them.

    Args:
        rates: by kind, each time the words per second and per CPU second.
        base: the kind that the others are compared with.
        digits: of the ratios, after the point.
    """
    medians = {kind: [statistics.median(c) for c in zip(*all_, strict=True)] for kind, all_ in rates.items()}
    widths = (-9, 12, 6, 18, 6)
    print_row(("", "words/s", "ratio", "words/CPU second", "ratio"), widths)
    for kind, (rate, per_cpu) in medians.items():
        ratios = [f"{a / b:.{digits}f}" for a, b in zip((rate, per_cpu), medians[base], strict=True)]
        print_row((kind, round(rate), ratios[0], round(per_cpu), ratios[1]), widths)


def print_row(cells: Sequence[Any], widths: Sequence[int]) -> None:
    """Print one line of a table, at once.

    Args:
        cells: texts and numbers.
        widths: characters of each column; negative where it is aligned to the left.
    """
    texts = (cell if isinstance(cell, str) else f"{cell:,}" for cell in cells)
    aligned = (f"{text:>{w}}" if w > 0 else f"{text:<{-w}}" for text, w in zip(texts, widths, strict=True))
    print("  ".join(aligned), flush=True)
