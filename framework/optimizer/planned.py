"""The plan of a run: as configured, and by built-in costs where the configuration leaves it to them.

Neither of the two decisions changes the output. Bolts that declare that it cannot depend on their number of
tasks have one task where all runs in one thread, as several only take turns there. And several worker
processes get the tasks with which a run is predicted to be the fastest.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from framework.model.config import Settings
from framework.model.topology import PythonImplementation, Role, Topology
from framework.model.topology.grouping import DIVIDING
from framework.planning import Plan, WorkerKind, make_plan
from framework.planning.placement import BY_COSTS, workers_of
from framework.planning.scaling import CONTROLLER, MOST, declares_free
from framework.planning.sharing import CLAIMS, SHARING
from framework.planning.strategy import AsDecided
from framework.planning.traits import Batching

log = logging.getLogger("viperstorm.plan")


def planned(topology: Topology, settings: Settings) -> Plan:
    """Plan a valid topology for a run.

    Args:
        topology: one that validation has accepted.
        settings: its configuration.

    Raises:
        TopologyError: as of `make_plan`, like the others.
        LoadError: see there.
    """
    plan = make_plan(topology, settings)
    counts, places = _single_tasks(plan, settings), _places(plan, settings)
    if not (counts or places):
        return plan
    return make_plan(topology, settings, AsDecided(counts, places))


def _single_tasks(plan: Plan, settings: Settings) -> Mapping[str, int]:
    """The bolts that have several tasks in one thread for nothing: one for each of them.

    Two tasks of each bolt of a word count take 1.25 times as long inline as one. A bolt keeps its tasks where
    somebody can tell them apart. The configuration names their number, or this may change while the run
    lasts. Or each of them hears ticks, writes files, waits, or shares tuples with the others as these come.
    Or the producers of its tuples choose their tasks.
    """
    if plan.placement.kind is not WorkerKind.INLINE:
        return {}
    found = {}
    for bolt in (one for one in plan.declared if one.role is Role.BOLT):
        conf, own = plan.confs[bolt.id], plan.traits[bolt.id]
        is_fixed = bolt.id in settings["viper.tasks"] or (conf[MOST] or conf[CONTROLLER]) is not None
        waits = conf["viper.blocking"] or conf[SHARING] == CLAIMS or bool(own.unplain)
        is_heard = own.hears_ticks or own.batching is not Batching.NONE or own.kind.endswith("Sink")
        is_chosen = any(given.grouping.kind not in DIVIDING for given in bolt.inputs)
        is_ours = isinstance(bolt.implementation, PythonImplementation)
        several = len(plan.tasks_of(bolt.id)) > 1
        is_distinct = is_fixed or waits or is_heard or is_chosen
        if several and is_ours and not is_distinct and declares_free(plan, bolt):
            log.info(
                "%s has 1 task in place of %d, as all runs in one thread; viper.tasks gives it more",
                bolt.id,
                len(plan.tasks_of(bolt.id)),
            )
            found[bolt.id] = 1
    return found


def _places(plan: Plan, settings: Settings) -> Mapping[str, Sequence[int]]:
    """The workers of the tasks of each component, as far as built-in costs decide on them; else empty.

    Components with processes of their own are not placed by costs, and all others are dealt out beside them.
    Threads take turns, so it hardly matters which of them runs a task.
    """
    workers = workers_of(settings)
    if settings["viper.placement"] != BY_COSTS or plan.placement.kind is not WorkerKind.PROCESS:
        return {}
    if workers == 1 or any(traits.isolated for traits in plan.traits.values()):
        return {}
    # Imported here, as most runs have one worker, and none of them looks for anything.
    from framework.optimizer.first_placement import first_placement

    places, used = first_placement(plan, workers)
    if used < workers:
        log.info(
            "%d of %d workers have tasks, as more would not be faster by built-in costs; "
            "viper.placement: round-robin deals tasks out to all",
            used,
            workers,
        )
    return places
