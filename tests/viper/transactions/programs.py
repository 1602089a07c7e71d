"""Programs drawn by Hypothesis, and how a bolt says them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from hypothesis import strategies as st

from tests.viper.transactions.reference import BINARY, Operation, Program
from viper.transactions.recorder import Abort, Transaction, View
from viper.transactions.specs import TableSpec

ACCOUNTS: Final = TableSpec("accounts", "int64", {"balance": "int64"}, rows=8)
PLACES: Final = TableSpec(
    "places",
    "text",
    {"n": "int64", "x": "float64", "cars": "set"},
    rows=8,
    elements=64,
    default={"n": 3, "x": 0.5},
)
PAIRS: Final = TableSpec(
    "pairs", ("int64", "text"), {"a": "int64", "s": "set", "r": "set"}, rows=8, elements=64
)
SPECS: Final = [ACCOUNTS, PLACES, PAIRS]

KEYS: Final[dict[str, list[Any]]] = {
    "accounts": [0, 1, -5, 2**63 - 1],
    "places": ["", "a", "a long name of a place", "Zürich \ud800"],
    "pairs": [(1, "a"), (1, "b"), (-(2**63), ""), (7, "something longer")],
}
COLUMNS: Final = {
    kind: [(spec, name) for spec in SPECS for name, k in spec.column_kinds.items() if k == kind]
    for kind in ("int64", "float64", "set")
}
ELEMENTS: Final[list[Any]] = [0, 1, "a", 2**62, -1, "a long element"]

ALONE: Final = [
    *(("accounts", "balance", key) for key in KEYS["accounts"]),
    *(("places", "n", key) for key in KEYS["places"]),
]
"""Places that functions add to which are alone."""

INTS = st.sampled_from([0, 1, -1, 2, 3, 7, 100, 2**62, 2**63 - 1, -(2**63)])
FLOATS = st.sampled_from([0.0, -0.0, 0.5, -1.5, 3.0, 1e308, 2.0**63])


class Drawn:
    """A program as it comes about: what was read so far, by kind."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw
        self.program: Program = []
        self.kinds: list[str] = []

    def values(self, *kinds: str) -> list[Any]:
        return [("value", number) for number, kind in enumerate(self.kinds) if kind in kinds]

    def one(self, choices: list[Any]) -> Any:
        return self.draw(st.sampled_from(choices))

    def ints(self, depth: int = 0) -> Any:
        """An expression; of constants only it is one constant, as Python would compute them itself."""
        known = self.values("int", "bool")
        if not known or depth > 1 or self.draw(st.booleans()):
            return self.one([*known, self.draw(INTS)])
        how = self.one(["+", "-", "*", "//", "least", "greatest", "neg"])
        if how == "neg":
            return (how, self.one(known))
        return self.pair(how, self.one(known), self.ints(depth + 1))

    def floats(self, depth: int = 0) -> Any:
        known = [*self.values("float"), *(("float", value) for value in self.values("int"))]
        if not known or depth > 1 or self.draw(st.booleans()):
            return self.one([*known, self.draw(FLOATS), self.draw(INTS)])
        how = self.one(["+", "-", "*", "/", "least", "greatest", "neg"])
        if how == "neg":
            return (how, self.one(known))
        return self.pair(how, self.one(known), self.floats(depth + 1))

    def condition(self, depth: int = 0) -> Any:
        known = self.values("bool")
        numbers = self.values("int", "float")
        if depth < 2 and (known or numbers) and self.draw(st.booleans()):
            how = self.one(["&", "|", "~"])
            inner = self.condition(depth + 1)
            if not isinstance(inner, bool):
                return ("~", inner) if how == "~" else self.pair(how, inner, self.condition(depth + 1))
        if numbers and self.draw(st.booleans()):
            how = self.one(["<", "<=", ">", ">=", "==", "!="])
            return self.pair(how, self.one(numbers), self.one([self.ints(1), self.floats(1)]))
        return self.one([*known, True, False]) if depth == 0 or known else self.draw(st.booleans())

    def pair(self, how: str, left: Any, right: Any) -> Any:
        return (how, left, right) if self.draw(st.booleans()) else (how, right, left)

    def operand(self, kind: str) -> Any:
        return self.ints() if kind == "int64" else self.floats()

    def key(self, spec: TableSpec) -> Any:
        keys = KEYS[spec.table_name]
        return self.one([*keys[:2] * 2, *keys])

    def add(self, operation: Operation, kind: str | None = None) -> None:
        self.program.append(operation)
        if kind:
            self.kinds.append(kind)

    # -- operations

    def read(self) -> None:
        spec, column = self.one([*COLUMNS["int64"] * 2, *COLUMNS["float64"], *COLUMNS["set"]])
        kind = spec.column_kinds[column]
        has_default = self.draw(st.booleans())
        default = self.operand("float64" if kind == "float64" else "int64") if has_default else None
        operation = ("read", spec.table_name, column, self.key(spec), default)
        self.add(operation, "float" if kind == "float64" else "int")

    def change(self) -> None:
        spec, column = self.one([*COLUMNS["int64"] * 2, *COLUMNS["float64"]])
        how = self.one(["set", "add", "subtract", "min", "max"])
        operand = self.operand(spec.column_kinds[column])
        self.add((how, spec.table_name, column, self.key(spec), operand))

    def element(self) -> None:
        spec, column = self.one(COLUMNS["set"])
        how = self.one(["insert", "insert", "discard", "has"])
        element = self.one([*ELEMENTS[:3] * 2, *ELEMENTS])
        self.add((how, spec.table_name, column, self.key(spec), element), "bool")

    def row(self) -> None:
        spec = self.one(SPECS)
        how = self.one(["exists", "put", "put_if_absent", "delete"])
        if how in ("exists", "delete"):
            self.add((how, spec.table_name, self.key(spec)), "bool" if how == "exists" else None)
            return
        given = {
            name: self.operand(kind)
            for name, kind in spec.column_kinds.items()
            if kind != "set" and self.draw(st.booleans())
        }
        self.add((how, spec.table_name, self.key(spec), given), "bool" if how == "put_if_absent" else None)

    def require(self) -> None:
        self.add(("require", self.condition(), self.one([None, "no", "because"])))


@st.composite
def programs(draw: Callable[..., Any], most: int = 6) -> Program:
    drawn = Drawn(draw)
    kinds = [drawn.read, drawn.read, drawn.change, drawn.change, drawn.element, drawn.row, drawn.require]
    for _ in range(draw(st.integers(0, most))):
        drawn.one(kinds)()
    return drawn.program


@st.composite
def programs_of_sets(draw: Callable[..., Any]) -> Program:
    """Sets of two rows that come and go."""
    drawn = Drawn(draw)
    for _ in range(draw(st.integers(1, 8))):
        key, column = drawn.one(KEYS["pairs"][:2]), drawn.one(["s", "r"])
        how = drawn.one(["insert", "insert", "discard", "has", "put_if_absent", "put", "delete"])
        if how in ("put_if_absent", "put"):
            drawn.add((how, "pairs", key, {}), "bool" if how == "put_if_absent" else None)
        elif how == "delete":
            drawn.add((how, "pairs", key))
        else:
            drawn.add((how, "pairs", column, key, drawn.one(ELEMENTS[:2])), "bool")
    return drawn.program


# -- said by a bolt

TABLES: Final = {spec.table_name: spec for spec in SPECS}
OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "/": operator.truediv,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&": operator.and_,
    "|": operator.or_,
}
assert set(OPERATORS) | {"least", "greatest"} == set(BINARY)


def expressed(t: Transaction, expression: Any, handles: list[Any]) -> Any:
    if not isinstance(expression, tuple):
        return expression
    name = expression[0]
    if name == "value":
        return handles[expression[1]]
    operands = [expressed(t, operand, handles) for operand in expression[1:]]
    if name in ("least", "greatest", "float"):
        return getattr(t, name)(*operands)
    if name == "~":
        return ~operands[0]
    return -operands[0] if name == "neg" else OPERATORS[name](*operands)


def say(t: Transaction, program: Program, tables: Mapping[str, TableSpec] = TABLES) -> list[Any]:
    """Record a program; the handles of what it reads. tables: those that it means, by the names it has."""
    handles: list[Any] = []
    for name, *rest in program:
        if name == "require":
            condition = expressed(t, rest[0], handles)
            t.require(*(condition, rest[1]) if rest[1] else (condition,))
            continue
        made = said(t, tables[rest[0]], name, rest[1:], handles)
        if made is not None:
            handles.append(made)
    return handles


def said(t: Transaction, table: TableSpec, name: str, rest: list[Any], handles: list[Any]) -> Any:
    if name in ("exists", "delete"):
        return getattr(t, name)(table, rest[0])
    if name in ("put", "put_if_absent"):
        given = {column: expressed(t, value, handles) for column, value in rest[1].items()}
        return getattr(t, name)(table, rest[0], **given)
    column, key, operand = rest
    target = table if len(table.column_kinds) == 1 else table[column]
    if name == "read":
        given = [] if operand is None else [expressed(t, operand, handles)]
        return t.read(target, key, *given)
    if name in ("insert", "discard", "has"):
        return getattr(t, name)(target, key, operand)
    return getattr(t, name)(target, key, expressed(t, operand, handles))


def run_alone(view: View, table: TableSpec, column: str, key: Any, amount: int) -> int:
    """Add to a number, unless it gets too far from 0; how many rows there are."""
    found = view.get(table, key)
    before = 0 if found is None else found[column]
    if found is not None and not view.exists(table, key):
        view.put(table, key)
    view.set(table[column], key, min(2**63 - 1, max(-(2**63), before + amount)))
    if abs(before + amount) > 1000:
        raise Abort("too much")
    return len(list(view.rows(table)))
