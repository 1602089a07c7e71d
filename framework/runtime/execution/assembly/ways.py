"""How much room the ways between tasks have, and how large they are."""

from __future__ import annotations

from collections.abc import Iterator

from framework.model.config import Settings
from framework.planning import Channel, Plan, is_exact
from viper.gate import ScaleGate

Way = tuple[tuple[int, ...], tuple[int, ...]]
"""Ids of the producing tasks and of the consuming tasks that share a gate."""


def ways_of(plan: Plan) -> Iterator[Way]:
    """Every way of a plan that has a gate."""
    for channel in plan.channels:
        if channel.arriving:
            yield from (((source,), channel.readers) for source in channel.sources)
        elif not channel.chained:
            yield channel.sources, channel.readers
        for source in channel.feedback:
            yield (source,), channel.readers


def dimensions(way: Way) -> tuple[int, int]:
    """How many tasks there are at either end."""
    sources, readers = way
    return len(sources), len(readers)


_BATCHES_AHEAD = 8
"""Batches of columns that a task may be ahead of another executor's.

With two, the tasks wake each other for each batch, and word count on two processes made 9.6 million words a
second; 12.5 with three, and 14.3 with eight. Within one executor more than two would only leave its caches.
"""


def capacity(plan: Plan, settings: Settings, way: Way) -> dict[str, int]:
    """What the gate of a way has room for, as `ScaleGate.create` takes it."""
    is_read_elsewhere = is_exact(plan, settings) or lies_between_processes(plan, way)
    store = settings["viper.channel.bytes"] if is_read_elsewhere else 0
    return {**_room(plan, settings, way), "payload_bytes": store}


def _room(plan: Plan, settings: Settings, way: Way) -> dict[str, int]:
    # A jumbo tuple must fit beside one that is being read.
    least = 2 * settings["viper.jumbo.size"]
    if _is_typed(plan, way):
        ahead = _BATCHES_AHEAD if len(_executors_of(plan, way)) > 1 else 2
        least = max(least, ahead * settings["viper.columns.rows"])
    return {
        "slots": settings["viper.channel.jumbos"],
        "tuples": max(settings["viper.channel.tuples"], least),
    }


def room_of_link(plan: Plan, settings: Settings, channel: Channel) -> dict[str, int]:
    """As much as its gate would have: what is handed over there at once is not cut into jumbo tuples."""
    way = channel.sources, channel.readers
    room = _room(plan, settings, way)
    of_rows, of_columns = settings["viper.jumbo.size"], settings["viper.columns.rows"]
    size = of_columns if _is_typed(plan, way) else of_rows
    return {**room, "tuples": min(room["tuples"], room["slots"] * size)}


def _is_typed(plan: Plan, way: Way) -> bool:
    """Whether any stream on a way has a schema."""
    sources, readers = way
    behind = {found for reader in readers if (found := plan.behind(reader)) is not None} or set(readers)
    producing, consuming = (
        {task.component for task in plan.tasks if task.id in end} for end in (sources, behind)
    )
    is_merged = any(plan.behind(source) is not None for source in sources)
    return any(
        stream is not None and stream.schema is not None
        for s in plan.subscriptions
        if s.target in consuming and (is_merged or s.source in producing)
        for stream in [plan.topology.component(s.source).stream(s.stream)]
    )


def _executors_of(plan: Plan, way: Way) -> set[int]:
    """The indexes of the executors at either end."""
    ends = {*way[0], *way[1]}
    return {e for e, executor in enumerate(plan.placement.executors) if not ends.isdisjoint(executor.tasks)}


def lies_between_processes(plan: Plan, way: Way) -> bool:
    """Whether its ends are in several processes."""
    executors = _executors_of(plan, way)
    return sum(not executors.isdisjoint(process) for process in plan.placement.processes) > 1


def size_of(plan: Plan, settings: Settings, way: Way) -> int:
    """Bytes that the gate of a way takes of an arena."""
    return ScaleGate.size(*dimensions(way), **capacity(plan, settings, way))
