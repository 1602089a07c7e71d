"""Costs that are built in for each kind of step, for a first placement of what nobody has measured.

They are rounded from word counts, filters and windows on one machine (docs/measurements.md), with user code
that does little, as nobody can know more of it. Only their ratios matter. Code that does more makes it better
to divide a run than these costs say, and never worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from framework.optimizer.costs.profile import ComponentCost, StreamCost


@dataclass(frozen=True, slots=True)
class StepCost:
    """The costs of a kind of step."""

    ns: float
    """Nanoseconds for each tuple that it processes; of a spout, that it brings."""
    emit_ns: float = 0.0
    """For each tuple that it emits."""
    selectivity: float = 1.0
    """Tuples that it emits for each one that it processes."""


BOLT: Final = StepCost(300, 100)
SPOUT: Final = StepCost(200, 60)
PROGRAM: Final = StepCost(20_000, 5_000)
SINK: Final = StepCost(40)
_FUNCTION, _BY_KEY, _WINDOW = StepCost(120, 40), StepCost(200, 60), StepCost(400, 200, 0.1)
KINDS: Final[Mapping[str, StepCost]] = {
    "": BOLT,
    "StatefulBolt": BOLT,
    "BatchBolt": StepCost(150, 60),
    "BatchingBolt": StepCost(100, 60, 0.1),
    "TicklessBatchingBolt": StepCost(100, 60, 0.1),
    "MergeBolt": StepCost(40, 40),
    **dict.fromkeys(("Step", "FunctionBolt", "Map", "KeyBy", "Peek", "Branch"), _FUNCTION),
    "Filter": StepCost(120, 20, 0.5),
    "FlatMap": StepCost(200, 40, 5.0),
    "Select": StepCost(20, 20),
    **dict.fromkeys(("CountByKey", "Fold", "ReduceByKey", "AggregateByKey"), _BY_KEY),
    **dict.fromkeys(("WindowedBolt", "OPlus", "APlus"), _WINDOW),
    **dict.fromkeys(("WindowStep", "AggregateWindow", "ReduceWindow", "ProcessWindow"), _WINDOW),
    **dict.fromkeys(("JoinBolt", "JPlus"), StepCost(500, 150)),
}
"""By the name of the class of ours that makes a bolt more than a `Bolt`; see `Traits.kind`."""

CROSSING_NS: Final = 100.0
"""To encode a tuple for another process, and likewise to decode it."""
COLUMNS: Final = 0.05
"""The part of all these costs that a tuple of a typed stream has, as it goes in columns."""
RARE: Final = 0.01
"""Tuples of a stream that is not the default one, for each tuple."""


def step_cost(kind: str) -> StepCost:
    """The costs of a bolt of ours.

    Args:
        kind: as of `Traits.kind`; one that is not known costs as much as a `Bolt`.
    """
    return SINK if kind.endswith("Sink") else KINDS.get(kind, BOLT)


def builtin_cost(step: StepCost, streams: Iterable[str], default: str, *, typed: bool) -> ComponentCost:
    """The costs of a component.

    Args:
        step: those of its kind.
        streams: the names of those that it emits to.
        default: the name of the default stream. If there is no such one, all are alike.
        typed: whether its streams have types, so that tuples come in columns.
    """
    part = COLUMNS if typed else 1.0
    names = list(streams)

    def stream(name: str) -> StreamCost:
        often = step.selectivity if name == default or default not in names else RARE
        ns = CROSSING_NS * part
        return StreamCost(often, ns=step.emit_ns * part, encode_ns=ns, decode_ns=ns)

    return ComponentCost(step.ns * part, {name: stream(name) for name in names})
