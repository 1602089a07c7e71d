"""Components and states that have other names than in the checkpoint that a run resumes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from framework.model.errors import CheckpointError
from framework.model.topology import unknown
from framework.planning import Plan
from framework.runtime.durability.checkpoints.fingerprints import ORDER
from framework.runtime.durability.checkpoints.folder import Checkpoint
from framework.runtime.durability.checkpoints.manifest import Manifest

T = TypeVar("T")
_SIDES = ("left", "right")
State = tuple[str, str]
"""A component's id, and the name of one of its states."""


def renamed(checkpoint: Checkpoint, names: Mapping[str, str], plan: Plan) -> Checkpoint:
    """A checkpoint as if its components and states had had their new names from the beginning.

    Args:
        checkpoint: of another run.
        names: new names by old ones: of components their ids, of states ``component.state``.
        plan: of the run that is to resume from it.

    Raises:
        CheckpointError: a name is unknown, or the new names would be those of two things, or an old one is
            still there.
    """
    if not names:
        return checkpoint
    manifest = Manifest.read(checkpoint.content)
    renaming = _Renaming(manifest, names)
    reasons = sorted(set(_hindrances(renaming, plan)))
    if reasons:
        raise CheckpointError(f"cannot go on from {checkpoint.path} with new names: {'; '.join(reasons)}")
    return replace(checkpoint, content=renaming.applied(manifest).as_object())


class _Renaming:
    """The names of all that is in a checkpoint, old and new.

    Args:
        manifest: says what is in it.
        names: as of `renamed`.
    """

    def __init__(self, manifest: Manifest, names: Mapping[str, str]) -> None:
        self.ids: Sequence[str] = tuple(manifest.components)
        """All old ids."""
        self.states = tuple(dict.fromkeys((s["component"], s["state"]) for s in manifest.states))
        """The old names of all states."""
        self.components = {old: new for old, new in names.items() if old in self.ids}
        """New ids by old ones, of components that get one."""
        self.of_states = {_split(old): _split(new) for old, new in names.items() if old not in self.ids}
        """Likewise of states; the component of a new name has its new id."""

    def id(self, old: str) -> str:
        """The new id of a component."""
        return self.components.get(old, old)

    def state(self, old: State) -> State:
        """The new name of a state."""
        return self.of_states.get(old, (self.id(old[0]), old[1]))

    def applied(self, manifest: Manifest) -> Manifest:
        """A manifest with the new names."""
        components = {self.id(id): self._described(told) for id, told in manifest.components.items()}
        states = []
        for told in manifest.states:
            component, state = self.state((told["component"], told["state"]))
            states.append({**told, "component": component, "state": state})
        return replace(
            manifest,
            times_us=self._by_id(manifest.times_us),
            sources=self._by_id(manifest.sources),
            components=components,
            tasks=self._by_id(manifest.tasks),
            states=states,
            fingerprints=self._fingerprints(manifest.fingerprints),
        )

    def _fingerprints(self, fingerprints: Mapping[str, Any]) -> dict[str, Any]:
        if not fingerprints:
            return {}
        found = {}
        for id, told in fingerprints["components"].items():
            things = {self._thing(id, name): thing for name, thing in told.get("things", {}).items()}
            if "join" in things:
                sides = {side: [*map(self._stream, things["join"].get(side, ()))] for side in _SIDES}
                things["join"] = {**things["join"], **{side: of for side, of in sides.items() if of}}
            groupings = {self._grouped(name): digest for name, digest in told["groupings"].items()}
            found[self.id(id)] = {**told, "things": things, "groupings": groupings}
        topology = {**fingerprints["topology"], ORDER: [*map(self.id, fingerprints["topology"][ORDER])]}
        return {**fingerprints, "topology": topology, "components": found}

    def _thing(self, id: str, name: str) -> str:
        kind, _, state = name.partition(" ")
        return f"{kind} {self.state((id, state))[1]}" if kind == "state" and state else name

    def _grouped(self, name: str) -> str:
        """A stream, ``component/stream``, that a custom grouping divides."""
        id, _, stream = name.rpartition("/")
        return f"{self.id(id)}/{stream}"

    def _stream(self, name: str) -> str:
        """A stream as a join names it, by a component or with its name behind that."""
        id, *stream = name.split(":", 1)
        return ":".join((self.id(id), *stream))

    def _by_id(self, values: Mapping[str, T]) -> dict[str, T]:
        return {self.id(id): value for id, value in values.items()}

    def _described(self, told: Mapping[str, object]) -> dict[str, object]:
        inputs = told["inputs"]
        assert isinstance(inputs, Sequence)
        return {**told, "inputs": [[self.id(source), *rest] for source, *rest in inputs]}


def _hindrances(renaming: _Renaming, plan: Plan) -> Iterator[str]:
    for old, new in renaming.components.items():
        yield from _of_component(old, new, renaming, plan)
    for before, after in renaming.of_states.items():
        yield from _of_state(before, after, renaming, plan)
    new_ids = [renaming.id(id) for id in renaming.ids]
    yield from (f"two components would be {id!r}: give each another id" for id in _twice(new_ids))
    new_states = [_joined(renaming.state(state)) for state in renaming.states]
    yield from (f"two states would be {name!r}: give each another name" for name in _twice(new_states))


def _of_component(old: str, new: str, renaming: _Renaming, plan: Plan) -> Iterator[str]:
    ids = [component.id for component in plan.topology.components]
    if new not in ids:
        yield f"{old}={new}: {unknown('component', new, ids)}, as the topology has them"
    elif plan.traits[new].goes_back and new in renaming.ids:
        yield (
            f"{old}={new}: what a transactional sink has staged and applied is known by its id, and {new!r} "
            "was another component's; give it an id that was not there"
        )
    if old in ids and old not in map(renaming.id, renaming.ids):
        yield f"{old}={new}: the topology still has {old!r}, which would begin again; give that another id"


def _of_state(old: State, new: State, renaming: _Renaming, plan: Plan) -> Iterator[str]:
    entry = f"{_joined(old)}={_joined(new)}"
    if old not in renaming.states:
        names = [*renaming.ids, *map(_joined, renaming.states)]
        yield f"{entry}: {unknown('name', _joined(old), names)}, as the checkpoint has them"
        return
    component = renaming.id(old[0])
    if new[0] != component:
        yield f"{entry}: a state stays with its component: expected {_joined((component, new[1]))!r}"
    elif component in plan.traits:
        declared = [spec.name for spec in plan.traits[component].states]
        if new[1] not in declared:
            yield f"{entry}: {unknown('state', new[1], declared)}, as {component!r} declares them"
        if old[1] in declared and (component, old[1]) not in map(renaming.state, renaming.states):
            still = f"{component!r} still declares {old[1]!r}, which would begin again"
            yield f"{entry}: {still}; give that another name"


def _twice(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _split(name: str) -> State:
    component, _, state = name.rpartition(".")
    return component, state


def _joined(state: State) -> str:
    return ".".join(part for part in state if part)
