"""Makes a plan that resumes where a checkpoint was taken, or says why it cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.model.config import Settings
from framework.model.errors import CheckpointError
from framework.model.topology import Role
from framework.operators.components import PartitionedSpout
from framework.planning import Plan
from framework.planning.checkpoints import (
    checkpoint_problems,
    living_values,
    missing_checkpoints,
    waits_for_checkpoints,
)
from framework.planning.place import UNKNOWN, WHOLE, mark_of
from framework.planning.time_mode import named_data
from framework.recording.tap import is_tap
from framework.runtime.durability.checkpoints.differences import (
    WITHOUT_FINGERPRINTS,
    Difference,
    differences,
    of_input,
    other_arguments,
)
from framework.runtime.durability.checkpoints.fingerprints import Fingerprints
from framework.runtime.durability.checkpoints.folder import Checkpoint
from framework.runtime.durability.checkpoints.manifest import Manifest, Saved, described
from framework.runtime.durability.checkpoints.states import SavedState, states_in

SPOUT = "spout"
"""The name under which the task of a seekable spout saves where it is."""


def check_checkpoints(plan: Plan, *, made: bool, records: bool, replays: bool) -> None:
    """Refuse a plan that cannot do with checkpoints, or without them.

    Args:
        plan: what is to run.
        made: whether the run has a folder for checkpoints.
        records: whether it is recorded.
        replays: whether a recording stands in for its spouts.

    Raises:
        CheckpointError: none can be made of it; or something waits for them, and there are none.
    """
    known = plan.topology, plan.confs, plan.traits
    of_replay = ["a recording stands in for its spouts, and says not where it is"] if made and replays else []
    found = checkpoint_problems(*known) if made else []
    reasons = sorted({*(problem.message for problem in found), *of_replay})
    refuse(reasons, "no checkpoint can be made of this run")
    missing = [] if made else missing_checkpoints(*known)
    if missing:
        raise CheckpointError("; ".join(problem.message for problem in missing))
    living = living_values(plan.traits)
    if living and (records or replays):
        refuse(
            ["a run that is recorded or replayed cannot go back: leave out --record and --replay"],
            f"{', '.join(living)}: durable='checkpoint'",
        )


def waits_for_nobody(plan: Plan, settings: Settings) -> str:
    """A warning where acks wait for checkpoints that nobody makes by himself; empty where they do not."""
    asked = [
        spout.id
        for spout in plan.topology.spouts
        if plan.traits[spout.id].hears_answers
        and waits_for_checkpoints(plan.confs[spout.id], "checkpoint", None)
    ]
    if settings["viper.checkpoint.secs"] is not None or not asked:
        return ""
    return (
        f"acks of {', '.join(map(repr, asked))} wait for checkpoints, which are made when they are asked "
        "for, or when many acks wait: set viper.checkpoint.secs, or viper.ack.after to commit"
    )


def going_on_from(
    plan: Plan,
    settings: Settings,
    checkpoint: Checkpoint,
    spouts: Mapping[str, PartitionedSpout],
    fingerprints: Fingerprints,
) -> tuple[Plan, Sequence[str]]:
    """Make a plan that resumes where a checkpoint was taken.

    Args:
        plan: of the same topology; its parallelism and its workers may be others.
        settings: the configuration it was planned with.
        checkpoint: of another run.
        spouts: all spouts of the plan, by id.
        fingerprints: the meaning of what the plan's components remember.

    Returns:
        The plan; and what differs nevertheless, in sentences.

    Raises:
        CheckpointError: what was saved does not fit what is to run.
    """
    manifest = Manifest.read(checkpoint.content)
    found = list(_differences(plan, manifest, fingerprints))
    misfits = {one.told for one in found if one.refused}
    misfits.update(_misfits(plan, settings, manifest, spouts, fingerprints))
    if misfits:
        raise CheckpointError(
            f"cannot go on from {checkpoint.path}: {'; '.join(sorted(misfits))}. Put back what the "
            "checkpoint was taken of, or start from the beginning"
        )
    saved: dict[int, Saved] = {}
    for component, tasks in manifest.tasks.items():
        specs = plan.tasks_of(component)
        for spec in specs:
            saved[spec.id] = tasks[spec.index] if len(specs) == len(tasks) else _common(tasks)
    offsets = {spout: manifest.places(spout) for spout in spouts}
    plan = replace(plan, offsets=offsets, saved=saved, start_id=checkpoint.id)
    return plan, sorted({one.told for one in found})


def _differences(plan: Plan, manifest: Manifest, fingerprints: Fingerprints) -> Iterator[Difference]:
    """The differences in the meaning of what is remembered, in code, and in the streams that bolts take."""
    before, kinds = manifest.fingerprints, manifest.kinds
    for name in manifest.components.keys() & fingerprints["components"].keys():
        yield from _other_inputs(plan, name, manifest.components[name]["inputs"])
    if not before:
        yield from _untold(manifest)
        return
    yield from differences(before, fingerprints)
    for name in manifest.components.keys() & fingerprints["components"].keys():
        for source, stream, *_ in manifest.components[name]["inputs"]:
            yield from of_input(name, source, stream, before, fingerprints, kinds.get(name, ()))


def _other_inputs(plan: Plan, name: str, before: Sequence[Sequence[str]]) -> Iterator[Difference]:
    """Streams that a bolt takes no more, or takes now; and an order that says which one is the left one."""
    was = [(source, stream) for source, stream, *_ in before]
    now = [(found.source, found.stream) for found in plan.topology.component(name).inputs]
    for source, stream in was:
        if (source, stream) not in now:
            yield Difference(f"{name!r} took stream {stream!r} of {source!r}: it takes that no more", False)
    for source, stream in now:
        if (source, stream) not in was:
            yield Difference(f"{name!r} takes stream {stream!r} of {source!r}: it did not before", False)
    if plan.traits[name].window_inputs == 2 and was != now:
        first, second = (" then ".join(f"{s!r} of {c!r}" for c, s in found) for found in (was, now))
        yield Difference(f"{name!r} keeps its inputs apart by their order, {first}: found {second}", True)


def _untold(manifest: Manifest) -> Iterator[Difference]:
    """All that a checkpoint in version 2 of the format says too little of."""
    yield Difference(
        "it is in version 2 of the format, so defaults and functions of states, fields of streams, code and "
        "configuration are not compared: see yourself that they are the same",
        False,
    )
    for state in states_in(manifest.states):
        if state.kind not in WITHOUT_FINGERPRINTS:
            yield Difference(
                f"{state.component}.{state.state} is a {state.kind}, and version 2 of the format does not "
                "say what it means; go on with the version of ViperStorm that has written it, or start again",
                True,
            )
    for table in manifest.tables:
        told = f"shared table {table!r}: version 2 of the format does not say what its columns are"
        yield Difference(told, True)


def _common(tasks: Sequence[Saved]) -> Saved:
    """Return the data from which other tasks than before resume: the bolt's time, but no counts of
    routing."""
    ticks = [saved["agenda"]["ticks"] for saved in tasks if saved.get("agenda", {}).get("ticks")]
    begun = [tuple(state) for state in ticks if state[0] is not None]
    agenda = {"ticks": max(begun)} if begun else {}
    return {
        "routing": {},
        "agenda": agenda,
        "tick": max((saved.get("tick", 0) for saved in tasks), default=0),
    }


def _misfits(
    plan: Plan,
    settings: Settings,
    manifest: Manifest,
    spouts: Mapping[str, PartitionedSpout],
    fingerprints: Fingerprints,
) -> Iterator[str]:
    ours = {component.id: component for component in plan.declared if not is_tap(component.id)}
    for missing in manifest.components.keys() - ours.keys():
        yield (
            f"component {missing!r} is missing: put it back, or start from the beginning; if it has another "
            f"id now, say which one (--rename {missing}=NEW)"
        )
    for added in ours.keys() - manifest.components.keys():
        if ours[added].role is Role.SPOUT:
            yield f"spout {added!r} was not there: its rows would come too late; start from the beginning"
    for spout, found in spouts.items():
        if spout in manifest.sources:
            changed = other_arguments(manifest.fingerprints, fingerprints, spout)
            yield from _other_data(spout, found, named_data(found, plan.confs[spout]), manifest, changed)
    for name in manifest.components.keys() & ours.keys():
        if ours[name].role is Role.SPOUT and manifest.components[name]["role"] == str(Role.SPOUT):
            yield from _other_spout(plan, name, manifest.tasks[name])
    for name in manifest.components.keys() & ours.keys():
        yield from _changes(plan, name, manifest)
    for state in states_in(manifest.states):
        if state.component in ours:
            yield from _changed_state(plan, settings, state, len(manifest.tasks[state.component]))


def _other_data(
    spout: str, found: PartitionedSpout, name: str, manifest: Manifest, changed: Sequence[str]
) -> Iterator[str]:
    before, places = manifest.sources[spout], manifest.places(spout)
    if name != before:
        advice = f": {found.compared}" if found.compared and not changed else ""
        by = f" (with other arguments: {', '.join(changed)})" if changed else ""
        yield f"spout {spout!r} had other data, {before!r}: found {name!r}{by}; give it the same{advice}"
    if places and max(places) >= found.partitions:
        yield (
            f"spout {spout!r} had a partition {max(places)}: found {found.partitions} partitions; "
            "partitions can be appended, not removed"
        )
    if UNKNOWN in places.values():
        yield f"a worker of spout {spout!r} had died, and nobody knows how far it was; use another checkpoint"
    elif found.has_offsets() and any(mark_of(place) is None for place in places.values() if place != WHOLE):
        yield f"spout {spout!r} had no offsets: nobody knows where its rows go on; start from the beginning"


def _other_spout(plan: Plan, name: str, before: Sequence[Saved]) -> Iterator[str]:
    """Offsets are those of partitions, or of tasks: they say nothing to a spout of the other kind."""
    traits, tasks = plan.traits[name], len(plan.tasks_of(name))
    if traits.partitioned and any("places" not in saved for saved in before):
        yield f"spout {name!r} brought no partitions: found a PartitionedSpout; start from the beginning"
    elif traits.seekable and any(SPOUT not in saved for saved in before):
        yield f"spout {name!r} brought partitions: found a SeekableSpout; start from the beginning"
    elif traits.seekable and tasks != len(before):
        yield (
            f"each task of spout {name!r} has an offset of its own: found {tasks} tasks, expected "
            f"{len(before)}; partitions of a PartitionedSpout can be divided again"
        )


def _order(described: Mapping[str, Any]) -> str:
    slack_ms, late = described.get("order") or (0, "error")
    return f"viper.timestamp.slack {slack_ms:g} and viper.timestamp.late {late}"


def _changes(plan: Plan, name: str, manifest: Manifest) -> Iterator[str]:
    before, now = manifest.components[name], described(plan.topology.component(name), plan)
    if before["role"] != now["role"]:
        yield f"{name!r} was a {before['role']}: found a {now['role']}; give it another id"
    was, is_now = ({(i[0], i[1]): i[2] for i in told["inputs"]} for told in (before, now))
    for source, stream in was.keys() & is_now.keys():
        old, new = was[source, stream], is_now[source, stream]
        if old != new:
            yield (
                f"bolt {name!r} had stream {stream!r} of {source!r} grouped by {old}: found {new}; "
                "keys would come to tasks that do not have their state"
            )
    if before.get("order") != now.get("order"):
        yield (
            f"spout {name!r} put its tuples in order by {_order(before)}: found {_order(now)}; what was held "
            "back would come elsewhere: give it the same"
        )
    if before["state_key"] != now["state_key"]:
        yield f"state of {name!r} had the key {before['state_key']}: found {now['state_key']}"


def _changed_state(plan: Plan, settings: Settings, before: SavedState, old_tasks: int) -> Iterator[str]:
    component, tasks = before.component, len(plan.tasks_of(before.component))
    now = next((spec for spec in plan.traits[component].states if spec.name == before.state), None)
    if now is None:
        entry = f"{component}.{before.state}={component}.NEW"
        yield (
            f"{component!r} does not declare the state {before.state!r} any more: declare it, used or not; "
            f"if it has another name now, say which one (--rename {entry})"
        )
        return
    old = f"{before.kind} of {before.types}, per {before.per}"
    new = f"{now.kind} of {now.types}, per {now.per}"
    if old != new or list(before.codes) != list(now.codes):
        yield f"state {before.state!r} of {component!r} was {old}: found {new}; declare another state"
    elif before.index is None and before.groups != settings["viper.key.groups"]:
        found = settings["viper.key.groups"]
        yield f"there were {before.groups} key groups: found viper.key.groups={found}; set it to the same"
    elif before.index is not None and tasks != old_tasks:
        yield f"each task of {component!r} has state of its own: found {tasks} tasks, expected {old_tasks}"


def refuse(reasons: Sequence[str], what: str) -> None:
    """Raise if there are reasons to.

    Raises:
        CheckpointError: there are.
    """
    if reasons:
        raise CheckpointError(f"{what}: {'; '.join(reasons)}")
