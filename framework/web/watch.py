"""Looks at a run once a second from outside, and remembers what it saw for some minutes."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from framework.checkpoints.control import ask
from framework.checkpoints.lock import is_locked
from framework.errors import SuspendError, ViperError
from framework.observing import ComponentRates, Recent, RunDescription, RunSnapshot, rates_between

PERIOD_S = 1.0
"""Seconds between two looks."""
KEPT = 900
"""Looks that are remembered: a quarter of an hour."""
SILENT_AFTER_S = 10.0
"""Seconds without an answer after which a run counts as silent."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look has shown."""

    number: int
    """From 1 upwards."""
    at_s: float
    """Seconds since 1970."""
    snapshot: RunSnapshot
    rates: Mapping[str, ComponentRates]
    """By component; empty where there is nothing to compare with."""


class RunWatch:
    """Watches one run, which may end at any time.

    Args:
        control: the folder by which it is found.

    Raises:
        ViperError: no run is going on that has this folder, or it is of another version.
    """

    def __init__(self, control: Path) -> None:
        self.control = control
        self.description = RunDescription.from_object(ask(control, "describe"))
        """What the run is."""
        self.ended = threading.Event()
        """Set when the run has ended."""
        self._recent = Recent()
        self._looks: deque[Look] = deque(maxlen=KEPT)
        self._number = 0
        self.look()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """For as long as the block runs, a thread looks once a second, until the run has ended."""
        over = threading.Event()
        thread = threading.Thread(target=self._run, args=(over,), name="viper-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()

    def look(self) -> None:
        """Look once; a run that gives no answer is looked at again later.

        Raises:
            ViperError: it is of another version.
        """
        try:
            snapshot = RunSnapshot.from_object(ask(self.control, "look"))
        except SuspendError:
            if not is_locked(self.control):
                self.ended.set()
            return
        self._number += 1
        self._looks.append(Look(self._number, time.time(), snapshot, self._recent.add(snapshot)))

    @property
    def last(self) -> Look:
        """The last look that the run has answered."""
        return self._looks[-1]

    @property
    def state(self) -> str:
        """``starting``, ``running``, ``inactive``, ``draining``, ``silent`` or ``ended``."""
        last = self.last
        if self.ended.is_set():
            return "ended"
        if time.time() - last.at_s > SILENT_AFTER_S:
            return "silent"
        if last.snapshot.draining:
            return "draining"
        if not last.snapshot.elapsed_s:
            return "starting"
        return "running" if last.snapshot.active else "inactive"

    def behind(self, number: int) -> list[Look]:
        """The looks behind one of this number that are remembered."""
        return [look for look in tuple(self._looks) if look.number > number]

    def over_last(self, seconds: float) -> tuple[RunSnapshot, Mapping[str, ComponentRates]] | None:
        """The earliest snapshot of the last seconds, and the rates since then; None if it is the only one."""
        looks = tuple(self._looks)
        now = looks[-1]
        earliest = next(look for look in looks if look.snapshot.at_s >= now.snapshot.at_s - seconds)
        if earliest is now:
            return None
        return earliest.snapshot, rates_between(earliest.snapshot, now.snapshot)

    @property
    def to_go_s(self) -> float | None:
        """Seconds until the run is over, by its pace of the last seconds; None where nobody knows."""
        looks = tuple(self._looks)[-30:]
        now, before = looks[-1].snapshot, looks[0].snapshot
        if now.share is None or before.share is None or now.share <= before.share:
            return None
        return (1.0 - now.share) * (now.at_s - before.at_s) / (now.share - before.share)

    def ask(self, command: str, **arguments: Any) -> Mapping[str, Any]:
        """Give the run a command, as `framework.checkpoints.control.ask`.

        Raises:
            ViperError: the run refuses, or has ended.
        """
        return ask(self.control, command, refused=ViperError, **arguments)

    def _run(self, over: threading.Event) -> None:
        while not (over.wait(PERIOD_S) or self.ended.is_set()):
            self.look()


def as_sample(look: Look) -> Mapping[str, Any]:
    """A look as a point of curves over time."""
    return {
        "number": look.number,
        "at_s": look.at_s,
        "components": {
            each.id: {
                **(_shown(look.rates[each.id]) if each.id in look.rates else {}),
                "fill": each.fill,
                "waiting": each.waiting,
                "errors": each.errors,
                "parallelism": each.parallelism,
            }
            for each in look.snapshot.components
        },
    }


def as_rates(look: Look) -> Mapping[str, Any]:
    """The rates of each component."""
    return {component: {**asdict(rates), "idle": rates.idle} for component, rates in look.rates.items()}


def _shown(rates: ComponentRates) -> Mapping[str, Any]:
    return {
        "rate": rates.rate,
        "capacity": rates.capacity,
        "blocked": rates.blocked,
        "p50_s": rates.p50_s,
        "p99_s": rates.p99_s,
    }
