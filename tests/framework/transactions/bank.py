"""A bank whose accounts several bolts share, and what each order must come to, by a plain loop.

Orders come from one spout, so their order is that in which it brings them. The bolts see each order at the
same position; there the one that is defined first comes first.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from framework import Bolt, SharedTable, Spout, TopologyBuilder
from framework.operators.sinks import CollectingSink

Order = tuple[int, int, int, int]
"""Number, source, target, amount."""

ACCOUNTS = 20
FIRST = 100
"""The money that each account has at first."""


def first_accounts() -> Iterator[tuple[int, int, int]]:
    for account in range(ACCOUNTS):
        yield account, FIRST, 0


accounts = SharedTable(
    "accounts", columns={"balance": "int64", "moves": "int64"}, rows=4 * ACCOUNTS, load=first_accounts
)
seen = SharedTable("seen", columns={"partners": "set"}, rows=4 * ACCOUNTS, elements=10_000, default={})


def orders(count: int, seed: int) -> list[Order]:
    """Orders with hot accounts, transfers to oneself, accounts that are not there, and amounts too large."""
    drawn = random.Random(seed)
    found = []
    for number in range(count):
        source, target = (min(int(drawn.expovariate(0.2)), ACCOUNTS + 2) for _ in range(2))
        found.append((number, source, target, drawn.randrange(60)))
    return found


class Orders(Spout):
    """Brings orders."""

    outputs = ["number", "source", "target", "amount"]

    def __init__(self, given: Sequence[Order]) -> None:
        super().__init__()
        self._given = list(given)

    def tuples(self) -> Iterator[Order]:
        yield from self._given


class Transfer(Bolt):
    """Moves money, unless there is too little."""

    outputs = ["number", "told"]
    tables = [accounts]

    def process(self, tup: Any) -> None:
        _, source, target, amount = tup.values
        with self.transaction(tup) as t:
            balance = t.read(accounts.balance, source)
            t.require(balance >= amount, "not enough")
            t.subtract(accounts.balance, source, amount)
            t.add(accounts.balance, target, amount)
            t.add(accounts.moves, target, 1)
            t.read(accounts.balance, target)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values.number, f"transfer {result.values} {result.aborted}"])


class Interest(Bolt):
    """Pays a tenth to accounts that have moved, and then to a second one; two transactions for each order."""

    outputs = ["number", "told"]
    tables = [accounts]

    def process(self, tup: Any) -> None:
        for account in tup.values[1:3]:
            with self.transaction(tup) as t:
                moves = t.read(accounts.moves, account)
                balance = t.read(accounts.balance, account)
                t.require(moves > 0)
                t.set(accounts.balance, account, balance + balance // 10)
                t.set(accounts.moves, account, 0)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values.number, f"interest {result.values} {result.aborted}"])


class Partners(Bolt):
    """Remembers whom each account has paid; nothing for orders of odd amounts."""

    outputs = ["number", "told"]
    tables = [seen, accounts]

    def process(self, tup: Any) -> None:
        _, source, target, amount = tup.values
        if amount % 2:
            return
        with self.transaction(tup) as t:
            t.insert(seen, source, target)
            t.read(seen, source)
            t.exists(accounts, source)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values.number, f"partners {result.values} {result.aborted}"])


BOLTS = {"transfer": Transfer, "interest": Interest, "partners": Partners}


def bank(
    given: Sequence[Order], parallelism: int = 1, config: dict[str, Any] | None = None
) -> TopologyBuilder:
    """The bolts after one spout, each with so many tasks, and a sink."""
    builder = TopologyBuilder()
    builder.set_spout("orders", Orders(given))
    sink = builder.set_bolt("sink", CollectingSink)
    for name, bolt in BOLTS.items():
        builder.set_bolt(name, bolt, parallelism, config=config).shuffle_grouping("orders")
        sink.global_grouping(name)
    return builder


def expected(given: Sequence[Order]) -> tuple[list[tuple[int, str]], list[Any], list[Any]]:
    """Compute the sink's rows, and the rows of both tables, by one order after the other."""
    money, moves = {n: FIRST for n in range(ACCOUNTS)}, dict.fromkeys(range(ACCOUNTS), 0)
    paid: dict[int, set[int]] = {}
    told: list[tuple[int, str]] = []
    for number, source, target, amount in given:
        told += [(number, text) for text in _done(money, moves, paid, source, target, amount)]
    rows = sorted((account, money[account], moves[account]) for account in money)
    return told, rows, sorted((account, tuple(sorted(found))) for account, found in paid.items())


def _done(
    money: dict[int, int], moves: dict[int, int], paid: dict[int, set[int]], *order: int
) -> Iterator[str]:
    source, target, amount = order
    missing = next((account for account in (source, target) if account not in money), None)
    if source in money and money[source] < amount:
        yield "transfer () not enough"
    elif missing is not None:
        yield f"transfer () no row {missing} in accounts"
    else:
        before = money[source]
        money[source] -= amount
        money[target] += amount
        moves[target] += 1
        yield f"transfer ({before}, {money[target]}) None"
    for account in (source, target):
        if account not in money:
            yield f"interest () no row {account} in accounts"
        elif moves[account] == 0:
            yield "interest () condition 1"
        else:
            yield f"interest ({moves[account]}, {money[account]}) None"
            money[account], moves[account] = money[account] + money[account] // 10, 0
    if amount % 2 == 0:
        found = paid.setdefault(source, set())
        new = target not in found
        found.add(target)
        yield f"partners ({int(new)}, {len(found)}, {int(source in money)}) None"
