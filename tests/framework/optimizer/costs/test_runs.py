"""Predicted lengths of runs, beside those of tuples that are dealt out and merged."""

from __future__ import annotations

import math
import random
from itertools import groupby

import pytest

from framework.optimizer.costs import Flow, Node, Shape, Spread
from framework.optimizer.costs.runs import block_of, run_length

TUPLES = 6_000


def dealt(count: int, spread: Spread, turn: int, tasks: int, draw: random.Random) -> list[int]:
    """The task that each tuple goes to."""
    if spread is Spread.TURNS:
        return [index // turn % tasks for index in range(count)]
    return [draw.randrange(tasks) for _ in range(count)]


def measured(flow: Flow, first: Flow, middle: int, last: int, selectivity: float) -> float:
    """The mean run at the last component's tasks; tuples stand in the order of what they were made of."""
    draw = random.Random(f"{flow}{middle}{last}{selectivity}")
    producers = dealt(TUPLES, first.spread, first.turn, middle, draw)
    made = [
        producer
        for producer in producers
        for _ in range(int(selectivity) + (draw.random() < selectivity - int(selectivity)))
    ]
    # Each producer deals out what it has made.
    own: dict[int, int] = {}
    consumers = []
    for producer in made:
        number = own[producer] = own.get(producer, -1) + 1
        turns = (producer + number // flow.turn) % last
        consumers.append(turns if flow.spread is Spread.TURNS else draw.randrange(last))
    runs = 0
    for consumer in range(last):
        taken = [
            p for p, c in zip(made, consumers, strict=True) if c == consumer or flow.spread is Spread.ALL
        ]
        runs += len(list(groupby(taken)))
    return len(made) * (last if flow.spread is Spread.ALL else 1) / runs


@pytest.mark.few(14)
@pytest.mark.parametrize("selectivity", [0.2, 1.0, 5.0, 25.0])
@pytest.mark.parametrize("last", [1, 2, 3])
@pytest.mark.parametrize("middle", [2, 3])
@pytest.mark.parametrize("turn", [1, 16])
@pytest.mark.parametrize("spread", [Spread.KEYS, Spread.ALL])
@pytest.mark.parametrize("before", [Spread.TURNS, Spread.KEYS])
def test_predicted_runs_are_as_long_as_those_of_tuples(
    before: Spread, spread: Spread, turn: int, middle: int, last: int, selectivity: float
) -> None:
    first, flow = Flow("a", "s", "b", before, turn), Flow("b", "s", "c", spread)
    shape = Shape((Node("a", True, 1), Node("b", False, 3), Node("c", False, 3)), (first, flow))
    predicted = run_length(flow, block_of(shape, "b", middle), selectivity, middle, last)
    assert predicted == pytest.approx(measured(flow, first, middle, last, selectivity), rel=0.1)


def test_one_source_is_a_single_run() -> None:
    flow = Flow("a", "s", "b", Spread.KEYS)
    shape = Shape((Node("a", True, 1), Node("b", False, 3)), (flow,))
    assert run_length(flow, block_of(shape, "a", 1), 1.0, 1, 3) == math.inf


@pytest.mark.parametrize(
    ("spread", "last"), [(Spread.TURNS, 1), (Spread.TURNS, 2), (Spread.ALL, 2), (Spread.KEYS, 3)]
)
@pytest.mark.parametrize("tasks", [2, 3])
def test_spouts_that_take_turns_bring_one_tuple_each(tasks: int, spread: Spread, last: int) -> None:
    flow = Flow("a", "s", "b", spread)
    shape = Shape((Node("a", True, 3), Node("b", False, 3)), (flow,), spouts_take_turns=True)
    brought = Flow("", "", "a", Spread.TURNS)
    predicted = run_length(flow, block_of(shape, "a", tasks), 1.0, tasks, last)
    assert predicted == pytest.approx(measured(flow, brought, tasks, last, 1.0), rel=0.1)
