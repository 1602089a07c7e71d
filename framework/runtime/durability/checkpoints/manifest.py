"""The manifest of a checkpoint: the topology of its run, the progress of its sources, the data of its
tasks."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from framework.model.config import Settings
from framework.model.topology import ComponentSpec
from framework.planning import Plan, TimeMode
from framework.planning.place import Place, place_of
from framework.planning.time_mode import holds_back
from framework.recording.tap import is_tap
from framework.version import VERSION

Saved = Mapping[str, Any]
"""The data that one task has saved, as JSON can hold it."""


@dataclass(frozen=True, slots=True)
class Alike:
    """A chain of runs, each of which resumes the one before."""

    lineage: str
    """The name of the chain; no other run has it."""
    runs: int = 1
    """Their number so far, this one included."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a checkpoint, apart from the list of its parts."""

    topology: str
    version: str
    """The version of the program that has written it."""
    taken_at: str
    """The time by the clock of that machine, as ISO 8601 with the offset from UTC."""
    alike: Alike
    hash: str
    """The hash function by which fields groupings place their keys (``viper.grouping.hash``)."""
    times_us: Mapping[str, int]
    """By spout the event time that it has reached, as microseconds since 1970 UTC."""
    sources: Mapping[str, str]
    """By spout the name of its data."""
    components: Mapping[str, Mapping[str, Any]]
    """By component its role, its inputs, and the key of its state where it names that itself."""
    tasks: Mapping[str, Sequence[Saved]]
    """By component the data that its tasks have saved, by their index."""
    states: Sequence[Mapping[str, Any]]
    """The states of bolts, as the fields of `framework.runtime.durability.checkpoints.states.SavedState`."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """By shared table the part that holds it, see `viper.transactions.images`."""
    fingerprints: Mapping[str, Any] = field(default_factory=dict)
    """The meaning of what is remembered, see `fingerprints`; version 2 has none."""

    def as_object(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return asdict(self)

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Manifest:
        """The manifest that `as_object` has made this of."""
        return cls(**{**content, "alike": Alike(**content["alike"])})

    @property
    def kinds(self) -> dict[str, tuple[str, ...]]:
        """By component the kinds of its states."""
        found: dict[str, tuple[str, ...]] = {}
        for state in self.states:
            found[state["component"]] = (*found.get(state["component"], ()), state["kind"])
        return found

    def places(self, spout: str) -> dict[int, Place]:
        """The place in each partition of a spout that was read."""
        found = (saved.get("places", {}).items() for saved in self.tasks[spout])
        return {int(number): place_of(place) for places in found for number, place in places}


def manifest_of(
    plan: Plan,
    settings: Settings,
    alike: Alike,
    sources: Mapping[str, str],
    times_us: Mapping[str, int],
    saved: Mapping[int, Saved],
    states: Sequence[Mapping[str, Any]],
    tables: Mapping[str, str],
    fingerprints: Mapping[str, Any],
) -> Manifest:
    """Return the manifest for a checkpoint of a run.

    Args:
        plan: what was run.
        settings: the configuration it was planned with.
        alike: the run's place in the chain of runs that resume one another.
        sources: by spout the name of its data.
        times_us: by spout the event time that it has come to.
        saved: by id of each task the data that it has saved.
        states: the states of its bolts.
        tables: by shared table the part that holds it.
        fingerprints: fingerprints of the declarations behind the saved states.
    """
    components = [component for component in plan.declared if not is_tap(component.id)]
    return Manifest(
        topology=plan.topology.name,
        version=VERSION,
        taken_at=datetime.datetime.now().astimezone().isoformat(timespec="milliseconds"),
        alike=alike,
        hash=settings["viper.grouping.hash"],
        times_us=times_us,
        sources=sources,
        components={component.id: described(component, plan) for component in components},
        tasks={
            component.id: [saved[task.id] for task in plan.tasks_of(component.id)] for component in components
        },
        states=states,
        tables=tables,
        fingerprints=fingerprints,
    )


def described(component: ComponentSpec, plan: Plan) -> dict[str, Any]:
    """Describe the properties of a component that must not change if its saved data is to be of use."""
    inputs = [[i.source, i.stream, repr(i.grouping)] for i in component.inputs]
    key = list(plan.traits[component.id].state_key)
    found = {"role": str(component.role), "inputs": inputs, "state_key": key}
    conf = plan.confs[component.id]
    if plan.traits[component.id].seekable and plan.time is TimeMode.EVENT and holds_back(conf):
        found["order"] = [conf["viper.timestamp.slack"], conf["viper.timestamp.late"]]
    return found
