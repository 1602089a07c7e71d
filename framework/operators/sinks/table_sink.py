"""The base of sinks that write into a table of a database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from framework.model.errors import SinkError
from framework.model.topology import unknown
from framework.model.topology.problems import did_you_mean
from framework.operators.sinks.columns import Chosen
from framework.operators.sinks.sink import Row
from framework.operators.sinks.transactional import TransactionalSink

NUMBERS = "viperstorm_applied"
"""The table of the numbers under which rows were applied last, one for each task of each sink."""
ROWS_AT_ONCE = 10_000
"""Rows that are given to the database with one call."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table that is there."""

    name: str
    needs_value: bool = False
    """True if a row without a value of it is refused."""
    is_computed: bool = False
    """True if the table computes it, so that a row with a value of it is refused."""


class TableSink(TransactionalSink):
    """Adds rows to a table, or with a `key` puts each in the place of the one with the same key.

    The rows of a transaction and its number, in a table `viperstorm_applied`, are committed together.

    Args:
        table: its name.
        columns: the fields that are written, in this order; None: all. The table's columns have these names.
        key: fields whose values make a row known again; None: every row is added.
        staging: as of `TransactionalSink`.

    Raises:
        SinkError: a key that is no column.
    """

    def __init__(
        self,
        table: str,
        columns: Sequence[str] | None,
        key: str | Sequence[str] | None,
        staging: str | None,
    ) -> None:
        super().__init__(staging)
        self._table = table
        self._columns = columns
        self._key = [key] if isinstance(key, str) else list(key or ())
        self._names: list[str] = []
        """The columns of the rows that are applied, which another run may have taken."""
        self._names_of_key: list[str] = []
        for name in self._key:
            if columns is not None and name not in columns:
                raise SinkError(f"key: {unknown('column', name, columns)}")

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Connect, and check that the table has these columns.

        Raises:
            SinkError: it has not, or there is no connection.
        """
        super().initialize(storm_conf, context)
        self.apply_as(self.layout)
        try:
            self._patiently(self.connect)
        except BaseException:
            self.close()
            raise

    def choose(self, context: Mapping[str, Any]) -> None:
        """As in the base class; a key that is no column is refused as well."""
        self._chosen = Chosen(context, self._columns)
        for name in self._key:
            if name not in self._chosen.names:
                raise SinkError(f"key: {unknown('column', name, self._chosen.names)}")

    @property
    def layout(self) -> Mapping[str, Any]:
        """As in the base class."""
        return {"columns": list(self._chosen.names), "key": list(self._key)}

    def takes_up(self, layout: Mapping[str, Any]) -> bool:
        """The order of columns does not matter: each value goes to the column of its name."""
        ours = self.layout
        return all(sorted(ours[name]) == sorted(layout.get(name, ())) for name in ours)

    def apply_as(self, layout: Mapping[str, Any]) -> None:
        """Prepare to write rows to the columns that they were taken for."""
        self._names, self._names_of_key = list(layout["columns"]), list(layout["key"])

    def _part(self, index: int, name: tuple[str, str] | None = None) -> str:
        """One database may hold the numbers of several tables, which one sink has written in turn."""
        return f"{self._table} of {super()._part(index, name)}"

    def connect(self) -> None:
        """Connect, and check that the table is as it must be."""
        raise NotImplementedError(f"{type(self).__name__} must define connect(self)")

    def encode(self, rows: Sequence[Row]) -> bytes:
        """The columns of rows."""
        return super().encode(self._chosen.of(rows))

    def _chunks(self, rows: Iterator[Row]) -> Iterator[Sequence[Row]]:
        """Rows in the portions that the database gets; of those with one key, the last of a portion.

        Raises:
            SinkError: they were staged for a column that the table has no more.
        """
        lost = [name for name in self._names if name.lower() not in self._there]
        if lost:
            raise SinkError(
                f"table {self._table!r} has no {_columns(lost)}, which rows were staged for: add what is "
                f"missing ({self._additions(lost)}), and run again"
            )
        indices = [self._names.index(name) for name in self._names_of_key]
        while chunk := list(islice(rows, ROWS_AT_ONCE)):
            yield _last_of_each(chunk, indices) if indices else chunk

    def _check_columns(self, found: Iterable[Column]) -> None:
        """See that the table takes the columns that are written, and no others have to be.

        Args:
            found: all columns of the table.

        Raises:
            SinkError: one is missing, or is computed, or another one needs a value.
        """
        columns = {column.name: column for column in found}
        self._there = {name.lower() for name in columns}
        names = self._chosen.names
        missing = [name for name in names if name not in columns]
        if missing:
            by_lower = {name.lower(): name for name in columns}
            near = "".join(
                f"; for {name!r} name the field {by_lower[name.lower()]!r}"
                if name.lower() in by_lower
                else did_you_mean(name, columns)
                for name in missing
            )
            statements = self._additions([name for name in missing if name.lower() not in by_lower])
            how = f"add what is missing ({statements})" if statements else "write them as the table does"
            raise SinkError(
                f"table {self._table!r} has no {_columns(missing)}, only {_listed(columns)}{near}: "
                f"{how}{f', or {without}' if (without := self._without(missing)) else ''}"
            )
        computed = [name for name in names if columns[name].is_computed]
        if computed:
            raise SinkError(
                f"table {self._table!r} computes its {_columns(computed)} itself: "
                f"{self._without(computed) or 'name the field otherwise'}"
            )
        wanted = [name for name, column in columns.items() if column.needs_value and name not in names]
        if wanted:
            raise SinkError(
                f"table {self._table!r} wants a value of its {_columns(wanted)} (NOT NULL, without a "
                f"DEFAULT), and the sink writes {_listed(names)} alone: emit a field of that name"
                f"{self._relax(wanted)}"
            )

    _type = ""
    """The type in the definition of a new column, after its name."""
    _there: Collection[str] = ()
    """The columns that the table has, in lower case."""

    def _additions(self, names: Sequence[str]) -> str:
        """The statements that add columns to the table."""
        add = f"ALTER TABLE {self._written} ADD COLUMN"
        return "; ".join(f"{add} {self.quoted(name)}{self._type}" for name in names)

    @property
    def _no_key(self) -> str:
        """A table without the key, in words, with the statement that makes it one."""
        index = f"{self._table.rpartition('.')[2]}_{'_'.join(self._key)}"
        listed = ", ".join(map(self.quoted, self._key))
        return (
            f"table {self._table!r} has no primary key or unique index on ({', '.join(self._key)}): make one "
            f"(CREATE UNIQUE INDEX {self.quoted(index)} ON {self._written} ({listed})), or leave out key"
        )

    @property
    def _written(self) -> str:
        """The table's name in a statement."""
        return self.quoted(self._table)

    def quoted(self, name: str) -> str:
        """A name as the database writes it."""
        raise NotImplementedError

    def _relax(self, names: Sequence[str]) -> str:
        """Say in words, after a comma, how columns may do without a value; empty if they cannot."""
        raise NotImplementedError

    def _without(self, names: Sequence[str]) -> str:
        """The option by which some columns are left out, in words; empty if that cannot be."""
        others = [name for name in self._chosen.names if name not in names]
        can_be = others and not {*self._key} & {*names}
        return f"leave out the field: columns={others!r}" if can_be else ""


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' * (len(names) > 1)} {_listed(names)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _last_of_each(rows: Sequence[Row], indices: Sequence[int]) -> Sequence[Row]:
    """The last row with each key, at the place of the first one with it."""
    return list({tuple(row[index] for index in indices): row for row in rows}.values())
