"""Runs with transactions that are suspended and continue, and those that are recorded and repeated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framework import BatchBolt, Bolt, SharedTable, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime import run
from framework.runtime.coordination.stop import StopReason
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.running import PROCESSES, THREADS, Workers, several
from tests.framework.transactions.bank import bank, expected, orders
from tests.portions import at_every_change

COUNT = 300
STATELESS = {"viper.stateless": True}
moved = SharedTable("moved", columns={"balance": "int64"}, rows=100, default={"balance": 100})


class Moves(Bolt):
    """Moves from the account of a row's key to another one, or to itself, unless there is too little."""

    outputs = ["partition", "number", "told"]
    tables = [moved]
    config = STATELESS

    def process(self, tup: Any) -> None:
        _, number, key = tup.values
        with self.transaction(tup) as t:
            balance = t.read(moved, key)
            t.require(balance >= number % 90, "too little")
            t.subtract(moved, key, number % 90)
            t.add(moved, number % 7, number % 90)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([*tup.values[:2], f"{result.values} {result.aborted}"])


class Deposits(BatchBolt):
    """Pays some money into the account of each row's key, of a batch at a time."""

    outputs = ["partition", "number", "told"]
    tables = [moved]
    config = STATELESS

    def process_rows(self, rows: Any) -> None:
        keys = np.asarray(rows.column("key"), dtype=np.int64)
        with self.transactions(rows) as t:
            t.add(moved, keys, keys % 3)
            self._balance = t.read(moved, keys)

    def process_results(self, rows: Any, results: Any) -> None:
        told = [f"balance {balance}" for balance in np.asarray(results[self._balance]).tolist()]
        self.emit_rows([[*row[:2], text] for row, text in zip(rows, told, strict=True)])


def built(spout: Suspending, sources: int, bolts: int) -> TopologyBuilder:
    """Both bolts after the rows of a spout, and what they tell."""
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("moves", Moves, bolts).shuffle_grouping("source")
    builder.set_bolt("deposits", Deposits, bolts).shuffle_grouping("source")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("moves")
    sink.global_grouping("deposits")
    return builder


def check_gone_on(seed: int, folder: Path, first: dict[str, Any], *others: dict[str, Any]) -> None:
    """Suspend a run somewhere, and compare what it and others that continue bring with an undisturbed run."""
    whole = run_built(built(Suspending(4, COUNT, seed), 1, 1))
    place = (seed * 7919) % (COUNT - 50)
    report = run_suspended(built(Suspending(4, COUNT, seed, os.getpid(), place), 2, 2), folder, **first)
    assert report.reason is StopReason.SUSPENDED and report.checkpoint is not None
    rows = report.result("sink")
    assert len(rows) < len(whole.result("sink"))
    for par, options in enumerate(others, 1):
        start = {"start": Path(report.checkpoint.path)}
        second = run_built(built(Suspending(4, COUNT, seed), par, 2 * par - 1), start, **options)
        assert rows + second.result("sink") == whole.result("sink")
        assert second.table("moved") == whole.table("moved")


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(20), 3))
def test_a_run_goes_on_with_other_tasks_and_batches(seed: int, tmp_path: Path) -> None:
    few, many = {"viper__columns__rows": 1 + seed % 5}, {"viper__columns__rows": 1000}
    check_gone_on(seed, tmp_path, few, many, {**few, "viper__transactions__gather": 1})


@pytest.mark.parametrize("workers", at_every_change([PROCESSES, THREADS]), ids=str)
def test_a_run_goes_on_on_any_workers(workers: Workers, tmp_path: Path) -> None:
    check_gone_on(3, tmp_path, {**workers.options, "viper__columns__rows": 3}, {}, workers.options)


@several
def test_a_run_is_recorded_and_repeated(workers: Workers, tmp_path: Path) -> None:
    given = orders(200, 8)
    told, accounts, seen = expected(given)
    tape = tmp_path / "tape"
    for options in ({"record": tape}, {"replay": tape}):
        plan, settings = plan_of(bank(given, 2), **workers.options, viper__transactions__gather=7)
        report = run(plan, settings, **options)
        assert report.result("sink") == told
        assert list(report.table("accounts")) == accounts and list(report.table("seen")) == seen
