"""Worker processes that die without exact recovery: tuples are lost, and no transaction is done by half."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.sinks import CollectingSink
from tests.framework.runtime.workers.running import Workers
from tests.framework.transactions.bank import ACCOUNTS, FIRST, Orders, Transfer, orders


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
