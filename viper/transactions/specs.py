"""The specification of a shared table: its key, its columns, and the number of rows that it has room for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

KEY_KINDS: Final = ("int64", "text")
"""The kinds of a key, or of a part of it."""
COLUMN_KINDS: Final = ("int64", "float64", "set")
"""The kinds of a column; the elements of a set are ints of 64 bits and texts."""
MOST_COLUMNS: Final = 64
MOST_KEY_PARTS: Final = 16
MOST_ROWS: Final = 2**31

Number = int | float
Key = str | tuple[str, ...]


class Abort(Exception):
    """Raised by a function that runs alone: it leaves no trace, and its text is the reason."""


class ColumnSpec:
    """A column of a table."""

    __slots__ = ("column_name", "index", "kind", "table")

    def __init__(self, table: TableSpec, column_name: str, kind: str, index: int) -> None:
        self.table = table
        """The table that it is of."""
        self.column_name = column_name
        """Its name."""
        self.kind = kind
        """One of COLUMN_KINDS."""
        self.index = index
        """Its index among the columns."""

    def __repr__(self) -> str:
        return f"<column {self.table.table_name}.{self.column_name}: {self.kind}>"


class TableSpec:
    """The specification of a table, for all who use it; equal to another of the same name, shape and room.

    A column is an attribute, or an item where its name is that of something else: `accounts.balance`,
    `accounts["balance"]`.
    """

    def __init__(
        self,
        name: str,
        key: Key,
        columns: Mapping[str, str],
        rows: int,
        elements: int = 0,
        default: Mapping[str, Number] | None = None,
        text_bytes: int = 48,
    ) -> None:
        """Check and keep the description of a table.

        Args:
            name: by which it is known among the tables of a topology.
            key: "int64", "text", or a tuple of these for keys that are tuples.
            columns: by name, "int64", "float64" or "set".
            rows: the most keys that are ever named, whether their rows are there or not.
            elements: likewise, for all sets of the table together.
            default: what a row is worth that is not there, zeros where nothing is given; None: there is no
                such row, and a transaction that reads it is aborted.
            text_bytes: how many bytes there is room for in a text of a key or an element, on average.

        Raises:
            TypeError: a name or a number is none.
            ValueError: a kind is none, there are too few or too many, or a default has no column.
        """
        self.table_name = _checked_name("table", name)
        self.is_single_key = isinstance(key, str)
        """True if a key is a value, and not a tuple of them."""
        self.key_kinds: tuple[str, ...] = _checked_key(name, key)
        self.column_kinds: dict[str, str] = _checked_columns(name, columns)
        self.most_rows = _checked_count(name, "rows", rows, 1)
        self.most_elements = _checked_count(name, "elements", elements, 0)
        self.text_bytes = _checked_count(name, "text_bytes", text_bytes, 1)
        self.default_values = _checked_default(name, self.column_kinds, default)
        """One for each column; None: the table has no defaults."""
        if self.has_sets and not elements:
            raise ValueError(
                f"table {name} has a set, and no room for its elements: give the most of all sets together, "
                "such as elements=100_000"
            )
        taken = set(dir(type(self))) | set(self.__dict__)
        self._columns = {
            column: ColumnSpec(self, column, kind, index)
            for index, (column, kind) in enumerate(self.column_kinds.items())
        }
        self.__dict__.update((column, spec) for column, spec in self._columns.items() if column not in taken)

    @property
    def has_sets(self) -> bool:
        """True if a column is one."""
        return "set" in self.column_kinds.values()

    def __getitem__(self, column: str) -> ColumnSpec:
        """The column of a name; KeyError if there is none."""
        if column not in self._columns:
            raise KeyError(_no_column(self.table_name, column, self.column_kinds))
        return self._columns[column]

    def __getattr__(self, column: str) -> Any:
        # Columns are in the instance's dict: whatever comes here is none.
        known = self.__dict__.get("column_kinds")
        if known is None or column.startswith("__"):
            raise AttributeError(column)
        raise AttributeError(_no_column(self.table_name, column, known))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableSpec) and self._shape() == other._shape()

    def __hash__(self) -> int:
        return hash(self.table_name)

    def _shape(self) -> tuple[object, ...]:
        columns = tuple(self.column_kinds.items())
        room = (self.most_rows, self.most_elements, self.text_bytes)
        return (self.table_name, self.is_single_key, self.key_kinds, columns, room, self.default_values)

    def __repr__(self) -> str:
        return f"<table {self.table_name}>"


def _no_column(table: str, column: object, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(str(column), names, 1)
    return f"table {table} has no column {column!r}" + (
        f"; did you mean {near[0]!r}?" if near else f": it has {', '.join(names)}"
    )


def _checked_name(what: str, name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a {what} is a text; found {name!r}")
    if not name:
        raise ValueError(f"the name of a {what} is empty")
    return name


def _checked_kind(where: str, kind: object, kinds: tuple[str, ...]) -> str:
    if kind not in kinds:
        near = difflib.get_close_matches(str(kind), kinds, 1, 0.4)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{where} is of kind {kind!r}: expected one of {', '.join(kinds)}{hint}")
    return str(kind)


def _checked_key(table: str, key: object) -> tuple[str, ...]:
    parts = key if isinstance(key, tuple) else (key,)
    if not 1 <= len(parts) <= MOST_KEY_PARTS:
        raise ValueError(f"the key of table {table} has {len(parts)} parts: expected 1 to {MOST_KEY_PARTS}")
    return tuple(_checked_kind(f"the key of table {table}", part, KEY_KINDS) for part in parts)


def _checked_columns(table: str, columns: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns of table {table} are given as {{name: kind}}; found {columns!r}")
    if not 1 <= len(columns) <= MOST_COLUMNS:
        raise ValueError(f"table {table} has {len(columns)} columns: expected 1 to {MOST_COLUMNS}")
    return {
        _checked_name("column", name): _checked_kind(f"column {table}.{name}", kind, COLUMN_KINDS)
        for name, kind in columns.items()
    }


def _checked_count(table: str, what: str, count: object, least: int) -> int:
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"{what} of table {table}: expected an int; found {count!r}")
    if not least <= count <= MOST_ROWS:
        raise ValueError(f"{what}={count} of table {table}: expected {least} to {MOST_ROWS}")
    return count


def _checked_default(
    table: str, columns: dict[str, str], default: Mapping[str, Number] | None
) -> tuple[Number, ...] | None:
    if default is None:
        return None
    if not isinstance(default, Mapping):
        raise TypeError(f"the default of table {table} is given as {{column: number}}; found {default!r}")
    for column in default:
        if column not in columns:
            raise ValueError(_no_column(table, column, columns))
        if columns[column] == "set":
            raise ValueError(f"column {table}.{column} is a set, which is empty by default: leave it out")
    return tuple(
        _checked_number(f"{table}.{name}", kind, default.get(name, 0)) for name, kind in columns.items()
    )


def _checked_number(column: str, kind: str, number: object) -> Number:
    is_fit = isinstance(number, int | float if kind == "float64" else int) and not isinstance(number, bool)
    if not is_fit or not isinstance(number, int | float):
        raise TypeError(f"the default of column {column}, {number!r}, is no {kind}")
    if kind == "float64":
        return float(number)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"the default of column {column}, {number}, does not fit into 64 bits")
    return number
