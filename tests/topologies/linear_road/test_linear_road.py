"""Linear Road: its answers are those of a plain loop, row for row, however parallel the run is."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.linear_road_loop import answers as plainly_answered
from framework import run
from framework.operators.sinks import CollectingSink
from framework.planning.validation import validate
from tests.framework.runtime.workers.running import INLINE, Workers
from tests.topologies.linear_road.conftest import SECONDS, SEED, TRAFFIC, Lines, Paid
from tests.topologies.linear_road.reference import Reference, Rules
from tests.topologies.linear_road.scenes import SCENES
from tests.topologies.test_stretch import topology

INPUTS = os.environ.get("VIPER_TEST_LINEAR_ROAD")
"""A folder with small_50k.csv, lines of the benchmark's own generator, two_rules.csv, and the answers to each
(small_50k.expected.csv), which come from another reference than ours."""


def answered(application: Any, history: str, injectors: int, tasks: int, workers: Workers) -> list[str]:
    spouts = sys.modules["linear_road.spouts"]
    cars = spouts.Generated(SECONDS, 1, SEED, injectors, TRAFFIC)
    builder = application.linear_road(cars, CollectingSink, tasks, history)
    options = {key.replace("__", "."): value for key, value in workers.options.items()}
    report = run(builder.build("linear-road"), conf=options)
    return [line for (line,) in report.result("answers")]


@pytest.mark.slow(daily=True)
def test_the_input_has_all_that_there_are_rules_for(
    lines: Lines, reference: tuple[Reference, list[str]]
) -> None:
    done, answers = reference
    assert [line[1] for line in lines] == sorted(line[1] for line in lines)
    assert lines[-1][1] + 1 == SECONDS >= 20 * 60
    rows = [tuple(map(int, answer.split(","))) for answer in answers]
    kinds = Counter(row[0] for row in rows)
    assert kinds.keys() == {0, 1, 2, 3} and min(kinds.values()) >= 30
    assert sum(row[0] == 0 and row[4] > 0 for row in rows) >= 1_000
    assert sum(row[0] == 2 and row[3] > 0 for row in rows) >= 1_000
    told, cleared = Counter(row[4] for row in rows if row[0] == 1), Counter(dir for _, dir, _ in done.cleared)
    assert min(told[dir] for dir in (0, 1)) >= 1_000 and min(cleared[dir] for dir in (0, 1)) >= 5


@pytest.mark.slow
def test_the_answers_are_those_of_the_reference(application: Any, history: str, expected: list[str]) -> None:
    assert answered(application, history, 2, 2, INLINE) == expected


def pairwise() -> list[tuple[int, int, Workers]]:
    """Injectors, tasks and workers: any two of injectors, tasks, kind and number of workers come together."""
    found = []
    for (place, tasks), injectors in product(enumerate((1, 2, 3, 6)), range(1, 7)):
        kind, number = (injectors + place) % 3, (injectors - place) % 3 + 1
        workers = (INLINE, Workers("thread", number), Workers("process", number))[kind]
        found.append((injectors, tasks, workers))
    return found


# Each takes seconds, as there are no less rows in which so many tolls are owed.
@pytest.mark.slow
@pytest.mark.parametrize(("injectors", "tasks", "workers"), pairwise(), ids=str)
def test_they_are_for_any_injectors_tasks_and_workers(
    application: Any, history: str, expected: list[str], injectors: int, tasks: int, workers: Workers
) -> None:
    assert answered(application, history, injectors, tasks, workers) == expected


MUTATED: Mapping[str, Any] = {
    "crowd": 51,
    "counted_before": 2,
    "counts_each_once": False,
    "factor": 3,
    "slow": 39,
    "minutes": 4,
    "rounds_up": False,
    "stopped_after": 5,
    "stopped_together": 3,
    "clears": False,
    "told_of_cleared": False,
    "reach": 3,
    "tells_first": False,
    "frees": False,
    "told_after": 0,
    "exit": 5,
    "charged_at_exit": False,
    "exit_is_free": False,
    "charged_at_once": True,
    "queries_behind": False,
}


@pytest.mark.slow(daily=True)
def test_the_loop_of_the_benchmark_answers_likewise(lines: list[tuple[int, ...]]) -> None:
    assert plainly_answered(lines) == list(Reference().answers(lines))


@pytest.mark.few(6)
@pytest.mark.parametrize("rule", [each.name for each in fields(Rules)])
def test_each_rule_decides_an_answer(rule: str, lines: Lines, paid: Paid, expected: list[str]) -> None:
    changed = replace(Rules(), **{rule: MUTATED[rule]})
    scenes = [(scene.lines, list(Reference().answers(scene.lines))) for scene in SCENES]
    assert any(
        list(Reference(paid, changed).answers(given)) != answers
        for given, answers in ((lines, expected), *scenes)
    )


@pytest.mark.skipif(INPUTS is None, reason="VIPER_TEST_LINEAR_ROAD names no folder with answers")
@pytest.mark.parametrize("name", ["small_50k", "two_rules"])
@pytest.mark.parametrize(("injectors", "tasks"), [(1, 1), (2, 3), (6, 2)])
def test_the_answers_are_those_of_another_reference(
    application: Any, name: str, injectors: int, tasks: int
) -> None:
    assert INPUTS is not None
    lines = sys.modules["linear_road.spouts"].Lines(f"{INPUTS}/{name}.csv", injectors)
    report = run(application.linear_road(lines, CollectingSink, tasks).build("linear-road"), worker="inline")
    found = "".join(f"{line}\n" for (line,) in report.result("answers"))
    assert found == Path(INPUTS, f"{name}.expected.csv").read_text()


def test_the_yaml_is_the_same_application(application: Any) -> None:
    found, built = topology("linear_road.yaml"), application.topology
    assert not [problem for problem in validate(found) if not problem.warning]
    for component in built.components:
        other = found.component(component.id)
        assert other.inputs == component.inputs and other.parallelism == component.parallelism


class TestGenerator:
    def test_a_seed_draws_the_same_once_more(self, generator: Any) -> None:
        one, two, other = (generator.Generator(2, seed) for seed in (1, 1, 2))
        differs = False
        for _ in range(90):
            drawn = one.second()
            assert np.array_equal(drawn, two.second())
            differs |= not np.array_equal(drawn, other.second())
        assert differs

    def test_vehicles_report_every_thirty_seconds_until_they_leave(self, lines: Lines) -> None:
        by_vehicle: dict[int, list[tuple[int, ...]]] = {}
        for line in lines:
            if line[0] == 0:
                by_vehicle.setdefault(line[2], []).append(line)
        for reports in by_vehicle.values():
            times = [line[1] for line in reports]
            assert times == list(range(times[0], times[0] + 30 * len(times), 30))
            lanes = [line[5] for line in reports]
            assert lanes[0] == 0 and 0 not in lanes[1:] and 4 not in lanes[:-1]
            assert all(line[7] == line[8] // 5280 for line in reports)
            assert times[-1] >= SECONDS - 30 or lanes[-1] == 4
