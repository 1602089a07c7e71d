"""The parametric operators: how their tuples are drawn, what they emit, and the table of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from types import ModuleType
from typing import Any

import pytest

from framework import run
from framework.operators.sinks import CollectingSink
from tests.benchmarks.conftest import Run, number

Load = Callable[[str], ModuleType]


def drawn(module: Any, count: int = 20_000, **given: Any) -> list[tuple[int, float]]:
    return list(islice(module.drawn(module.Given(count, **given)), count))


def test_costs_are_drawn_alike_in_each_tenfold(load_module: Load) -> None:
    module = load_module("parametric")
    costs = [cost for _, cost in drawn(module, cost_us=10.0, spread=100.0)]
    assert min(costs) >= 10 and max(costs) <= 1_000
    assert sum(cost < 100 for cost in costs) / len(costs) == pytest.approx(0.5, abs=0.02)
    assert sum(costs) / len(costs) == pytest.approx(module.Given(1, 10.0, spread=100.0).mean_us, rel=0.03)


def test_one_tuple_in_so_many_is_slow(load_module: Load) -> None:
    module = load_module("parametric")
    given = {"cost_us": 10.0, "slow_every": 4, "slow_us": 900.0}
    costs = [cost for _, cost in drawn(module, 8, **given)]
    assert costs == [10, 10, 10, 900] * 2
    assert module.Given(8, **given).mean_us == sum(costs) / 8


def test_keys_are_skewed_as_their_law_says(load_module: Load) -> None:
    module = load_module("parametric")
    counts = {
        skew: Counter(key for key, _ in drawn(module, skew=skew))
        for skew in ("uniform", "zipf:1", "normal:0.1", "normal:9")
    }
    assert all(set(found) <= set(range(100)) for found in counts.values())
    assert counts["zipf:1"][0] / 20_000 == pytest.approx(0.193, abs=0.02)
    # Within one deviation of the middle, which is five keys, lie 68 percent.
    assert sum(counts["normal:0.1"][key] for key in range(45, 55)) / 20_000 == pytest.approx(0.68, abs=0.03)
    for even in ("uniform", "normal:9"):
        assert max(counts[even].values()) < 300
    with pytest.raises(ValueError, match="expected uniform, zipf:EXPONENT or normal:DEVIATION"):
        module.key_law("poisson:2", 10)


@pytest.mark.parametrize(("selectivity", "outputs"), [(0.5, 20), (1.0, 40), (2.5, 100), (0.0, 0)])
def test_an_operator_emits_as_many_as_its_selectivity_says(
    load_module: Load, selectivity: float, outputs: int
) -> None:
    module = load_module("parametric")
    given = module.Given(40, 1.0, selectivity=selectivity, payload=3, state=20)
    found = {}
    for name in module.PIPELINES:
        topology = module.pipeline(name, given, 3, CollectingSink, {})
        found[name] = [row[:-1] for row in run(topology, worker="inline").result("sink")]
        assert len(found[name]) == outputs
    assert found["stateless"] == found["keyed"] == found["pair"]


@pytest.mark.slow
def test_each_pipeline_has_a_line_for_each_cost_and_place(run_script: Run) -> None:
    brief = ["--seconds=0.02", "--cost", "10", "1000", "--place", "inline", "2 processes"]
    rows = run_script("parametric.py", *brief, "--conf", "viper.slice.tuples=64")
    assert [row[:3] for row in rows] == [
        [name, cost, place]
        for name in ("stateless", "keyed", "pair")
        for cost in ("10", "1,000")
        for place in ("inline", "2 processes")
    ]
    for row in rows:
        operators = 2 if row[0] == "pair" else 1
        assert number(row[5]) >= number(row[1]) * operators  # CPU time is spent, whatever else runs
        assert number(row[6]) <= number(row[7]) <= number(row[8])


@pytest.mark.slow
def test_a_wait_takes_no_cpu_time(run_script: Run) -> None:
    waiting = ["--pipeline=stateless", "--kind=wait", "--cost=20000", "--seconds=0.2", "--place=inline"]
    rows = run_script("parametric.py", *waiting)
    assert number(rows[0][5]) < 20_000
