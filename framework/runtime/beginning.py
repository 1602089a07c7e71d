"""Where a run begins: at the beginning of its input, where a report says, or at a checkpoint."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from framework.checkpoints import Checkpoint, found_at
from framework.checkpoints.fingerprints import Fingerprints
from framework.checkpoints.going_on import going_on_from
from framework.checkpoints.renaming import renamed
from framework.checkpoints.targets import check_targets, with_former_names
from framework.config import Settings
from framework.planning import Plan
from framework.planning.out_of_order import named_data
from framework.runtime.control.companions import partitioned_spouts, transactional_sinks
from framework.runtime.hosts.context import make_context
from framework.runtime.positions.offsets import going_on

log = logging.getLogger("viperstorm.checkpoint")


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a run begins with."""

    plan: Plan
    """The plan, with the places where its tasks go on."""
    checkpoint: Checkpoint | None
    """Where bolts go on; None where they begin anew."""
    sources: Mapping[str, str]
    """By spout the name of its data, as far as that is known."""
    changes: Sequence[str] = ()
    """Differences from the run that has written the checkpoint, which do not keep it from going on."""


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
        PlaceError: it cannot go on from there.
        ComponentError: the constructor of a spout or a sink raised.
    """
    spouts = partitioned_spouts(plan) if not replays or start is not None else {}
    known = {name: named_data(spout, plan.confs[name]) for name, spout in spouts.items()}
    if start is not None and start.is_dir():
        checkpoint = renamed(found_at(start), rename, plan)
        plan, changes = going_on_from(plan, settings, checkpoint, spouts, fingerprints)
        if not went_back:
            for change in changes:
                log.warning("not as in %s: %s", checkpoint.path, change)
        sinks = transactional_sinks(plan)
        check_targets(checkpoint, sinks, {id: make_context(plan, plan.tasks_of(id)[0]) for id in sinks})
        return Beginning(with_former_names(plan, checkpoint, rename), checkpoint, known, changes)
    if start is not None:
        plan = going_on(plan, start, known)
    return Beginning(replace(plan, start_id=0) if went_back else plan, None, known)
