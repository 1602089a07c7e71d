"""A group of processes that run a topology, from the beginning or from a checkpoint."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.model.recovery.cut import NONE, VOID
from tests.model.recovery.disk import Broker, Disk, Manifest
from tests.model.recovery.memory import Page
from tests.model.recovery.ring import Ring
from tests.model.recovery.topology import Layout, Topology, group_of, owner_of


@dataclass(frozen=True)
class Settings:
    """The settings of a run, apart from its topology."""

    checkpoints: bool
    margin: int
    """The distance from what is published to the first proposal of a cut."""
    lines_at_once: int
    """The most that a source emits in a slice."""


class Group:
    """The memory that the processes of a run share."""

    def __init__(
        self,
        topology: Topology,
        layout: Layout,
        disk: Disk,
        broker: Broker,
        settings: Settings,
        draw: random.Random,
    ) -> None:
        self.topology = topology
        self.disk = disk
        self.broker = broker
        self.draw = draw
        self.checkpoints = settings.checkpoints
        self.margin = settings.margin
        self.lines_at_once = settings.lines_at_once
        components = ("lines", "split", "tag")[: len(topology.groupings) + 1]
        self.components = [
            [f"{name}{n}" for n in range(tasks)]
            for name, tasks in zip((*components, "count", "sink"), layout.tasks, strict=True)
        ]
        self._component = {name: i for i, names in enumerate(self.components) for name in names}
        self._rings = {
            (producer, consumer): Ring(layout.slots)
            for producers, consumers in zip(self.components, self.components[1:], strict=False)
            for producer in producers
            for consumer in consumers
        }
        self.names = list(self._component)
        self.pages = {name: Page() for name in self.names}
        manifest = disk.reopen()
        self.first_epoch = self.epoch = self.completed = manifest.epoch if manifest else 0
        self.record = NONE
        self.answers = {name: (self.epoch, False) for name in self.sources}
        self.parts_written = {name: self.epoch for name in self.names}
        if manifest:
            self._load(manifest)

    def make_void(self) -> None:
        """A process has died: by the parent, before the successor begins."""
        self.record = self.record._replace(state=VOID)

    # -- who is connected to whom

    @property
    def sources(self) -> list[str]:
        return self.components[0]

    def stage_of(self, name: str) -> int:
        return self._component[name]

    def tasks_beside(self, name: str) -> list[str]:
        return self.components[self._component[name]]

    def rings_from(self, name: str) -> list[Ring]:
        below = self.components[self._component[name] + 1 :]
        return [self._rings[name, consumer] for consumer in below[0]] if below else []

    def rings_to(self, name: str) -> list[Ring]:
        return [self._rings[producer, name] for producer in self.components[self._component[name] - 1]]

    def grouping_from(self, name: str) -> str:
        groupings = (*self.topology.groupings, "fields", "global", "global")
        return groupings[self._component[name]]

    def partitions_of(self, source: str) -> range:
        return range(self.sources.index(source), len(self.topology.partitions), len(self.sources))

    # -- going on from a checkpoint

    def _load(self, manifest: Manifest) -> None:
        for names in self.components:
            before = {name: part for name, part in manifest.parts.items() if name[:-1] == names[0][:-1]}
            words = [self.pages[name].words for name in names]
            self._load_routing(manifest, names)
            for part in before.values():
                for partition, offset in part.get("offsets", {}).items():
                    words[partition % len(names)]["offset", partition] = offset
                for group, rows in part.get("groups", {}).items():
                    self._load_state(self.pages[names[owner_of(group, len(names))]], rows)
            ticks = [part["ticks"] for part in before.values() if "ticks" in part]
            for own in words:
                if ticks:
                    own["ticks"] = ticks[0]
        self.pages["sink0"].words["length"] = self.disk.marks[manifest.epoch]

    def _load_routing(self, manifest: Manifest, names: list[str]) -> None:
        """Go on dealing where the tasks before stopped, if there are as many as before on both sides."""
        below = self.components[self._component[names[0]] + 1 :]
        beside = set(names).union(*below[:1])
        prefixes = {name[:-1] for name in beside}
        if {name for name in manifest.parts if name[:-1] in prefixes} == beside:
            for name in names:
                self.pages[name].words["routing"] = manifest.parts[name]["routing"]

    @staticmethod
    def _load_state(page: Page, rows: list[tuple[str, Any]]) -> None:
        for key, value in rows:
            cell = page.words.setdefault("cells", 0)
            page.words["cells"] = cell + 1
            page.cells[cell] = value
            page.words["value", key] = cell
            keys = ("keys", group_of(key))
            page.words[keys] = (*page.words.get(keys, ()), key)
