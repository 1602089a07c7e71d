"""Functions that are alone at their place, tables from files and into files, and bolts by themselves."""

from __future__ import annotations

import gzip
import os
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from framework import Abort, Bolt, SharedTable, TopologyBuilder
from framework.model.errors import ComponentError, ConfigError
from framework.operators.sinks import CollectingSink
from framework.testing import run_bolt
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.framework.transactions.bank import FIRST, Orders, Transfer, accounts, orders


class Audit(Bolt):
    """Tells how much there is, and how much the richest has; gives all of it away for every fifth order."""

    outputs = ["number", "told"]
    tables = [accounts]

    def process(self, tup: Any) -> None:
        self.alone(tup, partial(self.look, tup))

    def look(self, tup: Any, view: Any) -> tuple[int, int]:
        rows = {account: balance for account, balance, _ in view.rows(accounts)}
        richest = max(rows, key=lambda account: (rows[account], account))
        if tup.values.number % 5 == 0:
            view.set(accounts.balance, richest, 0)
            view.set(accounts.balance, min(rows), view.read(accounts.balance, min(rows)) + rows[richest])
        if tup.values.number % 7 == 0:
            raise Abort("seven")
        return sum(rows.values()), rows[richest]

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values.number, result.values[0] if result else result.aborted])


def audited(given: list[Any]) -> tuple[list[Any], dict[int, int]]:
    """Compute the output of both bolts, by one order after the other."""
    money, told = dict.fromkeys(range(20), FIRST), list[Any]()
    for number, source, target, amount in given:
        is_known = source in money and target in money
        if is_known and money[source] >= amount:
            money[source] -= amount
            money[target] += amount
        richest = max(money, key=lambda account: (money[account], account))
        told.append((number, "seven" if number % 7 == 0 else (sum(money.values()), money[richest])))
        if number % 5 == 0 and number % 7:
            given_away, money[richest] = money[richest], 0
            money[0] += given_away
    return told, money


@every_kind
@pytest.mark.parametrize("parallelism", [1, 3])
def test_functions_are_alone_at_their_place(workers: Workers, parallelism: int) -> None:
    given = orders(60, 4)
    builder = TopologyBuilder()
    builder.set_spout("orders", Orders(given))
    builder.set_bolt("transfer", Transfer, parallelism).shuffle_grouping("orders")
    builder.set_bolt("audit", Audit, parallelism).shuffle_grouping("orders")
    builder.set_bolt("sink", CollectingSink).global_grouping("audit")
    report = workers.run(builder)
    told, money = audited(given)
    assert report.result("sink") == told
    assert {account: balance for account, balance, _ in report.table("accounts")} == money
    assert sum(money.values()) == 20 * FIRST


class Raises(Audit):
    def process(self, tup: Any) -> None:
        self.alone(tup, lambda view: 1 // 0)


def test_what_a_function_raises_ends_the_run() -> None:
    builder = TopologyBuilder()
    builder.set_spout("orders", Orders(orders(3, 1)))
    builder.set_bolt("audit", Raises).shuffle_grouping("orders")
    with pytest.raises(ComponentError, match="ZeroDivisionError"):
        INLINE.run(builder)


balances = SharedTable(
    "balances", key=("text", "int64"), columns={"balance": "float64", "tags": "set"}, rows=10, elements=100
)


class Doubles(Bolt):
    tables = [balances]
    outputs = ["balance", "new"]

    def process(self, tup: Any) -> None:
        with self.transaction(tup) as t:
            balance = t.read(balances.balance, ("ann", 1))
            t.set(balances.balance, ("ann", 1), balance * 2)
            t.insert(balances.tags, ("ann", 1), f"n{tup.values[0]}")

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit(result.values)


def doubling(folder: Path) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("orders", Orders([(n, 0, 0, 0) for n in range(3)]))
    builder.set_bolt("doubles", Doubles).shuffle_grouping("orders")
    builder.set_bolt("sink", CollectingSink).global_grouping("doubles")
    files = {"load": str(folder / "first.csv"), "save": str(folder / "last.csv")}
    builder.set_config("viper.tables", {"balances": files})
    return builder


def test_tables_come_from_files_and_go_into_files(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text("name,number,balance,tags\nann,1,1.5,n1 old\nbob,7,2,\n")
    report = INLINE.run(doubling(tmp_path))
    assert report.result("sink") == [(1.5, 1), (3.0, 0), (6.0, 1)]
    last = (tmp_path / "last.csv").read_text()
    assert last == "key1,key2,balance,tags\nann,1,12.0,n0 n1 n2 old\nbob,7,2.0,\n"
    (tmp_path / "first.csv").write_text(last)
    assert INLINE.run(doubling(tmp_path)).result("sink")[0] == (12.0, 0)


@pytest.mark.parametrize("name", ["a\rb", "a\r\nb", "\n", '"', "a,b", "\u2028", "ä"])
def test_every_text_comes_back_from_a_file(tmp_path: Path, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    content = f"\ufeffname,number,balance,tags\nann,1,1.5,\n{quoted},7,2.0,\n"
    (tmp_path / "first.csv").write_bytes(content.encode())
    for _ in range(2):
        INLINE.run(doubling(tmp_path))
        os.replace(tmp_path / "last.csv", tmp_path / "first.csv")
    frame = pd.read_csv(tmp_path / "first.csv", dtype=str, keep_default_na=False)
    assert {"key1": name, "key2": "7", "balance": "2.0", "tags": ""} in frame.to_dict("records")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("name,number,balance\n", "expected 4: key1, key2, balance, tags"),
        ("name,number,balance,tags\nann,1,much,\n", "line 2: could not convert string to float"),
        ("name,number,balance,tags\nann,1,1\n", "line 2 has 3 values"),
        ('name,number,balance,tags\n"a\nb",1,1,\nann,1,1\n', "line 4 has 3 values"),
        ('name,number,balance,tags\nann,1,1,\n"bob,7,2,\n', "line 3: the quote that opens in line 3 is not"),
        ('name,number,balance,tags\n"ann"x,1,1,\n', "line 2: expected ',' or the end of the line"),
        (b"name,number,balance,tags\n\xff,1,1,\n", "first.csv:2: byte 0xff is not utf-8"),
        (gzip.compress(b"name", mtime=0), "expected text in utf-8, and it is gzip"),
        (b"", "its header has 0 columns"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, content: str | bytes | None, told: str) -> None:
    if content is not None:
        (tmp_path / "first.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ConfigError, match=told):
        INLINE.run(doubling(tmp_path))


def test_a_bolt_can_be_tried_by_itself() -> None:
    fields = ["number", "source", "target", "amount"]
    found = run_bolt(Transfer, [(0, 1, 2, 30), (1, 1, 2, 80), (2, 2, 1, 130)], fields=fields)
    assert [told for _, told in found.emitted()] == [
        "transfer (100, 130) None",
        "transfer () not enough",
        "transfer (130, 200) None",
    ]
    assert found.tables["accounts"][1:3] == ((1, 200, 1), (2, 0, 1))
    assert len(found.acked) == 3
