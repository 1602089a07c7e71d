"""The examples of docs/testing.md are a file of tests, which passes."""

from __future__ import annotations

import re
from pathlib import Path

import viperstorm.testing
from tests.viperstorm.test_fixtures import run_pytest

TEXT = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_every_example_passes(tmp_path: Path) -> None:
    (tmp_path / "test_examples.py").write_text("\n\n".join(EXAMPLES))
    done = run_pytest(tmp_path)
    count = len(re.findall(r"^def test_", "\n".join(EXAMPLES), flags=re.MULTILINE))
    assert f"{count} passed" in done.stdout, done.stdout + done.stderr
    assert "warning" not in done.stdout


def test_every_public_name_is_told() -> None:
    assert [name for name in viperstorm.testing.__all__ if name not in TEXT] == [
        "BoltRun",
        "SpoutRun",
        "TopologyRun",
    ]
