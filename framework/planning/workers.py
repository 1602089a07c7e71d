"""How many workers a run has."""

from __future__ import annotations

import os

from framework.model.config import AUTO_WORKERS, Settings


def usable_cores() -> int:
    """How many cores this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return allowed or 1


def is_auto(settings: Settings) -> bool:
    """Whether a run decides by itself what runs where."""
    return bool(settings["topology.workers"] == AUTO_WORKERS)


def workers_of(settings: Settings) -> int:
    """How many workers share the tasks: as configured, or one for each core."""
    return usable_cores() if is_auto(settings) else int(settings["topology.workers"])
