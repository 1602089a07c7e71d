"""Which bolts a run moves from worker to worker by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.model.config import Settings
from framework.model.topology import GroupingKind, Topology
from framework.planning.controllers import CONTROLLER
from framework.planning.merge_bolts import MergeLayer
from framework.planning.placement import WorkerKind
from framework.planning.routing import MOST_CHOSEN
from framework.planning.scaling import MOST, obstacles
from framework.planning.traits import Traits
from framework.planning.workers import is_auto, workers_of


def movable_bolts(
    topology: Topology,
    settings: Settings,
    confs: Mapping[str, Mapping[str, Any]],
    traits: Mapping[str, Traits],
    kind: WorkerKind,
) -> Iterator[str]:
    """The ids of the bolts that the run moves by itself.

    These are all that can be scaled while it runs, but for those that may have one task only, those on whose
    tasks a controller decides, those that have transactions, or a process or a thread to themselves, and
    those each of whose tasks gets every tuple: more tasks than one would only do more.

    Args:
        topology: a valid topology.
        settings: its configuration.
        confs: each component's resolved configuration, by id.
        traits: by id.
        kind: of the workers. Threads of one process take turns, so nothing is moved between them.
    """
    if not is_auto(settings) or kind is not WorkerKind.PROCESS or workers_of(settings) == 1:
        return
    if settings["viper.merge.layer"] != MergeLayer.COMMUNICATION or settings["viper.key.groups"] == 1:
        return
    for bolt in topology.bolts:
        copied = any(found.grouping.kind is GroupingKind.ALL for found in bolt.inputs)
        own, conf = traits[bolt.id], confs[bolt.id]
        apart = own.isolated or conf["viper.blocking"] or own.tables
        if copied or apart or conf[CONTROLLER] is not None or conf[MOST] == 1:
            continue
        if not obstacles(topology, settings, confs, traits, bolt):
            yield bolt.id


def with_spare_tasks(
    confs: Mapping[str, dict[str, Any]],
    counts: Mapping[str, int],
    movable: frozenset[str],
    workers: int,
    groups: int,
) -> None:
    """Give each of these bolts a task for each worker, as far as there can be, unless it says how many.

    Args:
        confs: each component's resolved configuration, by id, where that is set.
        counts: how many tasks each component begins with, by id.
        movable: the bolts.
        workers: how many there are.
        groups: how many key groups there are, which tasks with state share.
    """
    for name in movable:
        if confs[name][MOST] is None:
            confs[name][MOST] = max(counts[name], min(workers, groups, MOST_CHOSEN))
