"""Which tasks are chained: one hands its tuples to the other directly, without a gate between them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from framework.model.config import Settings
from framework.planning.placement import Placement, WorkerKind
from framework.planning.plan import Channel


def with_chains(
    channels: Sequence[Channel], placement: Placement, cyclic: Container[int], settings: Settings
) -> tuple[Channel, ...]:
    """The channels, of which some are chained.

    Args:
        channels: all channels of a plan.
        placement: which executor runs which task.
        cyclic: ids of the tasks that belong to a cycle.
        settings: the configuration; ``viper.chains`` may say that nothing is chained.
    """
    if not settings["viper.chains"]:
        return tuple(channels)
    return tuple(replace(channel, chained=_can_be(channel, placement, cyclic)) for channel in channels)


def _can_be(channel: Channel, placement: Placement, cyclic: Container[int]) -> bool:
    """Whether a channel can be chained: nothing has to be merged, and one thread runs both of its ends.

    A worker process may die. Another one then takes its place, and has to know how far each task was and what
    was lost, so everything between its tasks lies in shared memory. In a cycle, no task may wait for room.
    """
    if placement.kind is WorkerKind.PROCESS or channel.feedback:
        return False
    if len(channel.sources) > 1 or len(channel.readers) > 1:
        return False
    (source,), (reader,) = channel.sources, channel.readers
    if source in cyclic and reader in cyclic:
        return False
    return placement.executor_of(source) == placement.executor_of(reader)
