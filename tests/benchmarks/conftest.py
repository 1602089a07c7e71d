"""The scripts in `benchmarks/`, run as a user runs them, and their modules."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"

Run = Callable[..., list[list[str]]]
"""Runs a script with arguments; the table that it prints, without the head, by line and column."""


@pytest.fixture
def run_script() -> Run:
    def run(name: str, *arguments: str, head: int = 1) -> list[list[str]]:
        command = [sys.executable, str(FOLDER / name), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        # Two spaces at least are between columns, and one at most within them.
        return [_cells(line) for line in done.stdout.splitlines()[head:]]

    return run


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell]


@pytest.fixture
def load_module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a module of the folder, and those that it imports, for the one test."""

    def load(name: str) -> ModuleType:
        monkeypatch.syspath_prepend(str(FOLDER))
        for found in FOLDER.glob("*.py"):
            monkeypatch.delitem(sys.modules, found.stem, raising=False)
        spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # dataclasses look their module up.
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


def number(cell: str) -> float:
    """Read the number in a cell of a table."""
    return float(cell.replace(",", ""))
