"""docs/aggregates.md: its examples run, print what it shows, and it has every name there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from framework.frontends.flux import to_flux
from framework.frontends.loading import load
from framework.operators.windows import aggregates
from framework.operators.windows.aggregates import PaneWindow, written
from tests.framework.frontends.multilang.pieces import run_topology

TEXT = (Path(__file__).parents[4] / "docs" / "aggregates.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def block(language: str, number: int = 0) -> str:
    return [text for found, text in BLOCKS if found == language][number]


def test_the_example_prints_what_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "orders.py").write_text(block("python"), "utf-8")
    loaded = load(str(tmp_path / "orders.py"))
    assert loaded.topology is not None, loaded.problems
    run_topology(loaded.topology)
    assert capfd.readouterr().out == block("text")


def test_the_yaml_does_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "orders.py").write_text(block("python"), "utf-8")
    topology = load(str(tmp_path / "orders.py")).topology
    assert topology is not None
    printed = to_flux(topology)
    spouts = printed[printed.index("spouts:") : printed.index("bolts:")]
    streams = printed[printed.index("streams:") :].replace("aggregate", "figures")
    sink = "  - {id: print, className: viperstorm.sinks.ConsoleSink}\n"
    (tmp_path / "figures.yaml").write_text(f"name: figures\n{spouts}{block('yaml')}{sink}{streams}", "utf-8")
    loaded = load(str(tmp_path / "figures.yaml"))
    assert loaded.topology is not None, loaded.problems
    run_topology(loaded.topology)
    assert capfd.readouterr().out == block("text")


def test_the_example_of_none_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(block("python", 1), {})


def test_the_own_aggregate_works() -> None:
    scope: dict[str, Any] = {}
    exec(block("python", 2), scope)
    window = PaneWindow(scope["Product"](), 2)
    for pane in range(1, 5):
        window.add(pane, pane)
    assert [window.result(end) for end in (2, 3, 4, 5)] == [1, 2, 6, 12]


def test_every_aggregate_is_in_the_table() -> None:
    described = set(re.findall(r"`(\w+)\(", TEXT))
    others = {"Adder", "PaneWindow", "pane_of"}
    assert set(aggregates.__all__) - others - {"Aggregate"} <= described
    assert written.read(["top_k", "amount", 3, {"of": "user"}])
