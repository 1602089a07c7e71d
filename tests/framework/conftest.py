"""The fixtures that tests of the framework share."""

from __future__ import annotations

import warnings
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def streamparse() -> ModuleType:
    """streamparse, imported without the warnings of the SSH library that its command line needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import streamparse
    return streamparse
