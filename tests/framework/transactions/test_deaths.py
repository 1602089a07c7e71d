"""Worker processes that die: without exact recovery tuples are lost, and no transaction is done by half; with
it nothing is, also where successors die in turn, and are given fewer tuples at once than was told already."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, SeekableSpout, TopologyBuilder
from framework.model.config.keys import EVALUATORS
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.running import Workers
from tests.framework.transactions.bank import ACCOUNTS, FIRST, Order, Orders, Transfer, orders
from tests.framework.transactions.test_alone import Audit, audited
from tests.portions import at_every_change


class Dies(Transfer):
    """Kills its process once, while it says what it wants, or when it is told what has come of that."""

    def __init__(self, mark: str, at: int, in_callback: bool) -> None:
        super().__init__()
        self._mark = Path(mark)
        self._at = at
        self._in_callback = in_callback

    def _die(self, number: int) -> None:
        if number == self._at and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def process(self, tup: Any) -> None:
        super().process(tup)
        if not self._in_callback:
            self._die(tup.values.number)

    def process_result(self, tup: Any, result: Any) -> None:
        if self._in_callback:
            self._die(tup.values.number)
        super().process_result(tup, result)


@pytest.mark.few(1)
@pytest.mark.parametrize("evaluator", ["auto", "locks"])
@pytest.mark.parametrize("in_callback", [False, True], ids=["process", "process_result"])
def test_money_is_kept_whatever_is_lost(in_callback: bool, evaluator: str, tmp_path: Path) -> None:
    given = orders(600, 3)
    builder = TopologyBuilder()
    builder.set_spout("orders", Orders(given))
    dies = Dies(str(tmp_path / "mark"), 200, in_callback)
    builder.set_bolt("transfer", dies, 2).shuffle_grouping("orders")
    builder.set_bolt("sink", CollectingSink).global_grouping("transfer")
    placement = {"orders": 1, "transfer": [2, 3], "sink": 1}
    options = {"viper__transactions__evaluator": evaluator, "viper__transactions__threads": 2}
    report = Workers("process", 3).run(
        builder,
        viper__placement=placement,
        viper__transactions__gather=16,
        viper__channel__tuples=1024,
        **options,
    )
    assert len(report.incidents) == 1 and report.incidents[0].lost > 0
    assert sum(balance for _, balance, _ in report.table("accounts")) == ACCOUNTS * FIRST
    numbers = [number for number, _ in report.result("sink")]
    assert numbers == sorted(set(numbers)) and numbers[-1] == 599


class Once(SeekableSpout):
    """Brings one tuple."""

    outputs = ["number"]
    _is_over = False

    def tuples(self) -> Iterator[list[int]]:
        if not self._is_over:
            self._is_over = True
            yield [0]

    def offset(self) -> bool:
        return self._is_over

    def seek(self, offset: bool) -> None:
        self._is_over = offset


class AtOnce(Bolt):
    """Brings all orders at once."""

    outputs = Orders.outputs
    config = {"viper.stateless": True}

    def __init__(self, given: Sequence[Order]) -> None:
        super().__init__()
        self._given = list(given)

    def process(self, tup: Any) -> None:
        for order in self._given:
            self.emit(order)


class DiesAlone(Audit):
    """Kills its process again and again, in the function of an order or in its callback.

    It does so at the first order with which it was given others, of which the log is told by then. Each death
    leaves a mark with the order.
    """

    config = {"viper.stateless": True}

    def __init__(self, marks: str, times: int, where: str) -> None:
        super().__init__()
        self._marks = Path(marks)
        self._times, self._where = times, where
        self._in_hand = 0

    def _die(self, number: int) -> None:
        marks = sorted(self._marks.iterdir())
        is_there = marks[0].read_text() == str(number) if marks else self._in_hand > 1
        if is_there and len(marks) < self._times:
            (self._marks / str(len(marks))).write_text(str(number))
            os.kill(os.getpid(), signal.SIGKILL)

    def process(self, tup: Any) -> None:
        self._in_hand += 1
        super().process(tup)

    def look(self, tup: Any, view: Any) -> tuple[int, int]:
        if self._where == "alone":
            self._die(tup.values.number)
        return super().look(tup, view)

    def process_result(self, tup: Any, result: Any) -> None:
        if self._where == "process_result":
            self._die(tup.values.number)
        self._in_hand -= 1
        super().process_result(tup, result)


DEATHS = [(name, where, 2) for where in ("alone", "process_result") for name in EVALUATORS]


@pytest.mark.parametrize(("evaluator", "where", "times"), at_every_change([*DEATHS, ("auto", "alone", 5)], 1))
def test_successors_that_die_in_turn_do_not_keep_others_waiting(
    evaluator: str, where: str, times: int, tmp_path: Path
) -> None:
    given = orders(60, 5)
    builder = TopologyBuilder()
    builder.set_spout("once", Once)
    builder.set_bolt("orders", AtOnce(given)).global_grouping("once")
    builder.set_bolt("transfer", Transfer, 2, config=DiesAlone.config).shuffle_grouping("orders")
    builder.set_bolt("audit", DiesAlone(str(tmp_path), times, where), 1).global_grouping("orders")
    builder.set_bolt("sink", CollectingSink, config=DiesAlone.config).global_grouping("audit")
    report = Workers("process", 3).run(
        builder,
        viper__recovery="exact",
        viper__placement={"once": 1, "orders": 1, "transfer": [1, 2], "audit": 3, "sink": 1},
        viper__transactions__evaluator=evaluator,
        viper__transactions__threads=2,
        viper__worker__restart__window__secs=0.2,
        viper__worker__restart__tries=10,
    )
    assert len(list(tmp_path.iterdir())) == times
    told, money = audited(given)
    assert report.result("sink") == told
    assert {account: balance for account, balance, _ in report.table("accounts")} == money
    assert [incident.lost for incident in report.incidents] == [0] * times
