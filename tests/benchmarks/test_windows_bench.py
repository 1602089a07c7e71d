"""The benchmark of windows gives both sides the same rounds, and finds wrong windows."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def windows(load_module: Callable[[str], ModuleType]) -> ModuleType:
    return load_module("windows")


def test_all_take_turns_in_every_round(windows: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []

    def ours(made: object, *, columns: bool) -> float:
        turns.append("columns" if columns else "rows")
        return 100.0

    def bytewax(made: object, python: Path) -> float:
        turns.append("bytewax")
        return 100.0 * (1 + turns.count("bytewax") % 3)

    monkeypatch.setattr(windows, "ours", ours)
    monkeypatch.setattr(windows, "bytewax", bytewax)
    (first, *_) = windows.beside_the_peer(100, Path(sys.executable), 3)
    assert turns[:9] == ["columns", "rows", "bytewax"] * 3
    assert Counter(turns) == {"columns": 12, "rows": 12, "bytewax": 12}
    assert (first["bytewax"], first["bytewax to rows"]) == (100, 1.0), "the best of its rounds"


def test_without_the_peer_ours_are_measured_alone(
    windows: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(windows, "ours", lambda made, *, columns: 100.0)
    found = list(windows.beside_the_peer(100, tmp_path / "python", 2))
    assert len(found) == 4 and all("bytewax" not in line for line in found)


@pytest.mark.parametrize("columns", [False, True])
def test_a_wrong_window_ends_the_program(
    windows: ModuleType, monkeypatch: pytest.MonkeyPatch, columns: bool
) -> None:
    second = windows.SECOND_US
    made = windows.Input(500, 10, second, 60 * second, 10 * second)
    assert windows.ours(made, columns=columns) > 0
    count, digest = made.expected()
    monkeypatch.setattr(windows.Input, "expected", lambda made: (count, digest + 1))
    with pytest.raises(SystemExit, match=f"{count} windows, expected {count}, or others"):
        windows.ours(made, columns=columns)
