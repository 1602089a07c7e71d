"""The example files, in a folder of their own that also holds the modules that they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from framework.frontends.flux import load_flux
from framework.model.topology import Loaded

FILES = Path(__file__).parent / "files"


@pytest.fixture(autouse=True)
def _in_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the examples' folder the current one, so that places are short, and their modules importable."""
    monkeypatch.chdir(FILES)
    monkeypatch.syspath_prepend(str(FILES / "src"))


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Loaded]:
    """Loads a text, as the file ``topology.yaml``."""

    def loaded(text: str, **options: object) -> Loaded:
        file = tmp_path / "topology.yaml"
        file.write_text(text, "utf-8")
        return load_flux(file, **options)  # type: ignore[arg-type]

    return loaded
