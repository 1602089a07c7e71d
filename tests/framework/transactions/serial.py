"""The right outcome of a drawn topology: one event after the other, in plain Python.

A position is (time, a mark for each depth), and a mark is (index of the component at that depth, index of the
output), with nothing where a tuple went past a depth. Members that see a tuple at one position come in their
order of definition. Nothing of the runtime has a part in it.
"""

from __future__ import annotations

from typing import Any

from tests.framework.transactions.random_topologies import FIRST_ROWS, Call, Event, Shape, copies, told
from tests.viper.transactions.programs import SPECS
from tests.viper.transactions.reference import Program, Reference

Position = tuple[int, tuple[tuple[int, ...], ...]]
Placed = tuple[Position, tuple[int, Any]]
"""A position, and the values of a tuple."""


class Tables(Reference):
    """The tables of a group; reasons name them as the group does."""

    def __init__(self, group: int) -> None:
        super().__init__(SPECS)
        self._group = group
        for name, rows in FIRST_ROWS.items():
            for key, *values in rows:
                columns = self.specs[name].column_kinds
                made = [set(value) if isinstance(value, tuple) else value for value in values]
                self.rows[name][key] = dict(zip(columns, made, strict=True))

    def run(self, program: Program) -> tuple[list[Any], str | None]:
        values, aborted = super().run(program)
        is_missing = aborted is not None and aborted.startswith("no row ")
        return values, f"{aborted}{self._group}" if is_missing else aborted

    def do(self, call: Call) -> tuple[list[Any], str | None] | None:
        """Do a call, and return its result; None if it has none."""
        kind, what = call
        if kind == "failed":
            return None
        return self.alone(*what) if kind == "alone" else self.run(what)


class Serial:
    """A topology, once all of it has been done."""

    def __init__(self, shape: Shape, tables: type[Tables] = Tables) -> None:
        self._shape = shape
        self._names = shape.names()
        self._depths = self._depths_of_all()
        self.groups = tables(0), tables(1)
        self._emitted: dict[str, list[Placed]] = {name: [] for name in self._names}
        self._bring()
        self._copy("spout0", "front")
        self._transact()
        for number in range(len(shape.members)):
            self._copy(f"member{number}", f"behind{number}")

    def output(self) -> list[tuple[int, Any]]:
        """List the values that the sink gets."""
        ends = [
            f"behind{number}" if member.behind else f"member{number}"
            for number, member in enumerate(self._shape.members)
        ]
        return [values for _, values in sorted(placed for end in ends for placed in self._emitted[end])]

    def transactions(self) -> list[tuple[Position, int, int, Event]]:
        """The tuples of all members in their order: positions, places of definition, members."""
        found = [
            (position, self._names.index(f"member{number}"), number, values)
            for number, member in enumerate(self._shape.members)
            for source in member.reads
            for position, values in self._emitted[source]
        ]
        return sorted(found, key=lambda one: one[:2])

    def _depths_of_all(self) -> dict[str, int]:
        depths = {name: int(name == "front") for name in self._names}
        for number, member in enumerate(self._shape.members):
            depths[f"member{number}"] = 1 + max(depths[source] for source in member.reads)
            depths[f"behind{number}"] = 1 + depths[f"member{number}"]
        return depths

    def _below(self, position: Position, name: str, ordinal: int) -> Position:
        """Compute the position of a component's output that comes of a tuple at a position."""
        ts, path = position
        depth = self._depths[name]
        beside = [other for other in self._names if self._depths[other] == depth]
        return ts, (*path, *[()] * (depth - len(path)), (beside.index(name), ordinal))

    def _bring(self) -> None:
        for spout in range(len(self._shape.spouts)):
            name = f"spout{spout}"
            for time, event in enumerate(self._shape.events(spout), 1):
                self._emitted[name].append((self._below((time, ()), name, 1), event))

    def _copy(self, source: str, name: str) -> None:
        if name not in self._names:
            return
        for position, (number, what) in self._emitted[source]:
            for copy in range(copies(number)):
                below = self._below(position, name, copy + 1)
                self._emitted[name].append((below, (3 * number + copy, what)))

    def _transact(self) -> None:
        for position, _, number, (event, calls) in self.transactions():
            member, name = self._shape.members[number], f"member{number}"
            results = [result for result in map(self.groups[member.group].do, calls[number]) if result]
            texts = [told(echo, *result) for result in results for echo in range(member.echoes)]
            for ordinal, text in enumerate(texts, 1):
                self._emitted[name].append((self._below(position, name, ordinal), (event, text)))
