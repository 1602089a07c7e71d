"""The examples of docs/porting.md run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[4]
TEXT = (REPOSITORY / "docs" / "porting.md").read_text("utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    examples = re.findall(r"^```python\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
    for name, code in zip(["counting.py", "subscribed.py"], examples, strict=True):
        (tmp_path / name).write_text(code, "utf-8")
    return tmp_path


def viper(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "framework.cli", *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["counting", "subscribed"])
def test_its_examples_of_ticks(project: Path, name: str) -> None:
    ran = viper(project, "run", f"{name}.py", "-q", "--print", "count", "--worker", "inline")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split()[-1] == "3"


def test_what_flux_prints_has_no_shell_components(project: Path) -> None:
    """Storm cannot run it for this reason, as the page says."""
    printed = viper(project, "flux", "counting.py").stdout
    assert "className: counting.Count" in printed
    assert "FluxShell" not in printed
    assert "Storm cannot run what it prints" in " ".join(TEXT.split()).replace("**", "")
