"""The fixtures that tests of the runtime share."""

from __future__ import annotations

import pytest

from tests.framework.runtime.pieces import FakeClock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    return FakeClock(monkeypatch)
