"""Runs by lot: whose step is next, who is killed before which store, and when the whole group goes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.model.recovery.components import Counter, Sink, Source, StatelessBolt
from tests.model.recovery.cut import DECIDED, IDLE, Coordinator, Steps
from tests.model.recovery.disk import Broker, Disk
from tests.model.recovery.group import Group, Settings
from tests.model.recovery.memory import Killed, Process
from tests.model.recovery.ring import Broken, Row
from tests.model.recovery.tasks import Task
from tests.model.recovery.topology import Layout, Topology, drawn_layout, drawn_topology, expected, merged

PARENT, END_OF_CHECKPOINT = "parent", "end of checkpoint"
PATIENCE = 1000
"""Times in a row that somebody finds nothing to do, after which a run counts as stuck."""
PREEMPTIONS = (20, 20, 200)
"""For how many turns of others somebody is stopped, wherever they are, now and then."""


@dataclass
class Events:
    """The events of runs; without any, a run shows nothing."""

    kills: int = 0
    kills_in_a_redo: int = 0
    group_deaths: int = 0
    suspended: int = 0
    checkpoints: int = 0
    resumed: int = 0
    rescaled: int = 0
    voids: int = 0

    def add(self, other: Events) -> None:
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)


@dataclass
class Faults:
    """The faults that may still come."""

    kills: int
    group_deaths: int
    checkpoints: int


@dataclass
class Schedule:
    """One run of a topology, over several groups if need be."""

    seed: int
    events: Events = field(default_factory=Events)

    def __post_init__(self) -> None:
        draw = self._draw = random.Random(self.seed)
        self.saturates = draw.random() < 0.25
        self.topology: Topology = drawn_topology(draw, self.saturates)
        self.layout: Layout = drawn_layout(draw, self.topology)
        self.settings = Settings(draw.random() < 0.75, draw.choice((1, 2, 4, 8)), draw.choice((1, 1, 2, 8)))
        group_deaths, checkpoints = (draw.randint(0, 3), 6) if self.settings.checkpoints else (0, 0)
        self._faults = Faults(draw.randint(1, 10), group_deaths, checkpoints)
        self._burst = draw.choice((1, 4, 15))
        self.disk = Disk()
        self._broker = Broker(merged(self.topology), len(self.topology.partitions))

    def run(self) -> list[Row]:
        """Run until all is applied; return what the sink shows.

        Raises:
            Broken: the run did what its protocol excludes, or has come to a standstill.
        """
        while not self.disk.database.is_complete:
            self._run_group()
            if not self.disk.database.is_complete:
                self._lay_out_anew()
        return self.disk.database.rows

    def problem(self) -> str:
        """Describe what is wrong with the run; empty if nothing is."""
        due = expected(self.topology, self.layout.tasks[-2])
        try:
            shown = self.run()
        except Broken as broken:
            return f"seed {self.seed}: {broken}"
        for number, (was_due, is_shown) in enumerate(zip(due, shown, strict=False)):
            if was_due != is_shown:
                return f"seed {self.seed}: row {number} is {is_shown}, expected {was_due}"
        return "" if len(shown) == len(due) else f"seed {self.seed}: {len(shown)} rows, expected {len(due)}"

    def _lay_out_anew(self) -> None:
        before, counting = self.layout.tasks, self.layout.tasks[-2] if self.saturates else None
        self.layout = drawn_layout(self._draw, self.topology, counting)
        if self.disk.manifests:
            self.events.resumed += 1
            self.events.rescaled += self.layout.tasks != before

    # -- one group

    def _run_group(self) -> None:
        """Run until all is applied, or until the group dies or is suspended."""
        draw, disk, before = self._draw, self.disk, len(self.disk.manifests)
        group = Group(self.topology, self.layout, disk, self._broker, self.settings, draw)
        coordinator, workers = Coordinator(group), Workers(group, self.layout, self.events)
        parent: Steps = iter(())
        suspends, idle, turns = draw.random() < 0.3, 0, Turns([*group.names, PARENT], draw)
        while not disk.database.is_complete and not self._dies(group):
            if suspends and len(disk.manifests) > before and disk.database.id == group.completed:
                self.events.suspended += 1
                break
            if self._faults.kills and draw.random() < 0.03:
                self._faults.kills -= 1
                workers.arm(draw)
            chosen = turns.next()
            for _ in range(int(draw.random() * self._burst) + 1):
                step = next(parent, END_OF_CHECKPOINT) if chosen == PARENT else workers.step(chosen)
                if step == END_OF_CHECKPOINT:
                    parent = self._next_checkpoint(coordinator)
                if step in (IDLE, END_OF_CHECKPOINT):
                    idle += 1
                    break
                idle = 0 if step is None else idle
            if idle > PATIENCE:
                raise Broken("nobody finds anything to do")
        self.events.checkpoints += len(disk.manifests) - before
        self.events.voids += coordinator.voids

    def _next_checkpoint(self, coordinator: Coordinator) -> Steps:
        if not self._faults.checkpoints or self._draw.random() < 0.5:
            return iter(())
        self._faults.checkpoints -= 1
        return coordinator.checkpoint()

    def _dies(self, group: Group) -> bool:
        """True if the group is killed now: mostly while a checkpoint is being made, and after one."""
        if not self._faults.group_deaths:
            return False
        likelihood = 0.0005
        if group.record.state == DECIDED:
            likelihood = 0.01 if group.completed < group.epoch else 0.02
        if self._draw.random() >= likelihood:
            return False
        self._faults.group_deaths -= 1
        self.events.group_deaths += 1
        return True


class Turns:
    """Whose turn it is: anybody's, but for one that is preempted now and then, between any two steps."""

    def __init__(self, names: list[str], draw: random.Random) -> None:
        self._names = names
        self._draw = draw
        self._preempted, self._stays = "", 0

    def next(self) -> str:
        while True:
            name = self._names[int(self._draw.random() * len(self._names))]
            if self._stays:
                self._stays -= 1
                if name != self._preempted:
                    return name
            elif self._draw.random() >= 0.03:
                return name
            else:
                self._preempted, self._stays = name, self._draw.choice(PREEMPTIONS)


class Workers:
    """The worker processes of a group; one that is killed takes all its tasks with it."""

    def __init__(self, group: Group, layout: Layout, events: Events) -> None:
        self._group = group
        self._events = events
        self._worker_of = dict(zip(group.names, layout.workers, strict=True))
        self._processes = {worker: Process() for worker in set(layout.workers)}
        self._dead: set[int] = set()
        self._tasks: dict[str, Steps] = {}
        for worker in self._processes:
            self._start(worker)

    def _start(self, worker: int) -> None:
        for name, home in self._worker_of.items():
            if home == worker:
                self._tasks[name] = live(self._group, name, self._processes[worker])

    def arm(self, draw: random.Random) -> None:
        draw.choice(list(self._processes.values())).stores_left = draw.randint(0, 60)

    def step(self, name: str) -> str | None:
        """One step of a task; of a dead one, the start of its successor and of all beside it."""
        worker = self._worker_of[name]
        if worker in self._dead:
            self._dead.remove(worker)
            self._group.make_void()
            again = self._group.draw.random() < 0.2
            self._events.kills_in_a_redo += again
            self._processes[worker] = Process(self._group.draw.randint(0, 40)) if again else Process()
            self._start(worker)
            return None
        try:
            return next(self._tasks[name])
        except Killed:
            self._events.kills += 1
            self._dead.add(worker)
            return None


KINDS: dict[str, type[Task]] = {
    "lines": Source,
    "split": StatelessBolt,
    "tag": StatelessBolt,
    "count": Counter,
    "sink": Sink,
}


def live(group: Group, name: str, process: Process) -> Iterator[str | None]:
    """A task's life in a process."""
    task = KINDS[name[:-1]](group, name, process)
    while True:
        yield from task.slice()
