"""The rules for every test of reliability: it ends in time, and leaves nothing behind."""

from __future__ import annotations

from tests.framework.runtime.conftest import clock
from tests.framework.runtime.workers.conftest import _ends_and_leaves_nothing

__all__ = ["_ends_and_leaves_nothing", "clock"]
