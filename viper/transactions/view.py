"""The tables of a group as a function sees them that runs alone, at its place in the order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from viper._backend import ffi, lib
from viper.errors import StateFullError
from viper.transactions.group import Group
from viper.transactions.specs import Abort, ColumnSpec, TableSpec
from viper.transactions.tables import Table


class View:
    """The tables that a function that runs alone reads and writes; all before it in the order is done."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._numbers = {table.spec.table_name: number for number, table in enumerate(group.tables)}
        self._is_open = True

    def close(self) -> None:
        """The function is over: whatever is asked from now on raises ValueError."""
        self._is_open = False

    # -- reading

    def read(self, column: ColumnSpec | TableSpec, key: Any, default: Any = None) -> Any:
        """The value of a column, of a set the sorted tuple of its elements; else the default.

        Raises:
            Abort: the row is not there, and there is no default.
        """
        named = self._column(column)
        is_read = default is None or self.exists(named.table, key)
        found = self._table(named.table).get(key) if is_read else None
        if found is not None:
            return found[named.column_name]
        if default is None:
            raise _missing(named.table, key)
        return default

    def get(self, table: TableSpec, key: Any) -> dict[str, Any] | None:
        """The values of a row by column; if it is not there its table's defaults, or None."""
        return self._table(table).get(key)

    def exists(self, table: TableSpec, key: Any) -> bool:
        """True if the row is there."""
        return self._table(table).present(key)

    def rows(self, table: TableSpec) -> Iterator[tuple[Any, ...]]:
        """All rows that are there, (key, *values), sorted by key."""
        return self._table(table).rows()

    # -- writing

    def put(self, table: TableSpec, key: Any, **values: Any) -> None:
        """The row is there, and has these values, or its defaults, or 0; a set is given by its elements.

        Raises:
            Abort: a value is an int beyond 64 bits.
        """
        shared = self._table(table)
        spec = shared.spec
        for name in values:
            spec[name]  # a KeyError that tells the nearest
        kinds = spec.column_kinds.items()
        sets = {name: tuple(values.get(name, ())) for name, kind in kinds if kind == "set"}
        start = shared.defaults() or dict.fromkeys(spec.column_kinds, 0)
        words = {name: 0 if name in sets else values.get(name, start[name]) for name in spec.column_kinds}
        packed = _packed(shared, tuple(words.values()))
        row = shared.enter(key)
        if sets and shared.native.get(row) is not None:
            self._write(shared, row, False, packed)  # its sets are empty then
        self._write(shared, row, True, packed)
        for name, elements in sets.items():
            for element in elements:
                self.insert(spec[name], key, element)

    def set(self, column: ColumnSpec | TableSpec, key: Any, value: Any) -> None:
        """The column is this from now on.

        Raises:
            Abort: the row is not there, in a table of several columns without defaults; or the value is an
                int beyond 64 bits.
        """
        named = self._column(column)
        shared = self._table(named.table)
        self._refuse_set(named)
        row = shared.enter(key)
        found = shared.native.get(row)
        if found is None:
            found = shared.spec.default_values
        if found is None:
            if len(shared.spec.column_kinds) > 1:
                raise _missing(shared.spec, key)
            found = (value,)
        values = (*found[: named.index], value, *found[named.index + 1 :])
        self._write(shared, row, True, _packed(shared, values))

    def delete(self, table: TableSpec, key: Any) -> None:
        """The row is not there any more."""
        shared = self._table(table)
        row = shared.find(key)
        if row is not None and shared.native.get(row) is not None:
            self._write(shared, row, False, bytes(8 * len(shared.spec.column_kinds)))

    # -- sets

    def has(self, column: ColumnSpec | TableSpec, key: Any, element: Any) -> bool:
        """True if a set has an element."""
        shared, row, index = self._set(column, key)
        return shared.native.enter_element(row, index, element, StateFullError)[1]

    def insert(self, column: ColumnSpec | TableSpec, key: Any, element: Any) -> bool:
        """Put an element into a set; whether it was new. Abort: there is no row, and no default."""
        shared, row, index = self._set(column, key)
        if shared.native.get(row) is None:
            if shared.spec.default_values is None:
                raise _missing(shared.spec, key)
            self._write(shared, row, True, shared.native.pack(shared.spec.default_values))
        number, is_in = shared.native.enter_element(row, index, element, StateFullError)
        if not is_in:
            self._write_element(shared, row, number, True)
            self._count(shared, row, index, 1)
        return not is_in

    def discard(self, column: ColumnSpec | TableSpec, key: Any, element: Any) -> bool:
        """Take an element out of a set; whether it was there."""
        shared, row, index = self._set(column, key)
        number, is_in = shared.native.enter_element(row, index, element, StateFullError)
        if is_in:
            self._write_element(shared, row, number, False)
            self._count(shared, row, index, -1)
        return is_in

    # -- within

    def _table(self, table: object) -> Table:
        if not self._is_open:
            raise ValueError("the function that this view was for is over")
        if not isinstance(table, TableSpec):
            raise TypeError(f"expected a table; found {table!r:.200}")
        return self._group.table(table.table_name)

    def _column(self, column: object) -> ColumnSpec:
        if isinstance(column, TableSpec) and len(column.column_kinds) == 1:
            return column[next(iter(column.column_kinds))]
        if not isinstance(column, ColumnSpec):
            raise TypeError(f"expected a column, or a table with one only; found {column!r:.200}")
        return column

    def _refuse_set(self, column: ColumnSpec) -> None:
        if column.kind == "set":
            name = f"{column.table.table_name}.{column.column_name}"
            raise TypeError(f"column {name} is a set: write view.insert({name}, key, element)")

    def _set(self, column: ColumnSpec | TableSpec, key: Any) -> tuple[Table, int, int]:
        named = self._column(column)
        if named.kind != "set":
            raise TypeError(f"column {named.table.table_name}.{named.column_name} is no set")
        shared = self._table(named.table)
        return shared, shared.enter(key), named.index

    def _write(self, table: Table, row: int, present: bool, words: bytes) -> None:
        self._write_words(self._numbers[table.spec.table_name], row, present, words)

    def _write_element(self, table: Table, row: int, element: int, present: bool) -> None:
        number = self._group.elements[self._numbers[table.spec.table_name]]
        generation = table.native.generation(row).to_bytes(8, "little")
        self._write_words(number, element, present, generation)

    def _count(self, table: Table, row: int, index: int, more: int) -> None:
        found = table.native.get(row)
        assert found is not None
        values = (*found[:index], found[index] + more, *found[index + 1 :])
        self._write(table, row, True, table.native.pack(values))

    def _write_words(self, number: int | None, row: int, present: bool, words: bytes) -> None:
        given = ffi.from_buffer("int64_t[]", words)
        if lib.vp_txgroup_alone_write(self._group.native, number, row, present, given):
            raise MemoryError("the function changes more than there is room to undo")


def _packed(table: Table, values: tuple[Any, ...]) -> bytes:
    """The words of a row; Abort: an int does not fit, as in a transaction that is not alone."""
    try:
        return table.native.pack(values)
    except OverflowError:
        raise Abort("overflow") from None


def _missing(table: TableSpec, key: object) -> Abort:
    """As of a transaction that is not alone."""
    return Abort(f"no row {key!r} in {table.table_name}")
