"""The README's topologies run as they stand, and print what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def readme() -> str:
    return (REPOSITORY / "README.md").read_text(encoding="utf-8")


def blocks_of(readme: str) -> list[str]:
    """Its topologies, what they read, and what they print, in their order; YAML is an excerpt."""
    return re.findall(r"^```(?:python|csv)?\n(.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL)


def printed(program: str, folder: Path) -> str:
    """Run a topology, and return its output; it prints nothing else."""
    ran = subprocess.run(
        [sys.executable, "-m", "framework.cli", "run", program, "--quiet"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.few(1)
@pytest.mark.parametrize("which", ["of bolts", "of functions"])
def test_the_topology_prints_what_is_shown(which: str, readme: str, tmp_path: Path) -> None:
    of_bolts, shown, of_functions, *_ = blocks_of(readme)
    (tmp_path / "count.py").write_text(of_bolts if which == "of bolts" else of_functions)
    assert printed("count.py", tmp_path) == shown


def test_the_windows_are_as_shown_at_any_parallelism(readme: str, tmp_path: Path) -> None:
    *_, orders, program, shown = blocks_of(readme)
    (tmp_path / "orders.csv").write_text(orders)
    for par in (1, 2, 7):
        (tmp_path / "takings.py").write_text(program.replace("par=2", f"par={par}"))
        assert printed("takings.py", tmp_path) == shown


def test_what_it_links_to_exists(readme: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert [link for link in links if not (REPOSITORY / link.partition("#")[0]).is_file()] == []
