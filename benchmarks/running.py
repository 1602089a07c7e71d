"""Planning and running a topology as the benchmarks do, and tables of what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from framework.config import resolve
from framework.planning import make_plan
from framework.runtime import run
from framework.runtime.report import RunReport
from framework.topology import Topology


def run_with(topology: Topology, options: dict[str, Any], **arguments: Any) -> RunReport:
    """Run a topology with options of the configuration; other arguments are those of `run`."""
    settings, problems = resolve(topology, options=options)
    assert not problems, problems
    return run(make_plan(topology, settings), settings, **arguments)


def print_row(cells: Sequence[Any], widths: Sequence[int]) -> None:
    """Print one line of a table, at once.

    Args:
        cells: texts and numbers.
        widths: characters of each column; negative where it is aligned to the left.
    """
    texts = (cell if isinstance(cell, str) else f"{cell:,}" for cell in cells)
    aligned = (f"{text:>{w}}" if w > 0 else f"{text:<{-w}}" for text, w in zip(texts, widths, strict=True))
    print("  ".join(aligned), flush=True)
