"""A streamparse project whose import lines are changed declares the same topologies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from framework.frontends.loading import load

ORIGINAL = Path(__file__).parents[3] / "fixtures" / "dsl"
NAMES = sorted(file.stem for file in (ORIGINAL / "topologies").glob("*.py"))


@pytest.fixture
def ported(tmp_path: Path) -> Path:
    shutil.copytree(ORIGINAL, tmp_path / "ported", ignore=shutil.ignore_patterns("__pycache__"))
    for file in (tmp_path / "ported").rglob("*.py"):
        text = file.read_text()
        for package in ("streamparse.thrift", "streamparse"):
            text = text.replace(f"from {package} import", "from framework import")
        assert "streamparse" not in text
        file.write_text(text)
    return tmp_path / "ported"


def test_there_are_topologies_to_port() -> None:
    assert NAMES == ["configured", "cycle", "dynamic", "environments", "foreign", "streams"]


@pytest.mark.parametrize("name", NAMES)
def test_the_ported_topology_is_equal(ported: Path, name: str) -> None:
    before = load(str(ORIGINAL / "topologies" / f"{name}.py"), environment="prod")
    after = load(str(ported / "topologies" / f"{name}.py"), environment="prod")
    assert before.problems == after.problems == ()
    assert before.topology is not None
    assert before.topology == after.topology
