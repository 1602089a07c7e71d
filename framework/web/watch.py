"""Looks at a run once a second from outside, and remembers what it saw for some time."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from framework.model.errors import SuspendError, ViperError
from framework.runtime.coordination.commands import ask
from framework.runtime.durability.checkpoints.lock import is_locked
from framework.runtime.observation import (
    Bottleneck,
    ComponentRates,
    Recent,
    RunDescription,
    RunSnapshot,
    bottleneck,
)
from framework.web.history import History

PERIOD_S = 1.0
"""Seconds between two looks."""
KEPT = 900
"""Looks that curves are drawn of: a quarter of an hour."""
SILENT_AFTER_S = 10.0
"""Seconds without an answer after which a run counts as silent."""
_ANSWERS_WITHIN_S = 5.0
_TAKING_TIME = ("suspend", "checkpoint", "scale")
"""Commands that take as long as the run's own configuration lets them."""


class Outcome:
    """The end of a run, as reported by the program that started it."""

    def __init__(self) -> None:
        self.text = ""
        """``ended``, or ``failed:`` and the error; empty until somebody reports it."""
        self.told = threading.Event()
        self.looked_s = 0.0
        """The monotonic time at which a page has asked last, in seconds."""
        self.heard = threading.Event()
        """Set when a page has heard of it."""

    def tell(self, text: str) -> None:
        """The run has ended; from any thread."""
        self.text = text
        self.told.set()

    def asked(self) -> str:
        """A page asks."""
        self.looked_s = time.monotonic()
        if self.told.is_set():
            self.heard.set()
        return self.text

    def wait_for_pages(self, within_s: float) -> None:
        """Wait until a page that somebody watches has heard of it, if there is one."""
        if time.monotonic() - self.looked_s < within_s:
            self.heard.wait(within_s)


@dataclass(frozen=True, slots=True)
class Look:
    """One snapshot of the run, with its number, its time and the rates since earlier ones."""

    number: int
    """From 1 upwards."""
    at_s: float
    """Seconds since 1970."""
    snapshot: RunSnapshot
    rates: Mapping[str, ComponentRates]
    """By component; empty where there is nothing to compare with."""

    @property
    def holds(self) -> Bottleneck | None:
        """The component that the run has to wait for, if there is one."""
        return bottleneck(self.snapshot, self.rates)


class RunWatch:
    """Watches one run, which may end at any time.

    Args:
        control: the folder by which it is found.
        outcome: how it has ended, once that is known.

    Raises:
        SuspendError: no run is going on that has this folder, or it gives no answer.
        ViperError: it is of another version.
    """

    def __init__(self, control: Path, outcome: Outcome | None = None) -> None:
        self.control = control
        self.outcome = Outcome() if outcome is None else outcome
        self.description = RunDescription.from_object(self.ask("describe"))
        """The description of the run."""
        self.ended = threading.Event()
        """Set when the run has ended."""
        self.history = History()
        """The totals of its components, at several times."""
        self._recent = Recent()
        self._samples: deque[Mapping[str, Any]] = deque(maxlen=KEPT)
        self._shares: deque[tuple[float, float | None]] = deque(maxlen=30)
        """The last moments, and how much of the run was over then."""
        self.last = self._taken(1, RunSnapshot.from_object(self.ask("look")))
        """The last look that the run has answered."""

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
        """Poll once; a run that gives no answer is polled again later.

        Raises:
            ViperError: it is of another version.
        """
        try:
            snapshot = RunSnapshot.from_object(self.ask("look"))
        except SuspendError:
            if not is_locked(self.control):
                self.ended.set()
            return
        if snapshot.run != self.description.run:  # another one has begun in the same place
            self.ended.set()
            return
        self.last = self._taken(self.last.number + 1, snapshot)

    @property
    def state(self) -> str:
        """``starting``, ``running``, ``inactive``, ``draining``, ``silent`` or ``ended``."""
        last = self.last
        if self.ended.is_set() or self.outcome.told.is_set():
            return "ended"
        if time.time() - last.at_s > SILENT_AFTER_S:
            return "silent"
        if last.snapshot.draining:
            return "draining"
        if not last.snapshot.elapsed_s:
            return "starting"
        return "running" if last.snapshot.active else "inactive"

    def samples_behind(self, number: int) -> Sequence[Mapping[str, Any]]:
        """The points of curves after the snapshot of this number."""
        return [sample for sample in tuple(self._samples) if sample["number"] > number]

    @property
    def to_go_s(self) -> float | None:
        """Seconds until the run is over, by its pace of the last seconds; None where nobody knows."""
        shares = tuple(self._shares)
        (from_s, before), (at_s, now) = shares[0], shares[-1]
        if now is None or before is None or now <= before:
            return None
        return (1.0 - now) * (at_s - from_s) / (now - before)

    def ask(self, command: str, **arguments: Any) -> Mapping[str, Any]:
        """Give the run a command, as `framework.runtime.coordination.commands.ask`.

        Raises:
            SuspendError: the run has ended, or gives no answer.
            ViperError: it refuses.
        """
        within_s = None if command in _TAKING_TIME else _ANSWERS_WITHIN_S
        return ask(self.control, command, refused=ViperError, within_s=within_s, **arguments)

    def _taken(self, number: int, snapshot: RunSnapshot) -> Look:
        look = Look(number, time.time(), snapshot, self._recent.add(snapshot))
        self.history.add(snapshot)
        self._samples.append(_sample(look))
        self._shares.append((snapshot.at_s, snapshot.share))
        return look

    def _run(self, over: threading.Event) -> None:
        try:
            while not (over.wait(PERIOD_S) or self.ended.is_set()):
                self.look()
        finally:
            self.ended.set()


def as_rates(look: Look) -> Mapping[str, Any]:
    """The rates of each component."""
    return {component: {**asdict(rates), "idle": rates.idle} for component, rates in look.rates.items()}


def _sample(look: Look) -> Mapping[str, Any]:
    """A look as a point of curves over time."""
    return {
        "number": look.number,
        "at_s": look.at_s,
        "components": {
            each.id: {**_shown(look.rates.get(each.id)), "fill": each.fill}
            for each in look.snapshot.components
        },
    }


def _shown(rates: ComponentRates | None) -> Mapping[str, Any]:
    if rates is None:
        return {}
    names = ("rate", "capacity", "p50_s", "p99_s")
    return {name: getattr(rates, name) for name in names}
