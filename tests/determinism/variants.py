"""One cell of the matrix: a topology, and one of the plans that must not show in its output."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from framework.model.config.keys import KEYS
from framework.runtime.execution.heuristics import HEURISTICS
from tests.determinism.forms import FORMS
from tests.determinism.noise import NOISE
from tests.determinism.topologies import FOR_ONE_PARALLELISM, TOPOLOGIES

PARALLELISMS = (1, 2, 3, 4, 6)
JUMBO_SIZES = (1, 2, 7, 64, 1024, 4096)
SEEDS = range(20)
MERGE_BOLTS = ("operator", "operator-python")
"""The layers that put streams into one order, besides that of the gates."""
WORKERS = {"inline": (1,), "thread": (1, 2, 3), "process": (1, 2, 3)}
"""Numbers of workers of each kind that the matrix knows."""


def kinds() -> tuple[str, ...]:
    """The kinds of worker that the configuration allows."""
    return tuple(kind for kind in WORKERS if kind in KEYS["viper.worker"].rule.names)


@dataclass(frozen=True, slots=True)
class Variant:
    """A topology and the way to run it; everything else is drawn from this."""

    topology: str
    par: int
    worker: str
    workers: int
    jumbo: int
    seed: int
    """Of schedule and noise; with 0 there is no noise, and the usual scheduling."""

    def __str__(self) -> str:
        return " ".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))

    @property
    def watched(self) -> bool:
        """True if every stream is watched, which makes every stream one with several subscribers."""
        return self._draw("watched").random() < 0.5

    @property
    def scaled(self) -> int | None:
        """The seed of the numbers of tasks that bolts get while the run continues; None for none."""
        draw = self._draw("scaled")
        is_outside = self.topology in FOR_ONE_PARALLELISM
        return None if is_outside or not self.seed or draw.random() < 0.5 else draw.randrange(1000)

    @property
    def form(self) -> str:
        """One of the forms that a topology may have."""
        return self._draw("form").choice(FORMS)

    @property
    def scheduling(self) -> str:
        """The policy by which tasks are chosen; half of all noisy runs have one that goes by costs."""
        half = len(HEURISTICS) * ("random",)
        return self._draw("scheduling").choice((*half, *HEURISTICS)) if self.seed else "downstream"

    def options(self) -> dict[str, Any]:
        """The configuration to run it with."""
        draw, draw_columns = self._draw("options"), self._draw("columns")
        return {
            "viper.worker": self.worker,
            "topology.workers": self.workers,
            "viper.jumbo.size": self.jumbo,
            "viper.channel.jumbos": draw.choice((1, 2, 64)),
            "viper.channel.tuples": draw.choice((self.jumbo, 8192)),
            "viper.columns.rows": draw_columns.choice((1, 3, 16_384)),
            "viper.channel.bytes": draw_columns.choice((65_536, 8 * 1024 * 1024)),
            "viper.slice.tuples": draw.choice((1, 3, 64, 4096)),
            **self._groups(),
            "viper.chains": self._draw("chains").random() < 0.75,
            "viper.sharing": self._sharing(),
            "viper.async.in_flight": self._draw("in flight").choice((1, 2, 3, 32)),
            "viper.worker.threads": self._threads(),
            "viper.merge.layer": self._draw("layer").choice((*["communication"] * 3, *MERGE_BOLTS)),
            "viper.scheduling": self.scheduling,
            "viper.seed": self.seed,
            "viper.drain.timeout.secs": 1,  # a run that stands still need not be waited for
            NOISE: str(self) if self.seed else None,
            **self._placement(draw),
        }

    def switch_interval_s(self) -> float:
        """Draw the interval at which threads take turns."""
        return self._draw("switch").choice((5e-3, 1e-4, 1e-6)) if self.seed else 5e-3

    def _placement(self, draw: random.Random) -> dict[str, Any]:
        if "viper.placement" not in KEYS:
            return {}
        return {"viper.placement": draw.choice(("round-robin", "component"))}

    def _threads(self) -> int:
        """The threads that share the tasks of a worker."""
        return 1 if self.worker == "inline" else self._draw("threads").choice((1, 1, 2, 3))

    def _sharing(self) -> str:
        """By claims, nobody can tell which task gets a tuple: that shows where tasks say it."""
        tells = self.topology in FOR_ONE_PARALLELISM
        return "dealt" if tells else self._draw("sharing").choice(("dealt", "claims"))

    def _groups(self) -> dict[str, Any]:
        """The number of key groups says which task gets a key: that shows where replicas are told apart.

        What windows by key emit at one time stands in the order of the groups.
        """
        if self.topology in FOR_ONE_PARALLELISM or self.topology == "windows_by_key":
            return {}
        return {"viper.key.groups": self._draw("groups").choice((8, 256, 1024))}

    def _draw(self, purpose: str) -> random.Random:
        # By its text: Python hashes a str differently in each process.
        return random.Random(f"{self}/{purpose}")


def parse(text: str) -> Variant:
    """The variant that `str` has printed.

    Raises:
        ValueError: no such variant.
    """
    given = dict(word.partition("=")[::2] for word in text.split())
    names = [field.name for field in fields(Variant)]
    known = given.get("topology") in TOPOLOGIES and given.get("worker") in WORKERS
    if not known or sorted(given) != sorted(names):
        raise ValueError(
            f"{text!r} is no variant: expected {' '.join(f'{name}=...' for name in names)}, "
            f"with a topology out of {', '.join(TOPOLOGIES)}, and a worker out of {', '.join(WORKERS)}"
        )
    typed = {name: value if name in ("topology", "worker") else int(value) for name, value in given.items()}
    return Variant(**typed)  # type: ignore[arg-type]


def product(topology: str, kind: str) -> Iterator[Variant]:
    """Every variant of one topology with one kind of worker."""
    for par, workers, jumbo, seed in itertools.product(PARALLELISMS, WORKERS[kind], JUMBO_SIZES, SEEDS):
        yield Variant(topology, par, kind, workers, jumbo, seed)


def sample(topology: str, kind: str, count: int, seed: int) -> list[Variant]:
    """Some of them, all different, drawn from a seed."""
    variants = list(product(topology, kind))
    return random.Random(f"{seed}/{topology}/{kind}").sample(variants, min(count, len(variants)))
