"""Transactions in plain Python: rows in dicts, one transaction after the other, and back by a copy.

It knows nothing of how they are recorded or evaluated. A program is a list of operations, each a tuple:

    ("read", table, column, key, default | None)      ("exists", table, key)       ("delete", table, key)
    ("set" | "add" | "subtract" | "min" | "max", table, column, key, expression)
    ("insert" | "discard" | "has", table, column, key, element)
    ("put" | "put_if_absent", table, key, {column: expression})
    ("require", expression, reason | None)

An expression is a number, a bool, ("value", n) for the n-th thing that was read, or an operator with its
operands.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from viper.transactions.specs import TableSpec

LEAST, MOST = -(2**63), 2**63 - 1

Rows = dict[str, dict[Any, dict[str, Any]]]
Operation = tuple[Any, ...]
Program = list[Operation]


class AbortedError(Exception):
    """The reason is its text."""


def place(element: Any) -> tuple[bool, Any]:
    """Numbers come before texts."""
    return isinstance(element, str), element


def shown(value: Any) -> Any:
    return tuple(sorted(value, key=place)) if isinstance(value, set) else value


def checked(number: Any) -> Any:
    if isinstance(number, int) and not LEAST <= number <= MOST:
        raise AbortedError("overflow")
    return number


def divided(left: Any, right: Any) -> Any:
    if right == 0:
        raise AbortedError("overflow")
    return left / right if isinstance(left, float) else checked(left // right)


BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: checked(a + b),
    "-": lambda a, b: checked(a - b),
    "*": lambda a, b: checked(a * b),
    "//": divided,
    "/": divided,
    "least": lambda a, b: b if b < a else a,
    "greatest": lambda a, b: b if b > a else a,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&": lambda a, b: bool(a and b),
    "|": lambda a, b: bool(a or b),
}


def value_of(expression: Any, values: list[Any]) -> Any:
    if not isinstance(expression, tuple):
        return expression
    if expression[0] == "value":
        return values[expression[1]]
    if expression[0] == "~":
        return not value_of(expression[1], values)
    if expression[0] == "float":
        return float(value_of(expression[1], values))
    if expression[0] == "neg":
        return checked(-value_of(expression[1], values))
    left, right = (value_of(operand, values) for operand in expression[1:])
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    return BINARY[expression[0]](left, right)


class Reference:
    """Tables of some specs, and transactions on them."""

    def __init__(self, specs: list[TableSpec]) -> None:
        self.specs = {spec.table_name: spec for spec in specs}
        self.rows: Rows = {spec.table_name: {} for spec in specs}

    def sorted_rows(self, table: str) -> list[tuple[Any, ...]]:
        return [(key, *map(shown, row.values())) for key, row in sorted(self.rows[table].items())]

    def run(self, program: Program) -> tuple[list[Any], str | None]:
        """Run a program; return the values that it read, and why it was aborted if it was."""
        before = copy.deepcopy(self.rows)
        values: list[Any] = []
        self.conditions = 0
        try:
            for operation in program:
                self._do(operation, values)
        except AbortedError as aborted:
            self.rows = before
            return [], str(aborted)
        return values, None

    def alone(self, table: str, column: str, key: Any, amount: int) -> tuple[list[Any], str | None]:
        """A function that adds to a column, and returns how many rows there are; beyond 1,000 it aborts."""
        row = self.rows[table].get(key) or self.fresh(table, None)
        if row is None:
            row = dict.fromkeys(self.specs[table].column_kinds, 0)
        if abs(row[column] + amount) > 1000:
            return [], "too much"
        self.rows[table][key] = {**row, column: row[column] + amount}
        return [len(self.rows[table])], None

    def fresh(self, table: str, single: str | None) -> dict[str, Any] | None:
        """A row that is not there, for who writes to it; `single`: the column, for one who sets it."""
        spec = self.specs[table]
        if spec.default_values is None and not (single and len(spec.column_kinds) == 1):
            return None
        return self.zeros(table)

    def zeros(self, table: str) -> dict[str, Any]:
        spec = self.specs[table]
        defaults = spec.default_values or [0] * len(spec.column_kinds)
        empty: dict[str, Callable[[Any], Any]] = {"set": lambda _: set(), "float64": float, "int64": int}
        kinds = spec.column_kinds.items()
        return {name: empty[kind](value) for (name, kind), value in zip(kinds, defaults, strict=True)}

    def row(self, table: str, key: Any, single: str | None = None) -> dict[str, Any]:
        found = self.rows[table].get(key)
        if found is None:
            found = self.fresh(table, single)
            if found is None:
                raise AbortedError(f"no row {key!r} in {table}")
            self.rows[table][key] = found
        return found

    def cast(self, table: str, column: str, value: Any) -> Any:
        return float(value) if self.specs[table].column_kinds[column] == "float64" else int(value)

    def _do(self, operation: Operation, values: list[Any]) -> None:
        name, *rest = operation
        getattr(self, f"do_{name}")(values, *rest)

    def do_read(self, values: list[Any], table: str, column: str, key: Any, default: Any) -> None:
        found = self.rows[table].get(key)
        if default is not None:  # it is computed in any case
            default = self.cast(table, column, value_of(default, values))
        if found is None and default is not None:
            values.append(default)
            return
        if found is None:
            found = self.fresh(table, None)
        if found is None:
            raise AbortedError(f"no row {key!r} in {table}")
        value = found[column]
        values.append(len(value) if isinstance(value, set) else value)

    def change(self, how: str, values: list[Any], table: str, column: str, key: Any, expression: Any) -> None:
        operand = self.cast(table, column, value_of(expression, values))
        row = self.row(table, key, column if how == "set" else None)
        now = row[column]
        changed = {
            "set": lambda: operand,
            "add": lambda: checked(now + operand),
            "subtract": lambda: checked(now - operand),
            "min": lambda: operand if operand < now else now,
            "max": lambda: operand if operand > now else now,
        }
        row[column] = changed[how]()

    def do_set(self, *rest: Any) -> None:
        self.change("set", *rest)

    def do_add(self, *rest: Any) -> None:
        self.change("add", *rest)

    def do_subtract(self, *rest: Any) -> None:
        self.change("subtract", *rest)

    def do_min(self, *rest: Any) -> None:
        self.change("min", *rest)

    def do_max(self, *rest: Any) -> None:
        self.change("max", *rest)

    def do_insert(self, values: list[Any], table: str, column: str, key: Any, element: Any) -> None:
        found = self.row(table, key)[column]
        values.append(int(element not in found))
        found.add(element)

    def seen(self, table: str, column: str, key: Any) -> set[Any]:
        if key not in self.rows[table] and self.specs[table].default_values is not None:
            return set()
        found: set[Any] = self.row(table, key)[column]
        return found

    def do_discard(self, values: list[Any], table: str, column: str, key: Any, element: Any) -> None:
        found = self.seen(table, column, key)
        values.append(int(element in found))
        found.discard(element)

    def do_has(self, values: list[Any], table: str, column: str, key: Any, element: Any) -> None:
        values.append(int(element in self.seen(table, column, key)))

    def do_put(self, values: list[Any], table: str, key: Any, given: Mapping[str, Any]) -> None:
        made = {name: self.cast(table, name, value_of(value, values)) for name, value in given.items()}
        self.rows[table][key] = {**self.zeros(table), **made}

    def do_put_if_absent(self, values: list[Any], table: str, key: Any, given: Mapping[str, Any]) -> None:
        made = {name: self.cast(table, name, value_of(value, values)) for name, value in given.items()}
        is_absent = key not in self.rows[table]
        if is_absent:
            self.rows[table][key] = {**self.zeros(table), **made}
        values.append(int(is_absent))

    def do_exists(self, values: list[Any], table: str, key: Any) -> None:
        values.append(int(key in self.rows[table]))

    def do_delete(self, values: list[Any], table: str, key: Any) -> None:
        self.rows[table].pop(key, None)

    def do_require(self, values: list[Any], expression: Any, reason: str | None) -> None:
        self.conditions += 1
        if not value_of(expression, values):
            raise AbortedError(reason or f"condition {self.conditions}")
