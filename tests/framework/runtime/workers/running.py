"""Runs of what was built, on workers of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.runtime import RunReport
from tests.framework.runtime.pieces import run_built


@dataclass(frozen=True, slots=True)
class Workers:
    """The kind and the number of workers that run a topology."""

    kind: str
    number: int = 1

    def __str__(self) -> str:
        return f"{self.kind}-{self.number}"

    @property
    def options(self) -> dict[str, Any]:
        """The configuration that chooses them, with dots written as ``__``; each of them has some tasks."""
        dealt = {} if self.kind == "inline" else {"viper__placement": "round-robin"}
        return {"viper__worker": self.kind, "topology__workers": self.number, **dealt}

    def run(
        self, builder: TopologyBuilder, limits: dict[str, Any] | None = None, **options: Any
    ) -> RunReport:
        """Run what was built on them; arguments as of `run_built`."""
        return run_built(builder, limits, **{**self.options, **options})


INLINE = Workers("inline")
THREADS = Workers("thread", 3)
PROCESSES = Workers("process", 3)

every_kind = pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)
several = pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
