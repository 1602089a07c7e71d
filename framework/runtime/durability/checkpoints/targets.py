"""Transactional sinks in a checkpoint: their targets, and the names under which they continue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from framework.model.errors import SinkError
from framework.operators.sinks.transactional import FORMER, RUN, Former, TransactionalSink
from framework.planning import Plan
from framework.runtime.durability.checkpoints.folder import Checkpoint
from framework.runtime.durability.checkpoints.going_on import refuse
from framework.runtime.durability.checkpoints.manifest import Alike, Manifest

SINK = "sink"
"""The name under which the task of a transactional sink saves where it writes."""


def check_targets(
    checkpoint: Checkpoint, sinks: Mapping[str, TransactionalSink], contexts: Mapping[str, Mapping[str, Any]]
) -> None:
    """Refuse sinks that write elsewhere, or in another way, than those that a checkpoint was taken of.

    Args:
        checkpoint: of another run, with the new names of components.
        sinks: those of the run that resumes, by id, not initialized.
        contexts: of the first task of each.

    Raises:
        CheckpointError: there are such sinks.
    """
    manifest = Manifest.read(checkpoint.content)
    misfits = [
        found
        for id in sinks.keys() & manifest.tasks.keys()
        for found in _misfits(id, sinks[id], contexts[id], manifest)
    ]
    refuse(sorted(misfits), f"cannot go on from {checkpoint.path}")


def _misfits(
    id: str, sink: TransactionalSink, context: Mapping[str, Any], manifest: Manifest
) -> Iterator[str]:
    saved, tasks = manifest.tasks[id], context["task->component"].values()
    count = sum(component == id for component in tasks)
    before = saved[0].get(SINK) if saved else None
    if before is None:  # of a version that did not say so, or of a component that was no sink
        return
    if not sink.scales and count != len(saved):
        yield f"each task of sink {id!r} has a target of its own: found {count} tasks, expected {len(saved)}"
    try:
        sink.choose(context)
    except SinkError:
        return  # it says so itself when the run begins
    sink.become_task(0, len(saved))
    if sink.target != before["target"]:
        found = f"found {sink.target}; let it write there, or begin again"
        yield f"sink {id!r} wrote to {before['target']}: {found}"
    elif not sink.takes_up(before["layout"]):
        was, now = _shown(before["layout"], sink.layout), _shown(sink.layout, before["layout"])
        found = f"found {now}; let it write as before, or begin again"
        yield f"sink {id!r} wrote to {sink.target} with {was}: {found}"


def _shown(layout: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The parts of a layout that another one does not have."""
    return ", ".join(f"{name} {value!r}" for name, value in layout.items() if other.get(name) != value)


def with_former_names(plan: Plan, checkpoint: Checkpoint, names: Mapping[str, str]) -> Plan:
    """A plan whose transactional sinks know under which names, and in how many tasks, they have applied rows.

    One that the checkpoint does not have was added since: it had no tasks.

    Args:
        plan: of the run that resumes.
        checkpoint: the checkpoint that it resumes from, with the new names of components.
        names: new ids of components by old ones.
    """
    manifest = Manifest.read(checkpoint.content)
    old_ids = {new: old for old, new in names.items()}
    former = {
        id: Former(manifest.topology, old_ids.get(id, id), len(manifest.tasks.get(id, ())))
        for id, traits in plan.traits.items()
        if traits.goes_back
    }
    confs = {id: {**plan.confs[id], FORMER: [*told]} for id, told in former.items()}
    return with_run(replace(plan, confs={**plan.confs, **confs}), manifest.alike)


def with_run(plan: Plan, alike: Alike) -> Plan:
    """Return a plan whose transactional sinks know the chain of runs that they belong to.

    Args:
        plan: of one of these runs.
        alike: these runs.
    """
    sinks = [id for id, traits in plan.traits.items() if traits.goes_back]
    return replace(plan, confs={**plan.confs, **{id: {**plan.confs[id], RUN: alike.lineage} for id in sinks}})
