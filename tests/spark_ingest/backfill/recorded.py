"""The output of a run on one machine, with its positions: a backfill must equal it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from framework.recording import Recording
from framework.recording.comparing import same
from framework.runtime import run
from framework.testing.preparing import loaded, planned
from viper.position import Position

Placed = tuple[Position, tuple[Any, ...]]


def recorded(topology: object, path: Path, **conf: Any) -> dict[str, list[Placed]]:
    """Position and values of all that each stream had, by the stream's name, in order."""
    plan, settings = planned(loaded(topology), conf)
    run(plan, settings, record=path)
    with Recording(path) as recording:
        return {
            component.id if stream.name == "default" else f"{component.id}/{stream.name}": [
                (found.position, tuple(found.values)) for found in recording.tuples(component.id, stream.name)
            ]
            for component in plan.topology.components
            for stream in component.outputs or ()
        }


def difference(ours: list[Placed], theirs: list[Placed]) -> str | None:
    """The first place in which two streams differ; None if they are the same."""
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if not same(tuple(one[0]), tuple(other[0])) or not same(one[1], other[1]):
            return f"tuple {number}: {one} and {other}"
    return None if len(ours) == len(theirs) else f"{len(ours)} tuples and {len(theirs)}"
