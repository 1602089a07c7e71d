"""The fixtures that tests of the transactional applications share: their modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TOPOLOGIES = Path(__file__).parents[3] / "topologies"


@pytest.fixture(scope="session", autouse=True)
def path() -> Iterator[None]:
    """Add the folder of the applications to the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOPOLOGIES))
        yield


@pytest.fixture(scope="session")
def generators(path: None) -> Any:
    """The module that draws their input."""
    __import__("transactions.generators")
    return sys.modules["transactions.generators"]


@pytest.fixture(scope="session")
def drawing(generators: Any) -> Any:
    return sys.modules["transactions.drawing"]
