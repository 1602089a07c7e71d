"""The machine that a profile is measured on: its processors, what they share, and the way between them."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from framework.optimizer.costs.hardware import Cache, Crossing, Hardware

_SYSTEM = Path("/sys/devices/system/cpu")
_INFO = Path("/proc/cpuinfo")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MOST_PAIRS = 12
"""Pairs that are measured at most; each takes a fraction of a second."""
_TIMES = 3


def hardware(*, system: Path = _SYSTEM, info: Path = _INFO, with_crossings: bool = True) -> Hardware:
    """The processors that this process may use.

    Args:
        system: where Linux describes processors.
        info: where they call themselves by name.
        with_crossings: whether the way between them is measured.
    """
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    caches = tuple(sorted(set(_caches(system, cpus)), key=lambda cache: (cache.level, cache.cpus)))
    return Hardware(_model(info), cpus, caches, crossings(cpus) if with_crossings else ())


def crossings(cpus: Sequence[int]) -> tuple[Crossing, ...]:
    """The way of a cache line between processors, pair by pair; none where there is one processor only.

    Of many processors only some pairs are measured, all of which have the first one.
    """
    pairs = list(combinations(cpus, 2))
    if len(pairs) > _MOST_PAIRS:
        pairs = pairs[:_MOST_PAIRS]
    measured = ((first, second, _bounced_ns(first, second)) for first, second in pairs)
    return tuple(Crossing(first, second, ns) for first, second, ns in measured if ns is not None)


def _bounced_ns(first: int, second: int) -> float | None:
    """The median of some times; None where the processors did not run both sides at once."""
    command = [sys.executable, "-m", "framework.optimizer.profiling.bounce", str(first), str(second)]
    times = []
    for _ in range(_TIMES):
        ran = subprocess.run(command, check=False, capture_output=True, text=True)
        if ran.returncode == 0:
            times.append(float(ran.stdout))
    return round(statistics.median(times), 1) if times else None


def _model(info: Path) -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.*)$", info.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return ""
    return found[1].strip() if found else ""


def _caches(system: Path, cpus: Sequence[int]) -> Iterator[Cache]:
    """The caches of some processors that several of the machine's may share."""
    for cpu in cpus:
        for folder in sorted(system.glob(f"cpu{cpu}/cache/index*")):
            try:
                level, size, sharing = (
                    (folder / name).read_text(encoding="ascii").strip()
                    for name in ("level", "size", "shared_cpu_list")
                )
            except OSError:
                continue
            shared = numbers_of(sharing)
            if len(shared) > 1 and size:
                yield Cache(int(level), _bytes_of(size), shared)


def numbers_of(listed: str) -> tuple[int, ...]:
    """The numbers of a list as Linux writes it, such as ``0-3,8``."""
    found: list[int] = []
    for part in filter(None, listed.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def _bytes_of(size: str) -> int:
    unit = _UNITS.get(size[-1])
    return int(size) if unit is None else int(size[:-1]) * unit
