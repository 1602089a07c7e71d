"""A group of tables with its tasks, for tests: tuples are fed, evaluated and called back in any rhythm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.viper.records import Record
from viper.arena import Arena
from viper.position import END, Position, Positions
from viper.rows import Inbox
from viper.transactions.group import Group, LogSpec, Outcome
from viper.transactions.recorder import Recorder, Result
from viper.transactions.specs import TableSpec
from viper.transactions.tables import Table

HEAD = ("source", "default", 1, None)
HOLDER = 1

Process = Callable[[Recorder, Any], None]


@dataclass
class Fed:
    """A tuple, and what came back for it."""

    position: Position
    values: tuple[Any, ...]
    results: list[Result] = field(default_factory=list)


class Member:
    """A task of the group."""

    def __init__(self, group: Group, number: int, process: Process, tuples: Sequence[Fed]) -> None:
        self.group = group
        self.number = number
        self.process = process
        self.tuples = list(tuples)
        self.begin(0)

    def begin(self, first: int) -> None:
        """Begin, or begin again as a successor, at a tuple."""
        self.inbox = Inbox(Record, None, 1000)
        self.recorder = Recorder(self.inbox, self.group, self.number)
        self.fed = self.called = self.released = first

    def feed(self, count: int) -> None:
        """Process so many more tuples, and tell of them."""
        batch = self.tuples[self.fed : self.fed + count]
        positions = Positions()
        for one in batch:
            positions.append(one.position)
        self.recorder.start()
        for tup in self.inbox.load([([one.values for one in batch], 0, len(batch), HEAD)]):
            self.process(self.recorder, tup)
        self.recorder.place(positions, 0)
        self.fed += len(batch)
        self.tell()

    def tell(self) -> bool:
        told = self.recorder.publish()
        self.recorder.collected(self.tuples[self.fed].position if self.fed < len(self.tuples) else END)
        return told

    def call_back(self, most: int = 1 << 30) -> int:
        """Take the results of so many tuples at most, and release all that is called back."""
        count = min(most, self.recorder.evaluated_inputs())
        for _ in range(count):
            self.tuples[self.called].results = list(self.recorder.take_results())
            self.called += 1
        return count

    def release(self) -> None:
        self.recorder.release()
        self.released = self.called

    @property
    def is_done(self) -> bool:
        return self.called == len(self.tuples)


class World:
    """Tables in a private arena, and whoever uses them."""

    def __init__(
        self, specs: Sequence[TableSpec], logs: Sequence[LogSpec] = (LogSpec(0, 0),), log_bytes: int = 1 << 16
    ) -> None:
        self.arena = Arena.private(Group.size(specs, len(logs), log_bytes) + (1 << 16))
        self.tables = [Table.create(self.arena, spec) for spec in specs]
        self.group = Group.create(self.arena, self.tables, logs, log_bytes)
        self.members: list[Member] = []

    def add(self, process: Process, tuples: Sequence[Fed]) -> Member:
        member = Member(self.group, len(self.members), process, tuples)
        self.members.append(member)
        return member

    def evaluate(self, by: Member | None = None) -> None:
        """Evaluate all that can be, with the functions that run alone."""
        for _ in range(10_000):
            me = by.number if by is not None and by.recorder.may_run_alone else None
            if not self.group.is_due(me):
                return
            outcome, who = self.group.evaluate(HOLDER, me)
            if outcome is Outcome.WAITS_ALONE and who == me and by is not None:
                by.recorder.run_alone()
        raise AssertionError("evaluation never ends")

    def settle(self, at_once: int = 1 << 30) -> None:
        """Feed, evaluate and call back until all is done.

        Args:
            at_once: how many tuples a member is given before those before them are called back, as tasks are.
        """
        for _ in range(1000):
            for member in self.members:
                left = len(member.tuples) - member.fed
                if left and member.fed == member.called:
                    member.feed(min(left, at_once))
                member.tell()
            for member in self.members:
                self.evaluate(member)
            for member in self.members:
                member.call_back()
                member.release()
            if all(member.is_done for member in self.members):
                return
        stuck = [(member.fed, member.called, member.recorder.in_flight) for member in self.members]
        raise AssertionError(f"fed, called back, in flight: {stuck}")


def one_task(
    specs: Sequence[TableSpec], process: Process, rows: Sequence[tuple[Any, ...]], log_bytes: int = 1 << 16
) -> World:
    """A world whose one task has these tuples, a position apart from each other."""
    world = World(specs, log_bytes=log_bytes)
    world.add(process, [Fed(Position(index, 0, 0), row) for index, row in enumerate(rows)])
    return world


def results_of(
    specs: Sequence[TableSpec], process: Process, rows: Sequence[tuple[Any, ...]] = ((),)
) -> list[Result]:
    """List the results of the transactions of these tuples."""
    world = one_task(specs, process, rows)
    world.settle()
    return [result for one in world.members[0].tuples for result in one.results]
