"""The memory of declared state: an arena of its own, with a pool that all tables of a run grow into.

Each task has a log of its own, by which its changes can be taken back. Each component has a table for each
state by key, in key groups that are divided among its tasks, and each task one for each of its own states.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from framework.model.config import Settings
from framework.model.errors import ConfigError
from framework.operators.state import StateSpec
from framework.planning import Plan, TaskSpec, WorkerKind, is_exact
from framework.planning.routing import TaskSet
from framework.planning.traits import Traits
from framework.runtime.durability.state.shared import SharedLayout, SharedMemory
from framework.runtime.durability.state.snapshot import OwnState
from framework.runtime.durability.state.task_state import NoStateRoomError, TaskParts, TaskState
from framework.runtime.observation.statistics import GroupStatistics, StateStatistics
from viper.arena import Arena
from viper.errors import ArenaError
from viper.hashing import groups_of_task
from viper.page import TaskPage
from viper.registers import Registers
from viper.segments import available_bytes
from viper.state import KeyClaims, KeyedState, KeyedTable, Pool, UndoLog, Writer

HOTTEST: Final = 5
"""The most key groups of a component that statistics name."""
BY_KEY, BY_TASK = "key", "task"
REGISTERS_OF_CLAIMANT: Final = 3
"""Registers of a task that claims key groups."""
_NOTES: Final = ("y",)
"""The columns of the notes for a successor."""
_NOTE_BYTES: Final = 1 << 20
"""Bytes for the log of a task with a page, and for its notes.

Unused bytes take no memory.
"""


@dataclass(frozen=True, slots=True)
class StateMap:
    """The offsets of all parts of the arena, for processes that attach to it."""

    pool: int
    logs: Mapping[int, int]
    """By task."""
    by_key: Mapping[str, int]
    """State by key, by component."""
    by_task: Mapping[int, int]
    """State of tasks, by task."""
    pages: Mapping[int, int]
    """Pages of tasks, by task; empty where a dead worker process loses what it was about."""
    notes: Mapping[int, int]
    """Notes of tasks for their successors, likewise."""
    tracked: bool
    """True if it is noted which rows of state change, for checkpoints."""
    spare_log: int
    """For the process that leads the run, before and after the tasks have their state open."""
    shared: Sequence[SharedLayout]
    """The groups of shared tables."""
    claims: Mapping[str, tuple[int, int]]
    """By component the key groups that its tasks claim, and the registers of these."""


@dataclass(frozen=True, slots=True)
class ClaimedGroups:
    """The key groups of a component whose tasks claim them."""

    claims: KeyClaims
    """They say which task has which group."""
    registers: Registers
    """Of the tasks, `REGISTERS_OF_CLAIMANT` for each."""


@dataclass(frozen=True, slots=True)
class OpenState:
    """A state with its tables, as the process that leads the run sees it."""

    component: str
    index: int | None
    """Of the task whose state it is, within its component; None for state by key."""
    spec: StateSpec
    tables: tuple[KeyedTable, ...]


class StateMemory:
    """The state of all tasks of a run that declare any, and the pages of all tasks where they have some.

    Made by `create`; a worker process has its own view of what its parent has made.
    """

    def __init__(self, plan: Plan, settings: Settings, arena: Arena, offsets: StateMap) -> None:
        """
        Args:
            plan: says which components declare state, and which tasks they have.
            settings: the configuration it was planned with.
            arena: the memory that holds everything.
            offsets: where everything lies in the arena.
        """
        self.arena = arena
        self.offsets = offsets
        self._plan = plan
        self._groups: int = settings["viper.key.groups"]
        self._owners = _Owners(plan, self._groups)
        self._owned_now: Callable[[TaskSpec], range] | None = None
        self._pool = Pool.attach(arena, offsets.pool)
        self.shared = SharedMemory(plan, arena, offsets.shared)
        """The tables that transactions share."""
        self._by_key = {
            component: KeyedState.attach(
                arena,
                offset,
                _codes(plan.traits[component], BY_KEY),
                groups=self._groups,
                first_owner=self._owners.by_key[component],
                tracked=offsets.tracked,
            )
            for component, offset in offsets.by_key.items()
        }
        self._claimed = {
            component: ClaimedGroups(
                KeyClaims.attach(arena, claims, self._groups, len(plan.tasks_of(component))),
                Registers.attach(arena, registers, _registers(plan, component)),
            )
            for component, (claims, registers) in offsets.claims.items()
        }
        self._by_task = {
            task: KeyedState.attach(
                arena,
                offset,
                _codes(plan.traits[self._component(task)], BY_TASK),
                groups=1,
                first_owner=self._owners.by_task[task],
                tracked=offsets.tracked,
            )
            for task, offset in offsets.by_task.items()
        }

    @classmethod
    def create(cls, plan: Plan, settings: Settings, *, tracked: bool = False) -> StateMemory | None:
        """Make the memory, which worker processes can share if there are any; None if no task needs it.

        Args:
            plan: says which components declare state, and which tasks they have.
            settings: the configuration it was planned with.
            tracked: whether it is noted which rows of state change, for checkpoints.

        Raises:
            ConfigError: the system has less memory than ``viper.state.bytes``.
        """
        exact = is_exact(plan, settings)
        tasks = [task for task in plan.tasks if exact or plan.traits[task.component].states]
        if not (tasks or plan.table_groups):
            return None
        ends = {task.id: _ends(plan, task.id) for task in tasks if exact}
        groups = settings["viper.key.groups"]
        size_bytes = settings["viper.state.bytes"] + len(ends) * _NOTE_BYTES
        owners = _Owners(plan, groups)
        fixed = sum(
            KeyedState.size(len(_codes(plan.traits[name], BY_KEY)), groups, tracked=tracked)
            for name in owners.by_key
        )
        fixed += sum(
            KeyedState.size(len(_codes(plan.traits[_component_of(plan, task)], BY_TASK)), 1, tracked=tracked)
            for task in owners.by_task
        )
        fixed += (len(tasks) + 1) * UndoLog.size()
        fixed += sum(TaskPage.size(*found) + KeyedState.size(1, 1) for found in ends.values())
        fixed += SharedMemory.size(plan, settings)
        fixed += sum(
            KeyClaims.size(groups, len(plan.tasks_of(name))) + Registers.size(_registers(plan, name))
            for name in plan.claimed_by_key
        )
        arena = _arena(plan, size_bytes, Pool.size(size_bytes) + fixed)
        offsets = StateMap(
            pool=Pool.create(arena, size_bytes).offset,
            logs={task.id: UndoLog.create(arena, owner=task.id).offset for task in tasks},
            by_key={
                name: KeyedState.create(
                    arena,
                    _codes(plan.traits[name], BY_KEY),
                    groups=groups,
                    first_owner=owner,
                    tracked=tracked,
                ).offset
                for name, owner in owners.by_key.items()
            },
            by_task={
                task: KeyedState.create(
                    arena,
                    _codes(plan.traits[_component_of(plan, task)], BY_TASK),
                    groups=1,
                    first_owner=owner,
                    tracked=tracked,
                ).offset
                for task, owner in owners.by_task.items()
            },
            pages={
                task: TaskPage.create(arena, inputs=inputs, outputs=outputs).offset
                for task, (inputs, outputs) in ends.items()
            },
            notes={
                task: KeyedState.create(arena, _NOTES, groups=1, first_owner=owners.notes[task]).offset
                for task in ends
            },
            tracked=tracked,
            spare_log=UndoLog.create(arena, owner=len(plan.tasks) + 1).offset,
            shared=SharedMemory.create(plan, settings, arena),
            claims={
                name: (
                    KeyClaims.create(arena, groups, len(plan.tasks_of(name))).offset,
                    Registers.create(arena, _registers(plan, name)).offset,
                )
                for name in plan.claimed_by_key
            },
        )
        return cls(plan, settings, arena, offsets)

    def own_by(self, owned: Callable[[TaskSpec], range]) -> None:
        """Set the function that returns the key groups a task owns now, where that changes during the run.

        A successor takes back the uncommitted changes of its predecessor in the groups that this function
        returns. So it must return groups that no other task has taken over. After a hand-over that others
        have not completed, these are the groups that the task has kept. The new groups follow only when all
        tasks that had them have committed.

        Args:
            owned: called when a task's state is opened, and for the statistics of all tasks; from any thread.
        """
        self._owned_now = owned

    def _owned(self, task: TaskSpec) -> range:
        return self._planned(task) if self._owned_now is None else self._owned_now(task)

    def _planned(self, task: TaskSpec) -> range:
        """The key groups that a task begins with; none for one that stands by."""
        plan = self._plan
        tasks = plan.scalable.get(task.component) or TaskSet.first(len(plan.tasks_of(task.component)))
        rank = tasks.rank(task.index)
        return range(0) if rank is None else groups_of_task(rank, len(tasks), self._groups)

    def task(self, task: TaskSpec) -> TaskState | None:
        """Open the state of a task, as it was at its last commit; None if it has none.

        Only one process may have it open. Uncommitted changes of a process that died are taken back.
        """
        specs = self._plan.traits[task.component].states
        return TaskState(self.writer(task), self._parts(task), specs) if specs else None

    def writer(self, task: TaskSpec) -> Writer:
        """Return the writer by which a task changes its state, its page and its notes; as for `task`."""
        parts, claimed = self._parts(task), self.claimed(task)
        groups = parts.groups if claimed is None else claimed.claims.owned(task.index)
        owners = [parts.by_key.owners[group] for group in groups] if parts.by_key is not None else []
        owners += parts.by_task.owners if parts.by_task is not None else []
        owners += [self._owners.notes[task.id]] if task.id in self.offsets.notes else []
        log = UndoLog.attach(self.arena, self.offsets.logs[task.id], owner=task.id)
        return Writer(self.arena, self._pool, log, owners)

    def claimed(self, task: TaskSpec) -> ClaimedGroups | None:
        """The key groups that a task claims with others of its component; None for most."""
        return self._claimed.get(task.component)

    def _parts(self, task: TaskSpec) -> TaskParts:
        owned = self._owned(task)
        return TaskParts(
            task=task,
            by_key=self._by_key.get(task.component),
            groups=range(self._groups) if self.claimed(task) else owned,
            by_task=self._by_task.get(task.id),
            key_fields=_key_fields(self._plan, task.component),
            saves=owned,
            outlives=self._plan.placement.kind is WorkerKind.PROCESS,
        )

    def page(self, task: TaskSpec) -> TaskPage:
        """Return the page with the progress of a task, where tasks have pages."""
        inputs, outputs = _ends(self._plan, task.id)
        return TaskPage.attach(self.arena, self.offsets.pages[task.id], inputs=inputs, outputs=outputs)

    def notes(self, task: TaskSpec, writer: Writer) -> KeyedTable:
        """Return the table of a task's notes for its successors, bytes by name, where it has a page."""
        owner = self._owners.notes[task.id]
        offset = self.offsets.notes[task.id]
        state = KeyedState.attach(self.arena, offset, _NOTES, groups=1, first_owner=owner)
        return state.table(writer, 0, "notes", groups=(0,), full=NoStateRoomError)

    def opened(self) -> tuple[Writer, Sequence[OpenState]]:
        """All states with all their keys, for the process that leads the run, before any task has its state
        open."""
        states = [*self._by_key.values(), *self._by_task.values()]
        owners = [owner for state in states for owner in state.owners]
        log = UndoLog.attach(self.arena, self.offsets.spare_log, owner=len(self._plan.tasks) + 1)
        writer = Writer(self.arena, self._pool, log, owners)
        found = [
            OpenState(component, None, spec, _tables(state, writer, spec, number, range(state.groups)))
            for component, state in self._by_key.items()
            for number, spec in _numbered(self._plan.traits[component], BY_KEY)
        ]
        for task, state in self._by_task.items():
            component, index = self._component(task), self._plan.tasks[task - 1].index
            found += [
                OpenState(component, index, spec, _tables(state, writer, spec, number, range(1)))
                for number, spec in _numbered(self._plan.traits[component], BY_TASK)
            ]
        return writer, found

    def owned_by(self, tasks: Sequence[TaskSpec]) -> tuple[Writer, Sequence[OwnState]]:
        """Return the states of tasks that have ended, for the process that leads the run."""
        log = UndoLog.attach(self.arena, self.offsets.spare_log, owner=len(self._plan.tasks) + 1)
        writer = Writer(self.arena, self._pool, log, ())
        found = []
        for task in tasks:
            parts, traits = self._parts(task), self._plan.traits[task.component]
            for state, per, index, groups in (
                (parts.by_key, BY_KEY, None, self._owned(task)),
                (parts.by_task, BY_TASK, task.index, range(1)),
            ):
                if state is None:
                    continue
                for number, spec in _numbered(traits, per):
                    tables = _tables(state, writer, spec, number, groups)
                    found.append(OwnState(spec, tables, task.component, task.id, index, groups))
        return writer, found

    def statistics(self) -> Sequence[StateStatistics]:
        """Return the size of every component's state; from any process, at any time."""
        found = [
            StateStatistics(component, spec.name, spec.per, state.keys(number), state.bytes())
            for component, state in self._by_key.items()
            for number, spec in _numbered(self._plan.traits[component], BY_KEY)
        ]
        for task, state in self._by_task.items():
            component = self._component(task)
            found += [
                StateStatistics(f"{component}:{task}", spec.name, spec.per, state.keys(number), state.bytes())
                for number, spec in _numbered(self._plan.traits[component], BY_TASK)
            ]
        return found

    def hottest(self) -> Sequence[GroupStatistics]:
        """The key groups of each component that are used most; from any process, at any time."""
        return [found for component in self._by_key for found in self._hottest_of(component)]

    def _hottest_of(self, component: str) -> Sequence[GroupStatistics]:
        state, tasks = self._by_key[component], self._plan.tasks_of(component)
        numbers = [number for number, _ in _numbered(self._plan.traits[component], BY_KEY)]
        accesses = [state.accesses(group) for group in range(state.groups)]
        keys = [sum(state.keys_in(n, group) for n in numbers) for group in range(state.groups)]
        used = [group for group in range(state.groups) if accesses[group] or keys[group]]
        used.sort(key=lambda group: (-accesses[group], -keys[group]))
        owners: list[tuple[str, Collection[int]]]
        owners = [(f"{component}:{task.id}", self._owned(task)) for task in tasks]
        if (claimed := self._claimed.get(component)) is not None:
            has = {group: claimed.claims.owner(group) for group in used[:HOTTEST]}
            owners = [(name, [g for g in has if has[g] == index]) for index, (name, _) in enumerate(owners)]
        return [
            GroupStatistics(
                component=component,
                group=group,
                task=next((name for name, groups in owners if group in groups), component),
                accesses=accesses[group],
                share=accesses[group] / max(sum(accesses), 1),
                keys=keys[group],
                bytes=state.used_bytes(group),
            )
            for group in used[:HOTTEST]
        ]

    def _component(self, task: int) -> str:
        return _component_of(self._plan, task)


class _Owners:
    """The numbers under which memory is claimed: that of a task for its log, and others for tables."""

    def __init__(self, plan: Plan, groups: int) -> None:
        numbers = count(len(plan.tasks) + 2)  # the first one behind the tasks' is that of the spare log
        self.by_key: dict[str, int] = {}
        self.by_task: dict[int, int] = {}
        for component in sorted(plan.traits):
            if _codes(plan.traits[component], BY_KEY):
                self.by_key[component] = next(numbers)
                for _ in range(groups - 1):
                    next(numbers)
        for task in plan.tasks:
            if _codes(plan.traits[task.component], BY_TASK):
                self.by_task[task.id] = next(numbers)
        self.notes = {task.id: next(numbers) for task in plan.tasks}


def _registers(plan: Plan, component: str) -> int:
    return REGISTERS_OF_CLAIMANT * len(plan.tasks_of(component))


def _ends(plan: Plan, task: int) -> tuple[int, int]:
    """From how many tasks a task receives tuples, and to how many channels it sends some."""
    inputs = sum(len(channel.sources) for channel in plan.channels if task in channel.readers)
    return inputs, sum(task in channel.sources for channel in plan.channels)


def _arena(plan: Plan, size_bytes: int, whole_bytes: int) -> Arena:
    available = available_bytes()
    told = f"viper.state.bytes is {size_bytes}: expected"
    if available is not None and whole_bytes > available:
        raise ConfigError(
            f"{told} less, as with what goes with it that is {whole_bytes} bytes, and the system has "
            f"{available} left"
        )
    try:
        if plan.placement.kind is WorkerKind.PROCESS:
            return Arena.shared(whole_bytes)
        return Arena.private(whole_bytes)
    except ArenaError as error:
        raise ConfigError(f"{told} less: {error}") from error


def _tables(
    state: KeyedState, writer: Writer, spec: StateSpec, number: int, groups: range
) -> tuple[KeyedTable, ...]:
    return tuple(
        state.table(writer, n, spec.name, groups=groups, tracked=False)
        for n in range(number, number + len(spec.codes))
    )


def _numbered(traits: Traits, per: str) -> list[tuple[int, StateSpec]]:
    """The states of a kind, each with the index of its first table."""
    numbers: list[tuple[int, StateSpec]] = []
    number = 0
    for spec in traits.states:
        if spec.per == per:
            numbers.append((number, spec))
            number += len(spec.codes)
    return numbers


def _key_fields(plan: Plan, component: str) -> int:
    """Of how many fields the keys of a component's state are, which are as many for all of its inputs."""
    found = (subscription.key for subscription in plan.subscriptions if subscription.target == component)
    return max((len(key) for key in found if key is not None), default=0)


def _codes(traits: Traits, per: str) -> tuple[str, ...]:
    return tuple(code for spec in traits.states if spec.per == per for code in spec.codes)


def _component_of(plan: Plan, task: int) -> str:
    return plan.tasks[task - 1].component
