"""The beginning of a run: that of its input, the one in a report, or a checkpoint; or the reason for none."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from framework.model.config import Settings
from framework.model.errors import LoadError, TopologyError, ViperError
from framework.model.importing import importable
from framework.model.topology import Problem, Topology
from framework.optimizer.planned import planned
from framework.planning import Plan
from framework.planning.checkpoints import checkpoint_problems, missing_checkpoints
from framework.planning.time_mode import named_data
from framework.runtime.durability.checkpoints import Checkpoint, found_at
from framework.runtime.durability.checkpoints.fingerprints import Fingerprints, fingerprints_of
from framework.runtime.durability.checkpoints.going_on import going_on_from
from framework.runtime.durability.checkpoints.last_run import check_goes_on
from framework.runtime.durability.checkpoints.renaming import renamed
from framework.runtime.durability.checkpoints.targets import check_targets, with_former_names
from framework.runtime.leading.companions import partitioned_spouts, transactional_sinks
from framework.runtime.order.positions.offsets import going_on
from framework.runtime.tasks.hosts.context import make_context

log = logging.getLogger("viperstorm.checkpoint")


@dataclass(frozen=True, slots=True)
class Beginning:
    """The point from which a run begins: its plan, and its checkpoint if it resumes."""

    plan: Plan
    """The plan, with the offsets from which its tasks resume."""
    checkpoint: Checkpoint | None
    """The checkpoint that bolts resume from; None where they begin without one."""
    sources: Mapping[str, str]
    """By spout the name of its data, as far as that is known."""
    changes: Sequence[str] = ()
    """Differences from the run that has written the checkpoint, with which it may resume nevertheless."""


def found_beginning(
    plan: Plan,
    settings: Settings,
    start: Path | None,
    rename: Mapping[str, str],
    *,
    replays: bool,
    went_back: bool,
    fingerprints: Fingerprints,
) -> Beginning:
    """Find where a run begins.

    Args:
        plan: what is to run, from its beginning.
        settings: the configuration it was planned with.
        start: a report, a checkpoint or a folder of them; None for the beginning of the input.
        rename: new names by old ones of what the checkpoint holds.
        replays: whether a recording stands in for the spouts.
        went_back: whether the run itself has been further before.
        fingerprints: the meaning of what the plan's components remember; empty without checkpoints.

    Raises:
        PlaceError: it cannot resume from there.
        ComponentError: the constructor of a spout or a sink raised.
    """
    spouts = partitioned_spouts(plan) if not replays or start is not None else {}
    known = {name: named_data(spout, plan.confs[name]) for name, spout in spouts.items()}
    if start is not None and start.is_dir():
        checkpoint = found_at(start)
        if not went_back:
            check_goes_on(start)
        checkpoint = renamed(checkpoint, rename, plan)
        plan, changes = going_on_from(plan, settings, checkpoint, spouts, fingerprints)
        if not went_back:
            for change in changes:
                log.warning("not as in %s: %s", checkpoint.path, change)
        sinks = transactional_sinks(plan)
        check_targets(checkpoint, sinks, {id: make_context(plan, plan.tasks_of(id)[0]) for id in sinks})
        return Beginning(with_former_names(plan, checkpoint, rename), checkpoint, known, changes)
    if start is not None:
        plan = going_on(plan, start, known, {name: spout.compared for name, spout in spouts.items()})
    return Beginning(replace(plan, start_id=0) if went_back else plan, None, known)


def start_problems(
    topology: Topology,
    settings: Settings,
    *,
    checkpoints: bool = False,
    start: Path | None = None,
    rename: Mapping[str, str] | None = None,
) -> list[Problem]:
    """Find what a run refuses before anything starts, beside the problems of the topology itself.

    Args:
        topology: one without errors, which can run here.
        settings: its configuration.
        checkpoints: whether the run is to have a folder for checkpoints; what needs one without it is a
            warning. A run that resumes from a checkpoint has such.
        start: as of `found_beginning`; None for the beginning of the input.
        rename: likewise.
    """
    checkpoints = checkpoints or (start is not None and start.is_dir())
    try:
        plan = planned(topology, settings)
    except TopologyError as error:
        return list(error.problems)
    except LoadError as error:
        return [Problem(topology.sources.at(), str(error))]
    known = plan.topology, plan.confs, plan.traits
    problems = checkpoint_problems(*known) if checkpoints else missing_checkpoints(*known, warning=True)
    if start is not None:
        asked = plan, settings, start, rename or {}
        try:
            with importable(topology.import_paths):
                fingerprints = fingerprints_of(plan, settings) if checkpoints else {}
                found_beginning(*asked, replays=False, went_back=False, fingerprints=fingerprints)
        except ViperError as error:
            problems.append(Problem(topology.sources.at(), str(error)))
    return problems
