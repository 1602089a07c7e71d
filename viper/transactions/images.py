"""A shared table as bytes, as a checkpoint holds it: a line of JSON for each row and each element of a set.

    [7, 100, 2]                                     a row: its key, its values, of sets how many elements
    {"key": 7, "column": "seen", "element": "a"}    an element; those of all rows come after all rows

Rows come in the order in which they were entered, so that nobody has to sort a million of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from viper.transactions.specs import TableSpec
from viper.transactions.tables import Table

AT_ONCE: Final = 256
"""Rows that are made bytes at once: some 0.5 ms of work."""


def lines_of(table: Table) -> Iterator[bytes]:
    """A table that nobody changes meanwhile, as lines, some at a time."""
    entered = table.entered()
    for first in range(0, entered, AT_ONCE):
        yield _lines(table.entries(first, AT_ONCE))
    columns = list(table.spec.column_kinds)
    for first in range(0, table.entered_elements(), AT_ONCE):
        found = table.native.elements(first, AT_ONCE)
        yield _lines(
            {"key": table.native.key(row), "column": columns[column], "element": element}
            for row, column, element in found
        )


def rows_in(spec: TableSpec, content: bytes) -> Iterator[Sequence[Any]]:
    """The rows that lines hold, each (key, *values), with the elements of its sets.

    Args:
        spec: of the table now; those who fill it with the rows say what does not fit.
        content: the lines.
    """
    rows: list[list[Any]] = []
    elements: dict[tuple[Any, str], list[Any]] = {}
    for line in content.splitlines():
        found = json.loads(line)
        if isinstance(found, list):
            rows.append([_key(found[0]), *found[1:]])
        else:
            elements.setdefault((_key(found["key"]), found["column"]), []).append(found["element"])
    sets = [
        (1 + index, name) for index, (name, kind) in enumerate(spec.column_kinds.items()) if kind == "set"
    ]
    for row in rows:
        for index, name in sets:
            row[index : index + 1] = [elements.get((row[0], name), [])]
        yield row


def _lines(told: Iterable[Any]) -> bytes:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in told).encode()


def _key(told: Any) -> Any:
    return tuple(told) if isinstance(told, list) else told
