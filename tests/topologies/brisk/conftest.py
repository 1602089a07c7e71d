"""The fixtures that tests of BriskStream's applications share: their modules, and their input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.topologies.brisk.cases import NAMES, Case, case_of

TOPOLOGIES = Path(__file__).parents[3] / "topologies"


@pytest.fixture(scope="session", autouse=True)
def path() -> Iterator[None]:
    """Add the folder of the applications to the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOPOLOGIES))
        yield


@pytest.fixture(scope="session")
def cases(path: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    """The applications with their input in files, and what must come out."""
    folder = tmp_path_factory.mktemp("brisk")
    return {name: case_of(name, folder) for name in NAMES}
