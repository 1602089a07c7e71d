"""The memory in which the tasks of a run leave word for their successors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from framework.config import Settings
from framework.planning import Plan, TimeMode, WorkerKind
from framework.planning.recovery import EXACT
from framework.runtime.recovery.commits import Commits
from framework.topology import Role
from viper.arena import Arena
from viper.gate import ScaleGate
from viper.page import TaskPage
from viper.state import KeyedState, KeyedTable, Pool, UndoLog, Writer

Ways = Sequence[tuple[Sequence[int], Sequence[int]]]
"""For each gate the ids of its producing tasks and of its consuming tasks."""

_POOL_BYTES: Final = 1 << 20
"""Bytes for the log and the notes of one task. What is not used takes no memory."""
_COLUMNS: Final = ("y",)
"""The columns of the notes: bytes, by name."""


def is_exact(plan: Plan, settings: Settings) -> bool:
    """Whether a run recovers from the death of a worker process without a difference.

    Where all workers are in this process, no one outlives it, and there is nothing to recover.
    """
    return settings["viper.recovery"] == EXACT and plan.placement.kind is WorkerKind.PROCESS


@dataclass(frozen=True, slots=True)
class RecoveryMap:
    """The offsets of everything in the arena, for processes that attach to it."""

    pool: int
    logs: tuple[int, ...]
    """By the index of the task in the plan, as all that follow."""
    pages: tuple[int, ...]
    notes: tuple[int, ...]


class RecoveryMemory:
    """A page, a log and notes for each task; made by `create`, found again by its map.

    Args:
        plan: names the tasks.
        arena: where everything lies.
        offsets: where it lies there.
        gates: all gates, with their producing and consuming tasks.
    """

    def __init__(
        self,
        plan: Plan,
        arena: Arena,
        offsets: RecoveryMap,
        gates: Iterable[tuple[tuple[Sequence[int], Sequence[int]], ScaleGate]],
    ) -> None:
        self._plan = plan
        self._arena = arena
        self._offsets = offsets
        self._gates = list(gates)
        self._indexes = {task.id: index for index, task in enumerate(plan.tasks)}
        self._pool = Pool.attach(arena, offsets.pool)

    @staticmethod
    def size(plan: Plan, ways: Ways) -> int:
        """Bytes that it takes of an arena."""
        pages = sum(TaskPage.size(*_ends(task.id, ways)) for task in plan.tasks)
        each = UndoLog.size() + KeyedState.size(1, 1)
        return Pool.size(_POOL_BYTES * len(plan.tasks)) + len(plan.tasks) * each + pages

    @staticmethod
    def create(plan: Plan, arena: Arena, ways: Ways) -> RecoveryMap:
        """Make it, for tasks that have done nothing."""
        indexes = range(len(plan.tasks))
        ends = [_ends(task.id, ways) for task in plan.tasks]
        return RecoveryMap(
            Pool.create(arena, _POOL_BYTES * len(plan.tasks)).offset,
            tuple(UndoLog.create(arena, _log_owner(index)).offset for index in indexes),
            tuple(TaskPage.create(arena, inputs=inputs, outputs=outputs).offset for inputs, outputs in ends),
            tuple(
                KeyedState.create(arena, _COLUMNS, groups=1, first_owner=_log_owner(index) + 1).offset
                for index in indexes
            ),
        )

    def commits(self, task: int) -> Commits:
        """What a task commits by, in the process that runs it; what a dead process had begun is taken back.

        Its sources leave out from now on what their readers have already.
        """
        writer, page = self._writer(task), self._page(task)
        reader = None
        for first, gate, index in self._read_by(task):
            page.read(first, gate, index)
            reader = gate.reader(index)
        is_live = self._plan.time is TimeMode.INGEST and self._role(task) is Role.SPOUT
        for output, (gate, index) in enumerate(self._fed_by(task)):
            page.feed(output, gate.source(index), repeats_positions=not is_live)
        return Commits(writer, page, self._notes(task, writer), reader)

    def rewind(self, task: int) -> None:
        """After the death of a task's process: go back to the last commit, and have its input come again."""
        self._writer(task).close()
        page = self._page(task)
        for first, gate, index in self._read_by(task):
            page.rewind(first, gate, index)

    def committed(self, task: int) -> int:
        """How often a task has committed."""
        return self._page(task).commits

    # -- parts

    def _role(self, task: int) -> Role:
        return self._plan.tasks[self._indexes[task]].role

    def _writer(self, task: int) -> Writer:
        index = self._indexes[task]
        log = UndoLog.attach(self._arena, self._offsets.logs[index], _log_owner(index))
        return Writer(self._arena, self._pool, log, [log.owner + 1])

    def _page(self, task: int) -> TaskPage:
        inputs, outputs = _ends(task, [way for way, _ in self._gates])
        offset = self._offsets.pages[self._indexes[task]]
        return TaskPage.attach(self._arena, offset, inputs=inputs, outputs=outputs)

    def _notes(self, task: int, writer: Writer) -> KeyedTable:
        index = self._indexes[task]
        offset, owner = self._offsets.notes[index], _log_owner(index) + 1
        state = KeyedState.attach(self._arena, offset, _COLUMNS, groups=1, first_owner=owner)
        return state.table(writer, 0, "notes for a successor", groups=(0,))

    def _read_by(self, task: int) -> Iterator[tuple[int, ScaleGate, int]]:
        """The gates that a task reads, with the number of its first input there and its index as a reader."""
        first = 0
        for (sources, readers), gate in self._gates:
            if task in readers:
                yield first, gate, readers.index(task)
                first += len(sources)

    def _fed_by(self, task: int) -> Iterator[tuple[ScaleGate, int]]:
        """The gates that a task feeds, with its index as a source."""
        for (sources, _), gate in self._gates:
            if task in sources:
                yield gate, sources.index(task)


def _ends(task: int, ways: Ways) -> tuple[int, int]:
    """How many rings a task reads, and how many it feeds."""
    inputs = sum(len(sources) for sources, readers in ways if task in readers)
    return inputs, sum(task in sources for sources, _ in ways)


def _log_owner(index: int) -> int:
    """The number under which a task's log claims memory; its notes have the next one."""
    return 1 + 2 * index
