"""Spouts that note what they hear of their tuples, and topologies around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework import Bolt, Spout, TopologyBuilder
from framework.model.config import resolve
from framework.planning import make_plan
from framework.runtime import Run, RunOptions, RunReport
from tests.framework.runtime.pieces import bolt, run_built, spout

SMALL: dict[str, Any] = {"viper__jumbo__size": 1, "viper__slice__tuples": 1, "viper__scheduling": "random"}
"""Options under which every tuple takes a turn of its own, in an order that the seed determines."""


@dataclass
class Heard:
    """The answers that a spout heard of its tuples, in order."""

    acked: list[Any] = field(default_factory=list)
    failed: list[Any] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def ack(self, spout: Spout, tup_id: Any) -> None:
        """Note that a tuple was acked."""
        self.acked.append(tup_id)

    def fail(self, spout: Spout, tup_id: Any) -> None:
        """Note that a tuple has failed, and why."""
        self.failed.append(tup_id)
        self.reasons.append(spout.failure)

    @property
    def hooks(self) -> dict[str, Any]:
        """The hooks of a spout class that notes what it hears here."""
        return {
            "ack": lambda spout, tup_id: self.ack(spout, tup_id),
            "fail": lambda spout, tup_id: self.fail(spout, tup_id),
        }


def tracked(
    heard: Heard, ids: Iterable[Any], values: Callable[[Any], list[Any]] = lambda n: [n], **attributes: Any
) -> type[Spout]:
    """A spout class that emits a tuple with each id, whose value is the id too unless others are given."""
    wanted = list(ids)

    def tuples(self: Any) -> Any:
        for tup_id in wanted:
            self.emit(values(tup_id), tup_id=tup_id)
            yield None

    return spout(tuples, **{**heard.hooks, **attributes})


def passing(**attributes: Any) -> type[Bolt]:
    """A bolt class that emits what it receives."""
    return bolt(lambda self, tup: self.emit([tup.values[0]]), **attributes)


def ending(process: Callable[..., None] = lambda self, tup: None, **attributes: Any) -> type[Bolt]:
    """A bolt class that emits nothing."""
    return bolt(process, None, **attributes)


def chained(source: type[Spout], *bolts: type[Bolt]) -> TopologyBuilder:
    """``source -> b1 -> b2 ...``, shuffled."""
    return shaped(
        source, {f"b{n}": (cls, f"b{n - 1}" if n > 1 else "source") for n, cls in enumerate(bolts, 1)}
    )


def shaped(source: type[Spout], bolts: dict[str, Sequence[Any]]) -> TopologyBuilder:
    """A topology of one spout, ``source``, and bolts: for each its class and those that it reads from."""
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    for name, (cls, *sources) in bolts.items():
        declared = builder.set_bolt(name, cls)
        for before in sources:
            declared.shuffle_grouping(before)
    return builder


def run_in_turns(make: Callable[[], TopologyBuilder], seeds: int = 5, **options: Any) -> list[RunReport]:
    """Run topologies in which every tuple takes a turn of its own, each in another order."""
    return [run_built(make(), **{**SMALL, "viper__seed": seed, **options}) for seed in range(seeds)]


def prepared(builder: TopologyBuilder, limits: dict[str, Any] | None = None, **options: Any) -> Run:
    """A run of what was built; options with dots written as ``__``."""
    topology = builder.build("tested")
    named = {key.replace("__", "."): value for key, value in {"viper__worker": "inline", **options}.items()}
    settings, problems = resolve(topology, options=named)
    assert not problems, problems
    told = dict(limits or {})
    stop = told.pop("stop", None)
    return Run(make_plan(topology, settings), settings, RunOptions(**told), stop=stop)
