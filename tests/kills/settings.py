"""The configuration of runs that are killed, drawn from both ends of what the keys allow."""

from __future__ import annotations

import random
from typing import Any

from framework import TopologyBuilder
from framework.model.config.keys import EVALUATORS
from framework.runtime.execution.heuristics import HEURISTICS

TINIEST = {
    "viper__jumbo__size": 1,
    "viper__channel__jumbos": 1,
    "viper__channel__tuples": 1,
    "viper__channel__bytes": 1024,
    "viper__columns__rows": 1,
    "viper__slice__tuples": 1,
}
"""The smallest values of what bounds channels and slices."""


def drawn_settings(chance: random.Random, builder: TopologyBuilder, workers: int = 3) -> dict[str, Any]:
    """Settings that must not show in the output, but for the kind of workers; keys with ``__`` for dots."""
    jumbo = chance.choice((1, 2, 16, 16, 64, 1024, 65536))
    bounds = {
        "viper__jumbo__size": jumbo,
        "viper__channel__jumbos": chance.choice((1, 2, 64, 64)),
        "viper__channel__tuples": max(jumbo, chance.choice((1, 16, 8192))),
        "viper__channel__bytes": chance.choice((1024, 8192, 4194304)),
        "viper__columns__rows": chance.choice((1, 32, 16384)),
        "viper__slice__tuples": chance.choice((1, 8, 16, 64)),
    }
    ids = [component.id for component in builder.build("tested").components]
    placements: list[Any] = ["round-robin", "component"]
    placements += [{id: _workers(chance, workers) for id in ids} for _ in range(2)]
    return {
        **(TINIEST if chance.random() < 0.2 else bounds),
        "viper__jumbo__linger__ms": chance.choice((0, 1, 5)),
        "viper__placement": chance.choice(placements),
        "viper__chains": chance.random() < 0.6,
        "viper__scheduling": chance.choice(("downstream", "random", *HEURISTICS)),
        "viper__seed": chance.randrange(1000),
        "viper__key__groups": chance.choice((8, 256, 65536)),  # at least as many as tasks
        "viper__shuffle__run": chance.choice((1, 1, 4, 1024)),
        "viper__mutates": chance.random() < 0.7,
        "viper__poll__pause__max__ms": chance.choice((0, 1, 100)),
        "viper__sink__apply__rows": chance.choice((20, 100, 100_000)),  # each time with an fsync
        "viper__sink__apply__secs": chance.choice((0.001, 1.0)),
        "viper__transactions__gather": chance.choice((1, 3, 512)),
        "viper__state__bytes": 1 << chance.choice((26, 29)),
        "topology__state__checkpoint__interval__ms": chance.choice((1, 1000)),
        "topology__acker__executors": chance.choice((0, None)),
        "viper__standby__workers": chance.choice((0, 0, 1)),
        "viper__transactions__evaluator": chance.choice(EVALUATORS),
        "viper__transactions__threads": chance.choice((None, 1, 2)),
    }


def _workers(chance: random.Random, workers: int) -> Any:
    """One worker for all tasks of a component, or several."""
    chosen = sorted(chance.sample(range(1, workers + 1), chance.randint(1, workers)))
    return chosen[0] if chance.random() < 0.6 else chosen
