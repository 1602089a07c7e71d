"""Bolts with shared tables, for runs that are killed: rows depend on all transactions that came before."""

from __future__ import annotations

from typing import Any

from framework import Bolt, SharedTable, ValueState
from tests.kills import deaths  # noqa: F401
from tests.kills.components import mixed
from tests.kills.sources import FIELDS

MONEY = 100
"""The money that each account has at first."""

money = SharedTable(
    "money", columns={"balance": "int64", "moves": "int64"}, rows=10_000, default={"balance": MONEY}
)
seen = SharedTable("seen", columns={"values": "set"}, rows=10_000, elements=200_000, default={})


class Pays(Bolt):
    """Moves money between accounts that a row names, unless there is too little."""

    outputs = FIELDS
    tables = [money]

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        source, target, amount = key, mixed(value) % 50, value % 70
        with self.transaction(tup) as t:
            balance = t.read(money.balance, source)
            t.require(balance >= amount)
            t.subtract(money.balance, source, amount)
            t.add(money.balance, target, amount)
            t.add(money.moves, target, 1)
            t.read(money.balance, target)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values[0], mixed(tup.values, result.values, result.aborted)])


class Notes(Bolt):
    """Notes in sets what rows bring; two transactions for some rows, none for others, and state by key."""

    outputs = FIELDS
    tables = [seen, money]
    notes = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]
        for number in range(value % 3):
            with self.transaction(tup) as t:
                t.insert(seen, key + number, value % 20)
                t.read(seen, key)
                t.read(money.balance, key)
                t.set(money.moves, key, 0)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values[0], mixed(tup.values, result.values, self.notes.add(1))])


class Sums(Bolt):
    """Looks at all accounts alone, at some rows, and moves some money there."""

    outputs = FIELDS
    tables = [money]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        key, value = tup.values[:2]

        def look(view: Any) -> int:
            rows = list(view.rows(money))
            for account, balance, moves in rows[:1]:
                view.put(money, account, balance=balance + value % 7, moves=moves + 1)
            return sum(row[1] for row in rows)

        if mixed(value) % 9 == 0:
            self.alone(tup, look)
        else:
            with self.transaction(tup) as t:
                t.read(money.balance, key)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values[0], mixed(tup.values, result.values, result.aborted)])
