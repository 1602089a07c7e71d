"""The README's topology runs as it stands, and prints what the README says."""

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


def test_the_topology_prints_what_is_shown(readme: str, tmp_path: Path) -> None:
    code, shown = re.findall(r"^```(?:python)?\n(.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "count.py").write_text(code)
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
