"""From a topology and what is wanted of it to stages: values only, nothing of Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from framework.model.topology import DEFAULT_STREAM, GroupingKind, Role, Topology
from framework.model.topology.graph import depths


@dataclass(frozen=True, slots=True, order=True)
class Output:
    """A stream of a component."""

    component: str
    stream: str = DEFAULT_STREAM

    @property
    def name(self) -> str:
        """As the user writes it: ``delays``, ``late/early``."""
        return self.component if self.stream == DEFAULT_STREAM else f"{self.component}/{self.stream}"

    @classmethod
    def parse(cls, name: str) -> Output:
        """The stream of such a name."""
        component, _, stream = name.partition("/")
        return cls(component, stream or DEFAULT_STREAM)


@dataclass(frozen=True, slots=True)
class Key:
    """The key that a consumer groups a stream by."""

    stream: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feed:
    """One subscription of a stage's component."""

    source: str
    stream: str
    key: Key | None
    """The key that decides about the shard; None where every shard will do."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One component that takes part."""

    component: str
    role: Role
    feeds: tuple[Feed, ...]
    """The streams that it receives."""
    keys: tuple[Key, ...]
    """By which its own rows are grouped, by the number of their column."""
    streams: tuple[str, ...]
    """The streams of it that anybody wants."""

    @property
    def is_sharded(self) -> bool:
        """True if its rows have to meet those of the same key."""
        return any(feed.key is not None for feed in self.feeds)


def needed(topology: Topology, outputs: Sequence[Output]) -> frozenset[str]:
    """Ids of the components that the outputs come from or through."""
    found: set[str] = set()
    waiting = [output.component for output in outputs]
    known = {component.id for component in topology.components}
    while waiting:
        component_id = waiting.pop()
        if component_id in known and component_id not in found:
            found.add(component_id)
            waiting += [subscription.source for subscription in topology.component(component_id).inputs]
    return frozenset(found)


def make_stages(
    topology: Topology, outputs: Sequence[Output], stateless: Mapping[str, bool]
) -> tuple[Stage, ...]:
    """The stages of some outputs, each after those that feed it.

    Args:
        topology: one that has passed the checks.
        outputs: what is wanted.
        stateless: for each component whether it declares that it keeps no state.
    """
    taking_part = needed(topology, outputs)
    order = [component_id for component_id in depths(topology) if component_id in taking_part]
    feeds = {component_id: _feeds(topology, component_id, stateless[component_id]) for component_id in order}
    return tuple(_stage(topology, component_id, feeds, outputs) for component_id in order)


def _feeds(topology: Topology, component_id: str, stateless: bool) -> tuple[Feed, ...]:
    return tuple(
        Feed(
            subscription.source,
            subscription.stream,
            None
            if stateless or subscription.grouping.kind is not GroupingKind.FIELDS
            else Key(subscription.stream, subscription.grouping.names),
        )
        for subscription in topology.component(component_id).inputs
    )


def _stage(
    topology: Topology, component_id: str, feeds: Mapping[str, tuple[Feed, ...]], outputs: Sequence[Output]
) -> Stage:
    leaving = [feed for received in feeds.values() for feed in received if feed.source == component_id]
    wanted = {feed.stream for feed in leaving}
    wanted |= {output.stream for output in outputs if output.component == component_id}
    component = topology.component(component_id)
    return Stage(
        component_id,
        component.role,
        feeds[component_id],
        tuple(dict.fromkeys(feed.key for feed in leaving if feed.key is not None)),
        tuple(stream.name for stream in component.outputs or () if stream.name in wanted),
    )
