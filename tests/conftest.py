"""What holds for every test."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Examples are drawn the same way each time; a failure prints how to draw its example again. There is no
# deadline, since the machine may be busy with something else.
settings.register_profile("viper", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("viper")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the caller's own configuration out of the tests."""
    for variable in list(os.environ):
        if variable.startswith("VIPER_") or variable in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(variable)
