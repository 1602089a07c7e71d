"""The messages to a bolt with a wrong transaction: what was found, what was expected, what to write."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import pytest

from tests.viper.transactions.programs import ACCOUNTS, PAIRS, PLACES, SPECS
from tests.viper.transactions.world import World
from viper.errors import LogFullError, StateFullError
from viper.transactions.recorder import Transaction
from viper.transactions.specs import TableSpec

OTHER = TableSpec("others", "int64", {"n": "int64"}, rows=1)
WIDER = TableSpec("accounts", "int64", {"balance": "float64"}, rows=8)


def said(what: Any, specs: Any = SPECS, log_bytes: int = 1 << 16) -> None:
    """Have a bolt say something."""
    world = World(specs, log_bytes=log_bytes)
    member = world.add(lambda recorder, tup: None, [])
    member.recorder.start()
    tup = next(member.inbox.load([([()], 0, 1, ("source", "default", 1, None))]))
    with member.recorder.begin(tup) as t:
        what(t)


def n(t: Transaction) -> Any:
    return t.read(PLACES.n, "a")


def x(t: Transaction) -> Any:
    return t.read(PLACES.x, "a")


ADVICE = "known only when the transaction is evaluated"

WRONG: list[tuple[Any, type[Exception], str]] = [
    # keys
    (lambda t: t.read(ACCOUNTS, "x"), TypeError, "a key of table accounts is int64; found 'x' of type str"),
    (lambda t: t.read(ACCOUNTS, 1.0), TypeError, "a key of table accounts is int64; found 1.0 of type float"),
    (lambda t: t.read(ACCOUNTS, True), TypeError, "is int64; found True of type bool"),
    (lambda t: t.read(ACCOUNTS, None), TypeError, "is int64; found None of type NoneType"),
    (
        lambda t: t.read(ACCOUNTS, 2**63),
        OverflowError,
        "a key of table accounts is int64; found 9223372036854775808, which does not fit into 64 bits",
    ),
    (lambda t: t.read(PLACES.n, 5), TypeError, "a key of table places is text; found 5 of type int"),
    (lambda t: t.read(PLACES.n, b"a"), TypeError, "a key of table places is text; found b'a' of type bytes"),
    (lambda t: t.read(PAIRS.a, 5), TypeError, r"a key of table pairs is a tuple \(int64, text\); found 5"),
    (lambda t: t.read(PAIRS.a, (1, 2)), TypeError, r"a tuple \(int64, text\); found \(1, 2\) of type tuple"),
    (lambda t: t.read(PAIRS.a, (1, "a", 2)), TypeError, r"found \(1, 'a', 2\)"),
    (lambda t: t.read(PAIRS.a, (2**70, "a")), OverflowError, "a part of a key of table pairs is int64"),
    (lambda t: t.read(ACCOUNTS, n(t)), TypeError, "a handle is no key of table accounts.*self.alone"),
    (lambda t: t.insert(PLACES.cars, "a", n(t)), TypeError, "a handle is no element of the set places.cars"),
    (
        lambda t: t.insert(PLACES.cars, "a", 1.5),
        TypeError,
        "an element of the set places.cars is an int or a",
    ),
    # many rows
    (lambda t: t.read_each(ACCOUNTS, 5), TypeError, "read_each takes a list or tuple of keys; found 5"),
    (lambda t: t.read_each(PLACES.n, "ab"), TypeError, "takes a list or tuple of keys; found 'ab'"),
    (lambda t: t.read_each(ACCOUNTS, [1, "x"]), TypeError, "a key of table accounts is int64; found 'x'"),
    (lambda t: t.read_each(ACCOUNTS), TypeError, r"read_each takes \(column, keys\); found 1 arguments"),
    (lambda t: t.set_each(ACCOUNTS, [1, 2], [5]), ValueError, "set_each has 2 keys, and 1 values for them"),
    (lambda t: t.set_each(ACCOUNTS, [1], 5), TypeError, "not iterable"),
    (lambda t: t.set_each(PLACES.cars, ["a"], [1]), TypeError, "set_each changes a number, and places.cars"),
    (lambda t: t.add_each(ACCOUNTS, [1]), TypeError, r"add_each takes \(column, keys, operands\); found 2"),
    (lambda t: t.set_each(ACCOUNTS, [1], ["a"]), TypeError, "the operand"),
    # columns and tables
    (
        lambda t: t.read(PLACES, "a"),
        TypeError,
        "read needs a column, such as places.n: table places has several",
    ),
    (
        lambda t: t.exists(PLACES.n, "a"),
        TypeError,
        "exists needs a table, such as places; found its column places.n",
    ),
    (lambda t: t.read("places", "a"), TypeError, "expected a table or a column, such as accounts"),
    (
        lambda t: t.read(OTHER, 1),
        ValueError,
        "table 'others' is not among the bolt's: accounts, places, pairs",
    ),
    (lambda t: t.read(WIDER, 1), ValueError, "two tables called 'accounts' of different shapes"),
    (lambda t: t.add(PLACES.cars, "a", 1), TypeError, "add changes a number, and places.cars is a set"),
    (
        lambda t: t.set(PLACES.cars, "a", 1),
        TypeError,
        r"set changes a number.*t.insert\(places.cars, key, element\)",
    ),
    (lambda t: t.insert(PLACES.n, "a", 1), TypeError, "insert needs a column of sets; places.n is none"),
    (lambda t: t.has(ACCOUNTS, 1, 1), TypeError, "has needs a column of sets; accounts.balance is none"),
    (
        lambda t: t.put(PLACES, "a", m=1),
        TypeError,
        r"table places has no column 'm'; it has \('n', 'x', 'cars'\)",
    ),
    (lambda t: t.put(PLACES, "a", cars=[1]), TypeError, "column places.cars is a set: put makes it empty"),
    (lambda t: t.put(ACCOUNTS, 1, a=1, b=2), TypeError, "table accounts has 1 columns; found 2 values"),
    # operands
    (lambda t: t.add(ACCOUNTS, 1, "5"), TypeError, "the operand is a number.*found '5' of type str"),
    (lambda t: t.add(ACCOUNTS, 1, 5.0), TypeError, "column accounts.balance is int64; found a float"),
    (lambda t: t.add(ACCOUNTS, 1, x(t)), TypeError, "column accounts.balance is int64; found a float"),
    (lambda t: t.put(ACCOUNTS, 1, balance=0.5), TypeError, "column accounts.balance is int64; found a float"),
    (lambda t: t.read(ACCOUNTS, 1, 0.5), TypeError, "column accounts.balance is int64; found a float"),
    (lambda t: t.read(ACCOUNTS, 1, None), TypeError, "the default is a number.*found None"),
    (lambda t: t.add(ACCOUNTS, 1, Decimal(5)), TypeError, r"the operand is a number.*found Decimal\('5'\)"),
    (lambda t: t.add(ACCOUNTS, 1, float("nan")), TypeError, "accounts.balance is int64; found a float"),
    (lambda t: t.put(ACCOUNTS, 1, balance=float("inf")), TypeError, "balance is int64; found a float"),
    (lambda t: t.set(PLACES.x, "a", None), TypeError, "the operand is a number.*found None"),
    (lambda t: t.set(PLACES.x, "a", "1.5"), TypeError, "the operand is a number.*found '1.5' of type str"),
    (lambda t: t.float("1.5"), TypeError, "the operand is a number.*found '1.5' of type str"),
    (
        lambda t: t.insert(PLACES.cars, "a", 2**63),
        OverflowError,
        "an element of a set of table places is int64; found 9223372036854775808, which does not fit",
    ),
    (lambda t: n(t) + None, TypeError, "the right operand is a number.*found None"),
    (lambda t: n(t) == None, TypeError, "the right operand is a number.*found None"),  # noqa: E711
    (lambda t: "a" + n(t), TypeError, "the left operand is a number.*found 'a'"),
    (lambda t: n(t) / 2, TypeError, r"/ divides floats: write t.float\(a\) / b, or a // b"),
    (lambda t: x(t) // 2, TypeError, "// divides ints; floats are divided by /"),
    (
        lambda t: n(t) & (n(t) > 1),
        TypeError,
        r"& joins conditions, such as \(a > 0\) & \(b > 0\); found a number",
    ),
    (lambda t: (n(t) > 1) | 1, TypeError, r"\| joins conditions"),
    (lambda t: ~n(t), TypeError, "~ negates a condition"),
    (lambda t: t.least(n(t), "a"), TypeError, "the right operand is a number"),
    (lambda t: t.least(1), TypeError, "least takes two values; found 1"),
    # conditions
    (lambda t: t.require(n(t)), TypeError, "require takes a condition, such as balance >= 5; found a number"),
    (lambda t: t.require(1), TypeError, "require takes a condition, such as balance >= 5; found a number"),
    (lambda t: t.require(n(t) > 1, 5), TypeError, "the reason is a text"),
    (lambda t: t.require(), TypeError, r"require takes \(condition\[, reason\]\)"),
    (lambda t: bool(n(t) > 1), TypeError, ADVICE + r": write t.require\(condition\) in place of `if`"),
    (lambda t: n(t) > 1 and n(t) < 5, TypeError, "& and | in place of `and` and `or`"),
    (lambda t: not n(t), TypeError, "~ in place of `not`"),
    (lambda t: 1 < n(t) < 5, TypeError, r"\(a <= b\) & \(b <= c\) in place of a <= b <= c"),
    (lambda t: {n(t): 1}, TypeError, "a handle has no hash"),
    (lambda t: list(n(t)), TypeError, "a handle is one number.*self.alone"),
    (lambda t: [1][n(t)], TypeError, ADVICE + ": it cannot be a key, an index"),
    (lambda t: int(n(t)), TypeError, ADVICE),
    (lambda t: float(n(t)), TypeError, r"t.float\(handle\)"),
    (lambda t: n(t) ** 2, TypeError, "unsupported operand"),
    (lambda t: pickle.dumps(n(t)), TypeError, "cannot pickle"),
    # arguments
    (lambda t: t.read(ACCOUNTS), TypeError, r"read takes \(column, key\[, default\]\); found 1 arguments"),
    (lambda t: t.read(ACCOUNTS, 1, 2, 3), TypeError, "found 4 arguments"),
    (lambda t: t.read(ACCOUNTS, 1, other=2), TypeError, "found 3 arguments"),
    (lambda t: t.add(ACCOUNTS, 1), TypeError, r"add takes \(column, key, operand\); found 2 arguments"),
    (lambda t: t.insert(PLACES.cars, 1), TypeError, r"insert takes \(set_column, key, element\)"),
    (lambda t: t.put(PLACES, "a", 5), TypeError, r"put takes \(table, key, name=value, ...\); found 3"),
    (lambda t: t.delete(PLACES), TypeError, r"delete takes \(table, key\); found 1"),
]


@pytest.mark.parametrize(("what", "error", "message"), WRONG)
def test_what_is_wrong_is_told(what: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        said(what)


def test_handles_show_themselves() -> None:
    shown: list[str] = []
    said(lambda t: shown.extend(map(repr, (n(t), x(t), n(t) > 1, t))))
    assert shown[0] == "<handle 0 of a transaction: int64>"
    assert shown[1] == "<handle 1 of a transaction: float64>"
    assert shown[2].endswith("condition>")
    assert shown[3] == "<transaction of 4 instructions>"


class TestRoom:
    def test_a_table_that_is_full(self) -> None:
        def what(t: Transaction) -> None:
            for key in range(8):
                t.read(ACCOUNTS, key)
            with pytest.raises(StateFullError, match=r"table accounts has no room for another key.*rows=8"):
                t.read(ACCOUNTS, 8)
            t.read(ACCOUNTS, 7)

        said(what)

    def test_sets_that_are_full(self) -> None:
        def what(t: Transaction) -> None:
            for element in range(64):
                t.insert(PAIRS.s, (1, "a"), element)
            with pytest.raises(StateFullError, match=r"another element of its sets.*elements=64"):
                t.insert(PAIRS.s, (1, "b"), 0)
            t.insert(PAIRS.s, (1, "a"), 0)

        said(what)

    def test_a_transaction_that_no_log_has_room_for(self) -> None:
        def what(t: Transaction) -> None:
            for _ in range(130):
                t.add(ACCOUNTS, 1, 1)

        with pytest.raises(
            LogFullError, match=r"of 130 operations takes 2128 bytes.*4096 bytes has room for 2048"
        ):
            said(what, log_bytes=4096)

    def test_a_transaction_with_too_many_operations(self) -> None:
        def what(t: Transaction) -> None:
            for _ in range(65536):
                t.add(ACCOUNTS, 1, 1)

        with pytest.raises(ValueError, match=r"at most 65535 operations and results.*found operation 65536"):
            said(what)
