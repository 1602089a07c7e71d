"""Files are read and written by every way, with the same rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Run, number


@pytest.mark.slow(daily=True)
def test_every_way_has_a_line(run_script: Run) -> None:
    rows = run_script("files.py", "--rows=2000", "--rounds=1")
    ways = [row for row in rows if len(row) == 2]
    assert len(ways) == 19 and all(number(ns) > 0 for _, ns in ways)


def test_all_ways_bring_the_same_rows(load_module: Callable[[str], ModuleType], tmp_path: Path) -> None:
    files = load_module("files")
    rows = files.rows_of(1500)
    files.write_files(tmp_path, rows)
    sources = {name: way(tmp_path) for name, way in files.READING.items() if "by hand" not in name}
    assert sources == {name: 1501 if name == "TextSource" else 1500 for name in sources}
    for name, way in files.writing(rows).items():
        folder = tmp_path / name
        folder.mkdir()
        way(folder)
        if name in ("SQLite by hand", "SqliteSink"):
            database = sqlite3.connect(folder / "out")
            assert database.execute("SELECT * FROM rows ORDER BY at").fetchall() == rows
            database.close()
