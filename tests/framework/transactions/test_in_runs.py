"""Transactions in runs: outputs and tables are those of one order after the other, whatever runs them."""

from __future__ import annotations

from typing import Any

import pytest

from framework.runtime.tasks import bolt_task
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.framework.transactions.bank import bank, expected, orders

MATRIX: list[tuple[int, int, dict[str, Any]]] = [
    (1, 1, {}),
    (3, 2, {"viper__transactions__gather": 1}),
    (2, 3, {"viper__transactions__gather": 7, "viper__channel__tuples": 1, "viper__jumbo__size": 1}),
    (3, 4, {"viper__slice__tuples": 5}),
    (2, 5, {"viper__jumbo__size": 3, "viper__channel__tuples": 8}),
]
"""Parallelism, a seed, and options."""


def check(report: Any, given: list[Any]) -> None:
    told, accounts, seen = expected(given)
    assert report.result("sink") == told
    assert list(report.table("accounts")) == accounts
    assert list(report.table("seen")) == seen


@pytest.mark.few(5)
@every_kind
@pytest.mark.parametrize(("parallelism", "seed", "options"), MATRIX, ids=str)
def test_all_is_as_one_after_the_other(
    workers: Workers, parallelism: int, seed: int, options: dict[str, Any]
) -> None:
    given = orders(400, seed)
    check(workers.run(bank(given, parallelism), **options), given)


@pytest.mark.few(7)
@pytest.mark.parametrize("seed", range(30))
def test_any_schedule_does_the_same(seed: int) -> None:
    given = orders(150, seed)
    options = {
        "viper__scheduling": "random",
        "viper__seed": seed,
        "viper__transactions__gather": 1 + seed % 9,
        "viper__slice__tuples": 1 + seed % 13,
        "viper__jumbo__size": 1 + seed % 7,
        "viper__channel__tuples": 1 + seed % 7 + seed % 5,
    }
    check(INLINE.run(bank(given, 1 + seed % 4), **options), given)


@pytest.mark.few(7)
@pytest.mark.parametrize("seed", range(12))
def test_turns_that_take_too_long_hold_nobody_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that ends as its time is over, while it waits for others, tells them how far it is."""
    monkeypatch.setattr(bolt_task, "TURN_S", -1.0)
    given = orders(120, seed)
    options = {
        "viper__scheduling": "random",
        "viper__seed": seed,
        "viper__transactions__gather": 1 + seed % 9,
        "viper__slice__tuples": 1 + seed % 13,
        "viper__jumbo__size": 1,
        "viper__channel__tuples": 1,
    }
    check(INLINE.run(bank(given, 1 + seed % 4), **options), given)
