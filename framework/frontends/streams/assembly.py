"""The topology that steps are added to, whichever stream they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.frontends.builder import BoltDeclarer, SpoutDeclarer, TopologyBuilder
from framework.model.specs import Par
from framework.model.topology import DEFAULT_STREAM, Grouping


@dataclass(frozen=True, slots=True)
class Input:
    """A stream of a component, as other components subscribe to it."""

    component: str
    stream: str = DEFAULT_STREAM


class Assembly:
    """Adds components to a topology, each under an id of its own."""

    def __init__(self) -> None:
        self.builder = TopologyBuilder()
        """Makes the topology."""
        self.declarers: dict[str, BoltDeclarer | SpoutDeclarer] = {}
        """The declarers of the components, by id, which know the streams that these declare."""
        self._ids: set[str] = set()

    def new_id(self, name: str | None, made: str) -> str:
        """The name that was asked for, or one that no component has yet."""
        chosen, count = name or made, 1
        while name is None and chosen in self._ids:
            count += 1
            chosen = f"{made}-{count}"
        self._ids.add(chosen)
        return chosen

    def add(
        self,
        component_id: str,
        bolt: Any,
        inputs: Sequence[Input],
        grouping: Grouping,
        par: Par | None,
        config: Mapping[str, Any] | None = None,
    ) -> BoltDeclarer:
        """Add a bolt behind some streams."""
        declarer = self.builder.set_bolt(component_id, bolt, par, config=config)
        self.declarers[component_id] = declarer
        for given in inputs:
            declarer.grouping(given.component, grouping, given.stream)
        return declarer
