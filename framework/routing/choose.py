"""From a grouping to a router."""

from __future__ import annotations

from collections.abc import Sequence

from framework.routing.router import ByKey, ByKeyUnremembered, PartialKey, RoundRobin, Router
from framework.routing.stable_hash import stable_hash
from framework.routing.storm_hash import storm_hash
from framework.topology import Grouping, GroupingKind

HASHES = ("stable", "storm")
"""Values of ``viper.grouping.hash``."""


def make_router(
    grouping: Grouping, fields: Sequence[str], tasks: int, producer: int, hash_name: str = "stable"
) -> Router:
    """The router of a grouping that chooses one of several tasks.

    Args:
        grouping: by fields, partial key, shuffle, local-or-shuffle or none.
        fields: names of the stream's fields.
        tasks: number of the consumer's tasks, at least 2.
        producer: index of the producing task, so that producers do not all begin with the same task.
        hash_name: ``stable``, or ``storm`` to place keys of a fields grouping as a Storm cluster does.
    """
    if grouping.kind is GroupingKind.FIELDS:
        return _by_key([fields.index(name) for name in grouping.names], tasks, hash_name)
    if grouping.kind is GroupingKind.PARTIAL_KEY:
        return PartialKey([fields.index(name) for name in grouping.names], stable_hash, tasks)
    # Local-or-shuffle is shuffle where every task is local; Storm's "none" promises nothing.
    return RoundRobin(tasks, first=producer)


def _by_key(indexes: Sequence[int], tasks: int, hash_name: str) -> Router:
    if hash_name == "stable":
        return ByKey(indexes, lambda key: stable_hash(key) % tasks)
    if len(indexes) == 1:
        return ByKeyUnremembered(indexes, lambda key: storm_hash((key,)) % tasks)
    return ByKeyUnremembered(indexes, lambda key: storm_hash(key) % tasks)
