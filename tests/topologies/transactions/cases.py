"""The cases that the applications are tried with: their input, the loops beside them, and their runs."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Mapping
from typing import Any

from framework import run
from framework.model.config.keys import EVALUATORS
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from tests.framework.runtime.workers.running import Workers
from tests.topologies.transactions import reference

EVENTS = 2_500
SEED = 23
RECORDS = 40
ACCESS = {"records": RECORDS, "partitions": 4, "skew": 0.8, "distinct": False}
"""Few records, so that most transactions depend on others, and some name a record twice."""

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "grep_sum": {"access": ACCESS},
    "streaming_ledger": {"transfers": 0.75, "amount": 12, "assets": 9, "refused": 0.05, "access": ACCESS},
    "online_bidding": {"mix": (12, 1, 1), "bid_quantity": 40, "forged": 0.05, "access": ACCESS},
    "toll_processing": {"segments": 20, "vehicles": 200},
}
SPOUTS = {
    "grep_sum": "GrepSum",
    "streaming_ledger": "StreamingLedger",
    "online_bidding": "OnlineBidding",
    "toll_processing": "TollProcessing",
}
Expected = tuple[list[Any], Mapping[str, list[Any]]]
"""Rows, and tables."""


def part(name: str) -> Any:
    """A module of the applications."""
    __import__(name)
    return sys.modules[name]


def drawn(name: str, events: int = EVENTS) -> list[Any]:
    """The input of an application."""
    draw = part("transactions.generators").APPLICATIONS[name]
    return list(draw(SEED, **PARAMETERS[name]).tuples(events))


def loop_of(name: str) -> Any:
    """The loop that an application is compared with; the ledger's begins with the balances of the poor."""
    if name == "grep_sum":
        return reference.GrepSum(dict(part("transactions.grep_sum").first_records()))
    if name == "streaming_ledger":
        poor = part("tests.topologies.transactions.variants")
        accounts, assets = (dict.fromkeys(range(RECORDS), first) for first in (poor.MONEY, poor.ASSETS))
        return reference.StreamingLedger(accounts, assets)
    if name == "online_bidding":
        items = part("transactions.online_bidding").first_items()
        prices, quantities = ({row[0]: row[column] for row in items} for column in (1, 2))
        return reference.OnlineBidding(prices, quantities)
    return reference.TollProcessing()


def expected(name: str, loop: Any = None, events: int = EVENTS) -> Expected:
    """Compute the right output."""
    loop = loop_of(name) if loop is None else loop
    return list(loop.rows(drawn(name, events))), loop.tables()


def sizes(seed: str) -> dict[str, Any]:
    """Draw the punctuation, the sizes of buffers and the evaluator from a text."""
    chance = random.Random(seed)
    jumbo = chance.choice((1, 2, 7, 64, 512))
    return {
        # Small numbers as often as large ones.
        "viper.transactions.gather": round(math.exp(chance.uniform(0, math.log(1_000)))),
        "viper.jumbo.size": jumbo,
        "viper.channel.tuples": max(jumbo, chance.choice((1, 8, 100, 8_192))),
        "viper.channel.jumbos": chance.choice((1, 2, 64)),
        "viper.slice.tuples": chance.choice((1, 3, 100, 1_000)),
        "viper.transactions.evaluator": chance.choice(EVALUATORS),
        "viper.transactions.threads": chance.choice((1, 2, 2, 3)),
    }


def ran(
    name: str,
    workers: Workers,
    tasks: Any,
    injectors: int,
    batches: bool = False,
    options: Mapping[str, Any] | None = None,
    bolts: Mapping[str, Any] | None = None,
    events: int = EVENTS,
) -> RunReport:
    """A run of an application; of the ledger's with the accounts of the poor.

    Args:
        name: of the application.
        workers: what runs it.
        tasks: of each component, as its builder takes them.
        injectors: among which its input is divided.
        batches: whether it is that on columns.
        options: of the configuration.
        bolts: by name, those in the place of its own.
        events: how many there are.
    """
    builder = getattr(part("transactions_builder"), name)
    bring = part("transactions.batches" if batches else "transactions.spouts")
    spout = getattr(bring, SPOUTS[name])(events, SEED, injectors, dict(PARAMETERS[name]))
    poor = part("tests.topologies.transactions.variants")
    own = {"deposit": poor.PoorDeposit, "transfer": poor.PoorTransfer, "ledger": poor.PoorLedger}
    made = builder(spout, CollectingSink, tasks, batches, {**own, **(bolts or {})})
    conf = {key.replace("__", "."): value for key, value in workers.options.items()}
    return run(made.build(name.replace("_", "-")), conf={**conf, **(options or {})})


def found(report: RunReport, expected: Mapping[str, list[Any]]) -> Expected:
    """Read the output, without the columns of tables that nobody asks for."""
    rows = [tuple(row) for row in report.result("answers")]
    tables = {}
    for name, wanted in expected.items():
        used = len(wanted[0])
        assert not any(any(row[used:]) for row in report.table(name)), f"spare columns of {name} were written"
        tables[name] = [row[:used] for row in report.table(name)]
    return rows, tables
