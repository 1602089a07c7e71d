"""Evaluators of transactions: whichever evaluates, on any workers, outputs and tables are the same."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from framework.model.config import resolve
from framework.model.config.keys import EVALUATORS
from framework.planning import Executor, Placement, WorkerKind, evaluation
from framework.planning.evaluation import evaluation_of
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.framework.transactions.bank import bank, expected, orders
from viper._backend import lib
from viper.transactions import evaluator

SCHEMES = [name for name in EVALUATORS if name not in ("auto", "serial")]


def check(report: Any, given: list[Any]) -> Any:
    told, accounts, seen = expected(given)
    assert report.result("sink") == told
    assert list(report.table("accounts")) == accounts
    assert list(report.table("seen")) == seen
    return report.statistics.transactions[0].evaluators


@pytest.mark.few(3)
@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_any_evaluator_does_the_same(workers: Workers, seed: int) -> None:
    drawn = random.Random(seed)
    name, threads = drawn.choice(EVALUATORS), drawn.randint(1, 3)
    given = orders(300, seed)
    found = check(
        workers.run(
            bank(given, 1 + seed),
            viper__transactions__evaluator=name,
            viper__transactions__threads=threads,
            viper__transactions__gather=drawn.choice([1, 7, 512]),
        ),
        given,
    )
    by_threads = name in SCHEMES and threads > 1
    assert (found.parallel > 0) is by_threads or name == "auto", f"seed {seed}: {name} on {threads}"
    assert (found.serial == 0) is by_threads or name == "auto", f"seed {seed}: {name} on {threads}"


@pytest.mark.few(4)
@pytest.mark.parametrize("name", SCHEMES)
def test_threads_end_with_the_run(name: str) -> None:
    before = set(_threads())
    given = orders(200, 1)
    options = {"viper__transactions__evaluator": name, "viper__transactions__threads": 2}
    found = check(INLINE.run(bank(given, 2), **options), given)
    assert found.parallel > 0 and found.why == "viper.transactions.threads is 2"
    assert set(_threads()) <= before


def _threads() -> list[str]:
    return os.listdir("/proc/self/task")


def _settings(**options: Any) -> Any:
    found, _ = resolve(None, options={f"viper.transactions.{name}": value for name, value in options.items()})
    return found


def _placement(workers: int) -> Placement:
    return Placement(
        WorkerKind.PROCESS, tuple(Executor(worker=number, tasks=(number + 1,)) for number in range(workers))
    )


@pytest.mark.parametrize(
    ("workers", "cores", "options", "told"),
    [
        (1, 2, {}, "serial or on 2 threads, as measured: 1 worker on 2 cores leaves 1 free"),
        (2, 2, {}, "serial: 2 workers on 2 cores leave none free"),
        (3, 1, {}, "serial: 3 workers on 1 core leave none free"),
        (1, 64, {}, "serial or on 16 threads, as measured: 1 worker on 64 cores leaves 15 free"),
        (2, 2, {"threads": 2}, "serial or on 2 threads, as measured: viper.transactions.threads is 2"),
        (1, 8, {"threads": 1}, "serial: viper.transactions.threads is 1"),
        (1, 8, {"evaluator": "serial"}, "serial: viper.transactions.evaluator says so"),
        (2, 4, {"evaluator": "chains"}, "chains on 3 threads: 2 workers on 4 cores leave 2 free"),
    ],
)
def test_plans_tell_what_is_possible(workers: int, cores: int, options: dict[str, Any], told: str) -> None:
    assert str(evaluation_of(_placement(workers), _settings(**options), cores)) == told


def test_the_names_are_those_of_the_layer_below() -> None:
    assert evaluator.EVALUATORS == EVALUATORS


def test_what_can_be_configured_is_what_there_is() -> None:
    """The configuration names evaluators and counts threads without loading what is compiled."""
    assert set(EVALUATORS) == set(evaluator.EVALUATORS)
    assert (evaluation.AUTO, evaluation.SERIAL) == (evaluator.AUTO, evaluator.SERIAL)
    assert evaluation.MOST_THREADS == lib.VP_SCHEME_THREADS
