"""Checkpoints of topologies that have not run, and what resumes from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from framework import TopologyBuilder
from framework.planning.time_mode import named_data
from framework.runtime.durability.checkpoints import Checkpoint
from framework.runtime.durability.checkpoints.fingerprints import fingerprints_of
from framework.runtime.durability.checkpoints.folder import SystemFiles
from framework.runtime.durability.checkpoints.going_on import going_on_from
from framework.runtime.durability.checkpoints.manifest import Alike, manifest_of
from framework.runtime.durability.checkpoints.renaming import renamed
from framework.runtime.durability.checkpoints.states import SavedState
from framework.runtime.leading.companions import partitioned_spouts
from tests.framework.runtime.pieces import plan_of

Build = Callable[[], TopologyBuilder]


def checkpoint_of(builder: TopologyBuilder, **options: Any) -> Checkpoint:
    """The checkpoint that a run of what was built would write at its beginning."""
    plan, settings = plan_of(builder, **options)
    states = [
        SavedState(component.id, spec.name, spec.kind, spec.types, spec.per, list(spec.codes), index,
                   settings["viper.key.groups"], 0, [])
        for component in plan.declared
        for spec in plan.traits[component.id].states
        for index in ([None] if spec.per == "key" else range(len(plan.tasks_of(component.id))))
    ]  # fmt: skip
    spouts = partitioned_spouts(plan)
    places = {task.id: {"places" if task.component in spouts else "spout": {}} for task in plan.tasks}
    manifest = manifest_of(
        plan,
        settings,
        Alike("lineage"),
        {name: named_data(spout, plan.confs[name]) for name, spout in spouts.items()},
        {},
        places,
        [asdict(state) for state in states],
        {table.table_name: "part" for group in plan.table_groups for table in group.tables},
        fingerprints_of(plan, settings),
    )
    content = json.loads(json.dumps(manifest.as_object()))
    return Checkpoint(Path("kept/checkpoint-000001"), 1, content, {}, SystemFiles())


def changes(
    before: Checkpoint, builder: TopologyBuilder, rename: Mapping[str, str] | None = None, **options: Any
) -> Sequence[str]:
    """The differences that a run of what was built tells as it resumes from a checkpoint.

    Raises:
        CheckpointError: it does not continue.
    """
    plan, settings = plan_of(builder, **options)
    checkpoint = renamed(before, rename or {}, plan)
    found = going_on_from(
        plan, settings, checkpoint, partitioned_spouts(plan), fingerprints_of(plan, settings)
    )
    return found[1]
