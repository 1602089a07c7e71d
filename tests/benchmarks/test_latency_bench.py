"""Latency counts from the schedule, for every tuple but those of the warm-up."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Run, number

Load = Callable[[str], ModuleType]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["inline", "2 processes, 1 hop", "2 processes, 3 hops"])
def test_every_tuple_of_every_spout_is_measured(run_script: Run, place: str) -> None:
    brief = ["--rate=400", "--seconds=0.5", "--warm-up=0.1", "--par=2"]

    rows = run_script("latency.py", "--place", place, *brief)

    assert [row[:2] for row in rows] == [[place, spout] for spout in ("generator", "polled", "blocking")]
    for row in rows:
        *percentiles, tuples = map(number, row[3:-1])
        assert tuples == 200
        assert percentiles == sorted(percentiles) and 0 < percentiles[0] < 1e6


@pytest.mark.slow
def test_each_recovery_has_a_line_beside_the_other(run_script: Run) -> None:
    brief = ["--rate=400", "--seconds=0.5", "--warm-up=0.1"]

    rows = run_script("latency.py", "--recovery", "best", "exact", "--place", "2 processes, 1 hop", *brief)

    of_spouts = [[spout, recovery] for spout in ("generator", "polled") for recovery in ("best", "exact")]
    assert [row[1:3] for row in rows] == of_spouts
    assert all(number(row[-2]) == 200 for row in rows)


def test_a_spout_that_is_held_up_shows_it_in_the_tuples_that_wait(
    load_module: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = [1_000_000]
    monkeypatch.setattr("time.monotonic_ns", lambda: now_ns[0])
    tuples = load_module("pacing").GeneratorSpout(rate=1e6, seconds=5e-6).tuples()

    first = [next(tuples), next(tuples)]
    now_ns[0] += 500_000
    late = list(tuples)

    assert first == [(0, 1_000_000), None]
    assert late == [(key, 1_000_000 + 1000 * key) for key in range(1, 5)]


def test_percentiles_are_those_of_all_tuples_after_the_warm_up(
    load_module: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.monotonic_ns", lambda: 10_000_000)
    sink = load_module("pacing").LatencySink(warm_up=10)

    sink.consume([("key", 0, 0)] * 4)
    sink.consume([("key", 0, 0)] * 6 + [("key", 0, 10_000_000 - 1000 * late) for late in range(1000)])

    assert sink.result() == {"p50": 500, "p99": 990, "p99.9": 999, "max": 999, "tuples": 1000}
