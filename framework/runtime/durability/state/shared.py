"""The memory of shared tables: each group with its tables, and a log for each task that has transactions."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from framework.model.config import Settings
from framework.model.errors import ConfigError, LoadError, SourceError, StateError
from framework.model.importing import import_class
from framework.model.tables import SharedTable, TableGroup
from framework.operators.sinks.line_sinks import records_text
from framework.operators.sources.csv_records import CsvForm, records_of
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.opening import opened_text
from framework.operators.sources.reading import reading
from framework.planning import Evaluation, Plan, TaskSpec
from framework.runtime.durability.state.table_images import restore
from framework.runtime.observation.statistics import EvaluatorStatistics, TransactionStatistics
from viper.arena import Arena
from viper.errors import StateFullError
from viper.transactions.evaluator import Chosen, Evaluator, Reason, chosen
from viper.transactions.group import Group, GroupLayout, LogSpec
from viper.transactions.tables import Table

_KEEPER: Final = 0
"""The number of the log of the task that saves the tables."""
_SEPARATOR: Final = " "
"""The separator of the elements of a set in a file."""
_AT_ONCE: Final = 512
"""Rows of a file that are read or written at once."""


@dataclass(frozen=True, slots=True)
class MemberState:
    """A group as one of its tasks sees it."""

    group: Group
    number: int
    """The number of the task's log."""
    holder: int
    """The identity under which the task's process holds the lease."""
    is_keeper: bool
    """True if the task saves the tables for checkpoints."""


@dataclass(frozen=True, slots=True)
class SharedLayout:
    """The offsets of a group in the arena, for other processes."""

    group: GroupLayout
    evaluators: Sequence[int]
    """The offsets of the evaluator of each process."""


class SharedMemory:
    """All groups of shared tables of a run. Made by `create`; a worker process has its own view of them.

    Args:
        plan: says which groups there are.
        arena: holds them.
        layouts: where each lies.
    """

    def __init__(self, plan: Plan, arena: Arena, layouts: Sequence[SharedLayout]) -> None:
        self._plan = plan
        self._layouts = layouts
        self._groups = [Group.attach(arena, layout.group) for layout in layouts]
        self._in_use = set[int]()
        """The groups that this process has an evaluator for."""
        self._lock = threading.Lock()
        self._numbers = {
            task.id: (index, number)
            for index, group in enumerate(plan.table_groups)
            for number, task in enumerate(plan.transactional(group))
        }
        self._processes = {
            task: process
            for process, executors in enumerate(plan.placement.processes)
            for executor in executors
            for task in plan.placement.executors[executor].tasks
        }

    @staticmethod
    def size(plan: Plan, settings: Settings) -> int:
        """Bytes of an arena that all groups take; memory that is not touched takes none."""
        log_bytes = settings["viper.transactions.bytes"]
        evaluators = len(plan.placement.processes) * Evaluator.size(_threads(plan))
        return sum(
            Group.size(group.tables, len(plan.transactional(group)), log_bytes) + evaluators
            for group in plan.table_groups
        )

    @classmethod
    def create(cls, plan: Plan, settings: Settings, arena: Arena) -> Sequence[SharedLayout]:
        """Make all groups, with empty tables; returns where they lie."""
        layouts = []
        for group in plan.table_groups:
            tables = [Table.create(arena, table) for table in group.tables]
            tasks = plan.transactional(group)
            logs = [LogSpec(group.members.index(task.component), task.id) for task in tasks]
            made = Group.create(arena, tables, logs, settings["viper.transactions.bytes"])
            evaluators = [Evaluator.allocate(arena, _threads(plan)) for _ in plan.placement.processes]
            layouts.append(SharedLayout(made.layout, evaluators))
        return layouts

    def member(self, task: TaskSpec) -> MemberState | None:
        """The group of a task; None if it has no transactions."""
        if task.id not in self._numbers:
            return None
        index, number = self._numbers[task.id]
        self._use_evaluator(index, self._processes[task.id])
        return MemberState(self._groups[index], number, 1 + self._processes[task.id], number == _KEEPER)

    def kept_by(self, task: TaskSpec) -> Sequence[Table]:
        """The tables that a task saves for checkpoints; none for most."""
        index, number = self._numbers.get(task.id, (0, -1))
        return self._groups[index].tables if number == _KEEPER else ()

    def _use_evaluator(self, index: int, process: int) -> None:
        """Have this process evaluate a group as planned; the threads of all its tasks come by here."""
        evaluation = self._plan.evaluation
        assert evaluation is not None, "there are tables"
        with self._lock:
            if index in self._in_use:
                return
            group, region = self._groups[index], self._layouts[index].evaluators[process]
            what = evaluation.evaluator, evaluation.threads
            group.use(Evaluator(group.arena, group.layout.offset, region, *what))
            self._in_use.add(index)

    def end_threads(self) -> None:
        """End all threads of this process that evaluate transactions."""
        for group in self._groups:
            group.end_threads()

    # -- for the process that leads the run

    def begin(self, images: Mapping[str, memoryview]) -> None:
        """Enter the first rows of all tables, before any task has begun.

        Args:
            images: what a checkpoint has, of those tables that it knows; the others have rows of their own.

        Raises:
            ConfigError: a table's rows cannot be had, or do not fit.
        """
        for table, memory in self._tables():
            try:
                if table.table_name in images:
                    restore(table, memory, images[table.table_name])
                elif table.load is not None:
                    memory.load(_rows_to_load(table))
            except (OSError, ValueError, TypeError, OverflowError, StateFullError, LoadError) as error:
                what = table.load if isinstance(table.load, str | os.PathLike) else "its function"
                what = "the checkpoint" if table.table_name in images else what
                raise ConfigError(
                    f"the first rows of the shared table {table.table_name} cannot be loaded from {what}: "
                    f"{error}"
                ) from error

    def save(self) -> None:
        """Write the tables to their files, if they have some, at the end of the run.

        Raises:
            StateError: a file cannot be written.
        """
        for table, memory in self._tables():
            try:
                if table.save is not None:
                    _write(table, memory, Path(table.save))
            except (OSError, ValueError) as error:
                raise StateError(f"the shared table {table.table_name} cannot be saved: {error}") from error

    def rows(self) -> Mapping[str, tuple[tuple[Any, ...], ...]]:
        """All rows of all tables, sorted by key, by the tables' names; where nobody evaluates."""
        return {table.table_name: tuple(memory.rows()) for table, memory in self._tables()}

    def statistics(self) -> Sequence[TransactionStatistics]:
        """Return the number of transactions of each group, and the tasks that hold it back; from any
        process."""
        return [
            self._statistics_of(group, memory, layout.evaluators)
            for group, memory, layout in zip(
                self._plan.table_groups, self._groups, self._layouts, strict=True
            )
        ]

    def _statistics_of(
        self, group: TableGroup, memory: Group, regions: Sequence[int]
    ) -> TransactionStatistics:
        counts, holding = memory.counts(), self._plan.transactional(group)[memory.holding()]
        return TransactionStatistics(
            tables={table.table_name: memory.table(table.table_name).entered() for table in group.tables},
            members=group.members,
            transactions=counts.transactions,
            aborted=counts.aborted,
            evaluations=counts.evaluations,
            late=counts.late,
            held_by=f"{holding.component}:{holding.id}",
            evaluators=_chosen_evaluation(self._plan.evaluation, memory, regions),
        )

    def bury(self, process: int) -> None:
        """Take back what a dead worker process had begun to evaluate.

        Args:
            process: its index in the plan's placement.
        """
        for group in self._groups:
            group.bury(1 + process)

    def _tables(self) -> Iterator[tuple[SharedTable, Table]]:
        for group, memory in zip(self._plan.table_groups, self._groups, strict=True):
            for table in group.tables:
                yield table, memory.table(table.table_name)


def _threads(plan: Plan) -> int:
    return 1 if plan.evaluation is None else plan.evaluation.threads


def _rows_to_load(table: SharedTable) -> Iterator[Sequence[Any]]:
    load = table.load
    if isinstance(load, str) and ":" in load and not Path(load).exists():
        load = import_class(load.replace(":", "."))
    if callable(load):
        yield from load()
        return
    assert load is not None
    expected = len(keys_of(table)) + len(table.column_kinds)
    told = f"expected {expected}: {', '.join(_columns(table))}"
    with closing(_lines(os.fspath(load))) as lines:
        _, header = next(lines, (1, []))
        if len(header) != expected:
            raise SourceError(f"its header has {len(header)} columns, {told}")
        for number, line in lines:
            if len(line) != expected:
                raise SourceError(f"line {number} has {len(line)} values, {told}")
            keys = len(table.key_kinds)
            try:
                key = tuple(map(_read, table.key_kinds, line[:keys]))
                values = list(map(_read, table.column_kinds.values(), line[keys:]))
            except ValueError as error:
                raise SourceError(f"line {number}: {error}") from error
            yield [key[0] if table.is_single_key else key, *values]


def _lines(path: str) -> Generator[tuple[int, list[str]]]:
    """The records of a file, each with the number of its line, however long its values are.

    Raises:
        SourceError: the file cannot be read, or has a record that is none.
    """
    file = SourceFile.at(path)
    with reading(file, "text", "utf-8"), opened_text(file, "utf-8", newline="") as text:
        for batch in records_of(text, CsvForm(",", '"', sys.maxsize), _AT_ONCE):
            for index, record in enumerate(batch.records):
                yield batch.raw(index)[0], record
            if batch.problem is not None:
                raise SourceError(f"line {batch.raw(len(batch.records))[0]}: {batch.problem}")


def _read(kind: str, text: str) -> Any:
    if kind == "set":
        return [int(part) if part.lstrip("-").isdigit() else part for part in text.split(_SEPARATOR) if part]
    return text if kind == "text" else float(text) if kind == "float64" else int(text)


def _write(table: SharedTable, memory: Table, path: Path) -> None:
    rows = (
        [*([key] if table.is_single_key else key), *map(_written, values)] for key, *values in memory.rows()
    )
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(records_text([_columns(table)]))
        while some := list(islice(rows, _AT_ONCE)):
            file.write(records_text(some))


def _written(value: Any) -> Any:
    return _SEPARATOR.join(map(str, value)) if isinstance(value, tuple) else value


def _columns(table: SharedTable) -> list[str]:
    return [*keys_of(table), *table.column_kinds]


def keys_of(table: SharedTable) -> list[str]:
    """The names of a key's values, as files have them."""
    return ["key"] if table.is_single_key else [f"key{n}" for n in range(1, len(table.key_kinds) + 1)]


def _chosen_evaluation(
    planned: Evaluation | None, group: Group, regions: Sequence[int]
) -> EvaluatorStatistics:
    """The evaluations of all processes together; times are of the one that has had most of them.

    Args:
        planned: what the run's transactions are evaluated by.
        group: their tables.
        regions: the memory in which each process reports its choice.
    """
    assert planned is not None, "there are tables"
    found = [chosen(group.arena, group.layout.offset, region) for region in regions]
    most = max(found, key=lambda one: one.serial + one.parallel)
    return EvaluatorStatistics(
        evaluator=planned.evaluator,
        threads=planned.threads,
        serial=sum(one.serial for one in found),
        parallel=sum(one.parallel for one in found),
        serial_ns=most.serial_ns,
        parallel_ns=most.parallel_ns,
        why=_why(planned, most),
    )


def _why(planned: Evaluation, found: Chosen) -> str:
    """The reason in one sentence; that of the plan where nothing is left to choose."""
    took = "" if found.serial_ns is None else f"an instruction takes one thread {found.serial_ns:.1f} ns"
    if found.reason is Reason.UNKNOWN:
        return "too little was evaluated to tell whether threads gain time"
    if found.reason is Reason.CHEAP:
        return f"{took}, which is less than what threads would add"
    if found.reason is Reason.TRIED:
        return "threads were tried, and gained too little"
    if found.reason is Reason.PAYS:
        return f"{took}, and several less"
    if found.reason is Reason.NO_THREADS:
        return "no memory or no threads could be had for more than one"
    return planned.why
