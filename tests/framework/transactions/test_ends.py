"""Transactions at both ends of what bounds them, and with what merges in another way."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, KeyValueState, StatefulBolt, TopologyBuilder
from framework.model.errors import ComponentError, TopologyError
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.framework.transactions.bank import Orders, Transfer, accounts, bank, expected, orders
from tests.portions import at_every_change

LEAST, MOST = 1 << 14, 1 << 31
ENDS = [
    (PROCESSES, {"viper__transactions__bytes": LEAST, "viper__channel__tuples": 1, "viper__jumbo__size": 1}),
    (PROCESSES, {"viper__transactions__bytes": MOST}),
    (THREADS, {"viper__merge__layer": "operator"}),
    (INLINE, {"viper__merge__layer": "operator"}),
    (INLINE, {"viper__transactions__bytes": LEAST}),
    (INLINE, {"viper__transactions__bytes": MOST}),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("gather", [1, 10**9])
@pytest.mark.parametrize(("workers", "options"), at_every_change(ENDS, 3), ids=str)
def test_all_is_as_one_after_the_other(workers: Workers, options: dict[str, Any], gather: int) -> None:
    given = orders(300, 7)
    report = workers.run(bank(given, 2), **options, viper__transactions__gather=gather)
    told, rows, seen = expected(given)
    assert report.result("sink") == told
    assert list(report.table("accounts")) == rows and list(report.table("seen")) == seen


class Ticks(Transfer):
    """Wants transactions of ticks."""

    config = {"topology.tick.tuple.freq.secs": 0.00001}

    def process_tick(self, tup: Any) -> None:
        with self.transaction(tup) as t:
            t.read(accounts.balance, 1)


class Outside(Transfer):
    """Begins a transaction where it is told what has come of another one."""

    def process_result(self, tup: Any, result: Any) -> None:
        self.transaction(tup)


class Stateful(StatefulBolt):
    """Has shared tables."""

    tables = [accounts]

    def init_state(self, state: KeyValueState) -> None:
        """Keeps nothing."""

    def process(self, tup: Any) -> None:
        """Does nothing."""


@pytest.mark.parametrize(
    ("bolt", "error", "told"),
    [
        (Ticks, ComponentError, "in process_tick: .*a tick has no transactions.*have a spout bring a tuple"),
        (Outside, ComponentError, "in process: .*for the tuple that process.. .* has just been given"),
        (Stateful, TopologyError, "a StatefulBolt has commits of its own: declare state by attributes"),
    ],
)
def test_a_bolt_is_refused(bolt: type[Bolt], error: type[Exception], told: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("orders", Orders(orders(60, 1)))
    builder.set_bolt("bolt", bolt).shuffle_grouping("orders")
    with pytest.raises(error, match=told):
        INLINE.run(builder)
