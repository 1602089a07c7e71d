"""The rules for every test of hosting: it ends in time, and leaves nothing behind."""

from __future__ import annotations

from tests.framework.runtime.workers.conftest import _ends_and_leaves_nothing, gate, marks

__all__ = ["_ends_and_leaves_nothing", "gate", "marks"]
