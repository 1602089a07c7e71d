"""A project folder to load targets from."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

COMPONENTS = """
    from framework import Bolt, Spout

    class Words(Spout):
        outputs = ["word"]
        def next_tuple(self): self.emit(["dog"])

    class Count(Bolt):
        outputs = ["word", "count"]
        def process(self, tup): pass
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Writes a file of the project in the current folder, which has components already."""
    monkeypatch.chdir(tmp_path)

    def written(path: str, text: str) -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
        return file

    written("src/components.py", COMPONENTS)
    return written
