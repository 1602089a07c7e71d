"""The reports of plans and statistics about evaluators, for people."""

from __future__ import annotations

from typing import Any

import pytest

from framework.cli.plan import _table_groups
from framework.cli.statistics import statistics_lines
from framework.model.config import resolve
from framework.planning import Evaluation, make_plan
from framework.runtime.durability.state.shared import _why
from framework.runtime.observation.statistics import EvaluatorStatistics
from tests.framework.runtime.workers.running import INLINE
from tests.framework.transactions.bank import bank, orders
from viper.transactions.evaluator import Chosen, Reason

AUTO = Evaluation("auto", 2, "1 worker on 2 cores leaves 1 free")


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (Reason.ASKED, "1 worker on 2 cores leaves 1 free"),
        (Reason.ALONE, "1 worker on 2 cores leaves 1 free"),
        (Reason.UNKNOWN, "too little was evaluated to tell whether threads gain time"),
        (Reason.CHEAP, "an instruction takes one thread 7.2 ns, which is less than what threads would add"),
        (Reason.TRIED, "threads were tried, and gained too little"),
        (Reason.PAYS, "an instruction takes one thread 7.2 ns, and several less"),
        (Reason.NO_THREADS, "no memory or no threads could be had for more than one"),
    ],
)
def test_each_reason_is_a_sentence(reason: Reason, told: str) -> None:
    assert _why(AUTO, Chosen(3, 4, 7.23, None, reason)) == told


@pytest.mark.parametrize(("name", "threads"), [("auto", 2), ("serial", 2), ("locks", 2), ("locks", 1)])
def test_statistics_tell_who_has_evaluated(name: str, threads: int) -> None:
    options: dict[str, Any] = {
        "viper__transactions__evaluator": name,
        "viper__transactions__threads": threads,
    }
    statistics = INLINE.run(bank(orders(400, 2), 2), **options).statistics
    (found,) = statistics.transactions
    evaluators: EvaluatorStatistics = found.evaluators
    assert evaluators.serial + evaluators.parallel == found.evaluations
    is_serial = name == "serial" or threads == 1
    assert (evaluators.evaluator, evaluators.threads) == (("serial", 1) if is_serial else (name, threads))
    shown = "\n".join(statistics_lines(statistics))
    assert evaluators.why in shown and "by threads" in shown


def test_plans_tell_it_for_each_group() -> None:
    topology = bank(orders(10, 1), 2).build("bank")
    settings, _ = resolve(topology, options={"viper.transactions.threads": 3, "viper.worker": "inline"})
    (group,) = _table_groups(make_plan(topology, settings))
    assert (group["evaluator"], group["threads"]) == ("auto", 3)
    assert group["evaluated"] == "serial or on 3 threads, as measured: viper.transactions.threads is 3"
