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


@pytest.mark.parametrize("which", ["of bolts", "of functions"])
def test_the_topology_prints_what_is_shown(which: str, readme: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```(?:python)?\n(.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL)
    of_bolts, shown, of_functions = blocks
    (tmp_path / "count.py").write_text(of_bolts if which == "of bolts" else of_functions)
    ran = subprocess.run(
        [sys.executable, "-m", "framework.cli", "run", "count.py", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", shown)


def test_what_it_links_to_exists(readme: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert [link for link in links if not (REPOSITORY / link.partition("#")[0]).is_file()] == []
