"""What sinks that write into a table of a database have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from framework.errors import SinkError
from framework.sinks.columns import Chosen
from framework.sinks.sink import Row
from framework.sinks.transactional import TransactionalSink
from framework.topology import unknown

NUMBERS = "viperstorm_applied"
"""The table of the numbers under which rows were applied last, one for each task of each sink."""
ROWS_AT_ONCE = 10_000
"""Rows that are given to the database with one call."""


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
        """Connect, and see that the table has these columns.

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
        """Rows go to the columns that they were taken for."""
        self._names, self._names_of_key = list(layout["columns"]), list(layout["key"])

    def _part(self, index: int, name: tuple[str, str] | None = None) -> str:
        """One database may hold the numbers of several tables, which one sink has written in turn."""
        return f"{self._table} of {super()._part(index, name)}"

    def connect(self) -> None:
        """Connect, and see that the table is as it must be."""
        raise NotImplementedError(f"{type(self).__name__} must define connect(self)")

    def encode(self, rows: Sequence[Row]) -> bytes:
        """The columns of rows."""
        return super().encode(self._chosen.of(rows))

    def _chunks(self, rows: Iterator[Row]) -> Iterator[Sequence[Row]]:
        """Rows in the portions that the database gets; of those with one key, the last of a portion."""
        indices = [self._names.index(name) for name in self._names_of_key]
        while chunk := list(islice(rows, ROWS_AT_ONCE)):
            yield _last_of_each(chunk, indices) if indices else chunk

    def _check_columns(self, found: Iterable[str]) -> None:
        """See that the table has the columns that are written.

        Raises:
            SinkError: one is missing.
        """
        names = list(found)
        for name in self._chosen.names:
            if name not in names:
                raise SinkError(
                    f"table {self._table!r}: {unknown('column', name, names)}; choose the fields that it has "
                    "(columns=[...]), or add the column"
                )


def _last_of_each(rows: Sequence[Row], indices: Sequence[int]) -> Sequence[Row]:
    """The last row with each key, where the first one with it stood."""
    return list({tuple(row[index] for index in indices): row for row in rows}.values())
