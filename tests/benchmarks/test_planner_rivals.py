from dataclasses import replace

import pytest

from benchmarks.planner.fixed import always_far, never_far
from benchmarks.planner.rivals import first_fit, main
from framework.optimizer.costs import ComponentCost, Deployment, StreamCost
from tests.framework.optimizer.search.problems import chain, sockets

PROBLEM = chain({"spout": 100, "bolt": 200}, sockets(2, 2, 30.0), size=130)


def test_capacities_are_the_same_wherever_a_task_is() -> None:
    for seen, ns in ((always_far(PROBLEM), 200 + 3 * 30), (never_far(PROBLEM), 200)):
        for place in (0, 1):
            tasks = seen.predicted(Deployment({"spout": (0,), "bolt": (place,)})).tasks
            assert (tasks["spout", 0], tasks["bolt", 0]) == (pytest.approx(100), pytest.approx(ns))


def test_so_they_are_where_tuples_are_encoded() -> None:
    costs = {"spout": ComponentCost(100, {"default": StreamCost(2, 130, encode_ns=40, decode_ns=70)})}
    costs["bolt"] = ComponentCost(200)
    problem = replace(PROBLEM, profile=replace(PROBLEM.profile, components=costs))
    for seen, spout, bolt in (
        (always_far(problem), 100 + 2 * 40, 2 * (200 + 3 * 30 + 70)),
        (never_far(problem), 100, 400),
    ):
        for place in (0, 1):
            tasks = seen.predicted(Deployment({"spout": (0,), "bolt": (place,)})).tasks
            assert (tasks["spout", 0], tasks["bolt", 0]) == (pytest.approx(spout), pytest.approx(bolt))


def test_first_fit_fills_a_socket_before_it_takes_the_next() -> None:
    assert first_fit(PROBLEM, {"spout": 1, "bolt": 2}).tasks == {"spout": (0,), "bolt": (0, 1)}
    assert first_fit(PROBLEM, {"spout": 1, "bolt": 5}).tasks["bolt"] == (0, 1, 1, 1, 1)


def test_the_program_prints_all_plans_and_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--sockets", "1", "--plans", "3", "--nodes", "20"])
    printed = capsys.readouterr().out
    for name in ("**Word count**", "**Linear road**", "RLAS_fix(L)", "RLAS_fix(U)", "first fit", "| 15 |"):
        assert name in printed
