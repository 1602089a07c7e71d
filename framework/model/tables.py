"""Shared tables: rows that the transactions of several bolts, and of all their tasks, read and write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.model.errors import StateError
from viper.transactions.specs import Abort as Abort
from viper.transactions.specs import TableSpec

Rows = Iterable[Sequence[Any]]
"""Rows of a table: each its key, then the values of its columns in their order."""
Load = Callable[[], Rows] | str | os.PathLike[str]


class SharedTable(TableSpec):
    """A table that the transactions of bolts read and write; bolts name it in their attribute `tables`.

    A column is named by attribute (``accounts.balance``) or by item (``accounts["balance"]``). A table with
    one column stands for it.

    Args:
        name: by which bolts mean the same table, reports show it, and checkpoints know it again.
        columns: by name ``"int64"``, ``"float64"`` or ``"set"``. The elements of a set are integers or texts,
            and their number is what is read of it.
        key: ``"int64"`` or ``"text"``; or several of these, for keys that are tuples.
        rows: the most keys that are ever named, whether their rows are there or not. Memory is taken by those
            that are.
        elements: likewise the most elements that the sets of all rows are ever given.
        default: what rows are read as that are not there, and begin with when they are written: values by
            column, 0 for those left out. Without it, a transaction that needs a row which is not there is
            aborted.
        load: where the first rows come from: a function, or the path of a CSV file with a header. A row has
            its key, then the values of the columns. In a file, a key of several values has a column for each,
            and the elements of a set are separated by spaces.
        save: the path of a CSV file to write the sorted rows to at the end of the run.

    Raises:
        StateError: what was given does not make a table.
    """

    __slots__ = ("load", "save")

    def __init__(
        self,
        name: str,
        *,
        columns: Mapping[str, str],
        key: str | tuple[str, ...] = "int64",
        rows: int,
        elements: int = 0,
        default: Mapping[str, float] | None = None,
        load: Load | None = None,
        save: str | os.PathLike[str] | None = None,
    ) -> None:
        try:
            super().__init__(name, key, columns, rows, elements, default)
        except (TypeError, ValueError) as error:
            raise StateError(str(error)) from error
        self.load = load
        """The source of the first rows; None for none."""
        self.save = save
        """The file that gets the last rows; None for none."""

    def with_options(self, options: Mapping[str, Any]) -> SharedTable:
        """The same with other room, or other first and last rows, as ``viper.tables`` has them.

        Args:
            options: any of rows, elements, load and save.

        Raises:
            StateError: that does not make a table.
        """
        if not options:
            return self
        make, (name, columns, key, rows, elements, default, load, save) = self.__reduce__()
        given = {"rows": rows, "elements": elements, "load": load, "save": save, **options}
        made: SharedTable = make(
            *(name, columns, key, given["rows"], given["elements"], default, given["load"], given["save"])
        )
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        key = self.key_kinds[0] if self.is_single_key else self.key_kinds
        default = None
        if self.default_values is not None:
            values = zip(self.column_kinds.items(), self.default_values, strict=True)
            default = {name: value for (name, kind), value in values if kind != "set"}
        columns, room = dict(self.column_kinds), (self.most_rows, self.most_elements)
        return _made, (self.table_name, columns, key, *room, default, self.load, self.save)


def _made(
    name: str, columns: Mapping[str, str], key: Any, rows: int, elements: int, *rest: Any
) -> SharedTable:
    """Make a table again from its pickled form."""
    default, load, save = rest
    return SharedTable(
        name, columns=columns, key=key, rows=rows, elements=elements, default=default, load=load, save=save
    )


def declared_tables(cls: type) -> tuple[SharedTable, ...]:
    """The shared tables that the class of a bolt names, in its order; none where `tables` is something else.

    Raises:
        StateError: it names something else beside them.
    """
    found = getattr(cls, "tables", ())
    if not isinstance(found, list | tuple) or not any(isinstance(table, SharedTable) for table in found):
        return ()
    for table in found:
        if not isinstance(table, SharedTable):
            raise StateError(f"{cls.__name__}.tables has {table!r}: expected shared tables only")
    return tuple({table.table_name: table for table in found}.values())


@dataclass(frozen=True, slots=True)
class TableGroup:
    """Shared tables, and the bolts whose transactions on them have one order."""

    tables: tuple[SharedTable, ...]
    """By name."""
    members: tuple[str, ...]
    """Ids of the bolts, in order of definition."""
