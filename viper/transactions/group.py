"""A group: shared tables, with the logs of all tasks that use them, and the evaluation of what these want."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena
from viper.position import Position, position_of
from viper.transactions.evaluator import Evaluator
from viper.transactions.specs import TableSpec
from viper.transactions.tables import Table, TableLayout

LOG_BYTES: Final = 4 << 20
"""The room of a log unless the caller sets another; memory that is not touched takes none."""
NO_LOG: Final = -1


class Outcome(enum.IntEnum):
    """The outcome of an evaluation."""

    NOTHING = 0
    """Nothing could be evaluated, or somebody else evaluates, who checks again afterwards."""
    PROGRESSED = 1
    """Logs have progressed."""
    WAITS_ALONE = 2
    """Likewise, up to a function that is to run alone."""


@dataclass(frozen=True, slots=True)
class LogSpec:
    """The owner of a log: a task of a component."""

    component: int
    """The index of the component in order of definition: breaks ties between positions."""
    task: int
    """Breaks what ties are left."""


@dataclass(frozen=True, slots=True)
class GroupLayout:
    """The layout of a group, for other processes of the arena."""

    offset: int
    tables: tuple[TableLayout, ...]
    logs: tuple[int, ...]
    """Offsets of the logs, by their numbers."""
    log_bytes: int


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of what a group has evaluated so far."""

    transactions: int
    aborted: int
    """Of these."""
    evaluations: int
    """The number of times that somebody evaluated any."""
    late: int
    """Transactions that came below what was evaluated already."""
    instructions: int


class Group:
    """A group, as one process sees it; `create` makes it, `attach` finds it again."""

    def __init__(self, arena: Arena, layout: GroupLayout, tables: Sequence[Table]) -> None:
        self.layout = layout
        """Its layout in the arena."""
        self.tables = tuple(tables)
        """Its tables, in order."""
        self.arena = arena
        self.elements = _element_numbers([table.spec for table in tables])
        """By table, the number that the group has for the elements of its sets; None: it has none."""
        count = _table_count([table.spec for table in tables])
        arena._at(layout.offset, lib.vp_txgroup_size(count, len(layout.logs)))
        for offset in layout.logs:
            arena._at(offset, lib.vp_txlog_size(layout.log_bytes))
        self.native: Any = lib.vp_txgroup_at(arena._header, layout.offset)
        self._evaluator: Evaluator | None = None

    @classmethod
    def create(
        cls, arena: Arena, tables: Sequence[Table], logs: Sequence[LogSpec], log_bytes: int = LOG_BYTES
    ) -> Group:
        """A new one, of tables of this arena.

        Args:
            arena: where its memory comes from.
            tables: at most 256, those of sets' elements included.
            logs: whose they are; a log's number is its place here.
            log_bytes: what each has room for, a power of two from 4,096 up to 2**31.

        Raises:
            ArenaError: the arena has no room for it.
            ValueError: there is no log, or too many tables, or a log of such a size.
        """
        specs = [table.spec for table in tables]
        _check(specs, len(logs), log_bytes)
        count = _table_count(specs)
        offset = arena.allocate(lib.vp_txgroup_size(count, len(logs)))
        native = lib.vp_txgroup_format(arena._header, offset, count, len(logs))
        offsets = []
        for number, log in enumerate(logs):
            offsets.append(arena.allocate(lib.vp_txlog_size(log_bytes)))
            lib.vp_txlog_format(arena._header, offsets[-1], log_bytes, log.component, log.task)
            lib.vp_txgroup_set_log(native, number, offsets[-1])
        layout = GroupLayout(offset, tuple(table.layout for table in tables), tuple(offsets), log_bytes)
        group = cls(arena, layout, tables)
        group._set_tables()
        return group

    @classmethod
    def attach(cls, arena: Arena, layout: GroupLayout) -> Group:
        """The one that another process made; ArenaError if nothing was allocated there."""
        return cls(arena, layout, [Table.attach(arena, table) for table in layout.tables])

    @staticmethod
    def size(specs: Sequence[TableSpec], logs: int, log_bytes: int = LOG_BYTES) -> int:
        """Bytes that a group takes of an arena, with its tables and logs; ValueError as `create`."""
        _check(specs, logs, log_bytes)
        rounded = lib.vp_arena_rounded
        group = rounded(lib.vp_txgroup_size(_table_count(specs), logs))
        return int(group + logs * rounded(lib.vp_txlog_size(log_bytes)) + sum(map(Table.size, specs)))

    def _set_tables(self) -> None:
        for number, (table, elements) in enumerate(zip(self.tables, self.elements, strict=True)):
            lib.vp_txgroup_set_table(self.native, number, table.layout.offset)
            if elements is None:
                continue
            lib.vp_txgroup_set_table(self.native, elements, table.layout.elements)
            for column, kind in enumerate(table.spec.column_kinds.values()):
                if kind == "set":
                    lib.vp_txgroup_set_elements(self.native, number, column, elements)

    def table(self, name: str) -> Table:
        """The table of a name; KeyError if there is none."""
        for table in self.tables:
            if table.spec.table_name == name:
                return table
        known = ", ".join(table.spec.table_name for table in self.tables)
        raise KeyError(f"there is no table {name!r} here: there are {known}")

    # -- evaluation

    def use(self, evaluator: Evaluator) -> None:
        """Have this process evaluate by an evaluator instead of serially; before it evaluates anything."""
        self._evaluator = evaluator

    def end_threads(self) -> None:
        """End the threads of this process that evaluate, if there are any, after a run."""
        if self._evaluator is not None:
            self._evaluator.end()

    def evaluate(self, holder: int, me: int | None) -> tuple[Outcome, int | None]:
        """Evaluate what can be; other threads may run meanwhile.

        Args:
            holder: who that is, from 1 on, the same for all threads of a process.
            me: number of the caller's log; None where it has none, or its Recorder's `may_run_alone` is
                false.

        Returns:
            The outcome. For WAITS_ALONE also the log whose function is to run: if that is `me`, nobody
            evaluates until its Recorder's `run_alone` is over; else that task is to be woken.

        Raises:
            MemoryError: a transaction changes more than there is room to undo.
        """
        who = ffi.new("int32_t *")
        number = NO_LOG if me is None else me
        if self._evaluator is None:
            outcome = lib.vp_txgroup_evaluate(self.native, holder, number, who)
        else:
            outcome = self._evaluator.evaluate(holder, number, who)
        if outcome == lib.VP_TX_NO_MEMORY:
            raise MemoryError("the next transaction changes more than there is room to undo: make it smaller")
        return Outcome(outcome), int(who[0]) if outcome == lib.VP_TX_WAITS_ALONE else None

    def is_due(self, me: int | None) -> bool:
        """True if `evaluate` might do something; False while somebody is at it, who looks again."""
        return bool(lib.vp_txgroup_is_due(self.native, NO_LOG if me is None else me))

    def evaluated(self) -> Position:
        """Below what position all is evaluated."""
        return position_of(lib.vp_txgroup_evaluated(self.native))

    def holding(self) -> int:
        """The number of the log that holds all others back."""
        return int(lib.vp_txgroup_holding(self.native))

    def counts(self) -> Counts:
        """Count what was evaluated so far."""
        found: Any = ffi.new("vp_txcounts *")
        lib.vp_txgroup_counts(self.native, found)
        return Counts(
            int(found.transactions),
            int(found.aborted),
            int(found.evaluations),
            int(found.late),
            int(found.instructions),
        )

    def bury(self, holder: int) -> bool:
        """Set right what a dead process has left; whether it was evaluating. Somebody must evaluate then."""
        return bool(lib.vp_txgroup_bury(self.native, holder))


def _element_numbers(specs: Sequence[TableSpec]) -> tuple[int | None, ...]:
    numbers: list[int | None] = []
    following = len(specs)
    for spec in specs:
        numbers.append(following if spec.has_sets else None)
        following += spec.has_sets
    return tuple(numbers)


def _table_count(specs: Sequence[TableSpec]) -> int:
    return len(specs) + sum(spec.has_sets for spec in specs)


def _check(specs: Sequence[TableSpec], logs: int, log_bytes: int) -> None:
    if not lib.vp_txlog_size(log_bytes):
        raise ValueError(f"log_bytes={log_bytes}: expected a power of two from 4096 up to 2**31")
    if not lib.vp_txgroup_size(_table_count(specs), logs):
        raise ValueError(
            f"{_table_count(specs)} tables, those of sets' elements included, and {logs} logs in a group: "
            "expected at most 256 tables, and 1 to 65,535 logs"
        )
    names = [spec.table_name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"a group has two tables called {name!r}")
