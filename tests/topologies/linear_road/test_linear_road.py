"""Linear Road: its answers are those of a plain loop, row for row, however parallel the run is."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framework import run
from framework.sinks import CollectingSink
from framework.validation import validate
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.topologies.linear_road.reference import Reference, Rules
from tests.topologies.test_stretch import topology

TOPOLOGIES = Path(__file__).parents[3] / "topologies"
SECONDS = 450
TRAFFIC = {"vehicles": 30.0, "peak_s": 150.0, "crowd": 60.0, "accidents": 1 / 15}
"""So many that tolls are asked for within minutes."""
SMALL = os.environ.get("VIPER_TEST_LINEAR_ROAD")
"""A folder with small_50k.csv, lines of the benchmark's own generator, and small_50k.expected.csv."""


@pytest.fixture(scope="module", autouse=True)
def application() -> Iterator[Any]:
    """The modules of the application."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOPOLOGIES))
        __import__("linear_road_builder")
        __import__("linear_road.generator")
        yield sys.modules["linear_road_builder"]


@pytest.fixture(scope="module")
def generator(application: Any) -> Any:
    return sys.modules["linear_road.generator"]


@pytest.fixture(scope="module")
def lines(generator: Any) -> list[tuple[int, ...]]:
    drawn = generator.Generator(1, 7, generator.Traffic(**TRAFFIC))
    return [tuple(map(int, line)) for _ in range(SECONDS) for line in drawn.second()]


@pytest.fixture(scope="module")
def paid(generator: Any, lines: list[tuple[int, ...]]) -> Mapping[tuple[int, int, int], int]:
    """Of every vehicle but some, by vehicle, day and expressway."""
    vehicles = max(line[2] for line in lines) * 9 // 10
    read = (map(int, line.split(",")) for line in generator.history(vehicles, 1, 12))
    return {(vid, day, xway): toll for vid, day, xway, toll in read}


@pytest.fixture(scope="module")
def expected(lines: list[tuple[int, ...]], paid: Mapping[tuple[int, int, int], int]) -> list[str]:
    return list(Reference(paid).answers(lines))


def answered(
    application: Any, tmp_path: Path, paid: Any, injectors: int, tasks: int, workers: Workers
) -> list[str]:
    history = tmp_path / "history.csv"
    history.write_text("".join(f"{v},{d},{x},{toll}\n" for (v, d, x), toll in paid.items()))
    spouts = sys.modules["linear_road.spouts"]
    cars = spouts.Generated(SECONDS, 1, 7, injectors, TRAFFIC)
    builder = application.linear_road(cars, CollectingSink, tasks, str(history))
    options = {key.replace("__", "."): value for key, value in workers.options.items()}
    report = run(builder.build("linear-road"), conf=options)
    return [line for (line,) in report.result("answers")]


def test_the_input_has_all_that_there_are_rules_for(
    lines: list[tuple[int, ...]], expected: list[str]
) -> None:
    assert [line[1] for line in lines] == sorted(line[1] for line in lines)
    rows = [tuple(map(int, answer.split(","))) for answer in expected]
    kinds = Counter(row[0] for row in rows)
    assert min(kinds[type] for type in (0, 1, 2, 3)) >= 30
    assert sum(row[0] == 0 and row[4] > 0 for row in rows) >= 1_000
    assert sum(row[0] == 2 and row[3] > 0 for row in rows) >= 20
    where = {(row[3], row[4]) for row in rows if row[0] == 1}
    assert {dir for _, dir in where} == {0, 1}


def test_the_answers_are_those_of_the_reference(
    application: Any, tmp_path: Path, paid: Any, expected: list[str]
) -> None:
    assert answered(application, tmp_path, paid, 2, 2, INLINE) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("injectors", "tasks"), [(1, 3), (3, 2), (4, 1), (6, 6)])
@pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)
def test_they_are_for_any_injectors_tasks_and_workers(
    application: Any,
    tmp_path: Path,
    paid: Any,
    expected: list[str],
    injectors: int,
    tasks: int,
    workers: Workers,
) -> None:
    assert answered(application, tmp_path, paid, injectors, tasks, workers) == expected


MUTATED: Mapping[str, Any] = {
    "crowd": 51,
    "slow": 39,
    "minutes": 4,
    "rounds_up": False,
    "stopped_after": 5,
    "reach": 3,
    "told_after": 0,
    "exit": 5,
    "charged_at_once": True,
    "queries_behind": False,
}


@pytest.mark.parametrize("rule", [each.name for each in fields(Rules)])
def test_each_rule_decides_an_answer(
    rule: str, lines: list[tuple[int, ...]], paid: Any, expected: list[str]
) -> None:
    changed = replace(Rules(), **{rule: MUTATED[rule]})
    assert list(Reference(paid, changed).answers(lines)) != expected


@pytest.mark.skipif(SMALL is None, reason="VIPER_TEST_LINEAR_ROAD names no folder with small_50k.csv")
@pytest.mark.parametrize(("injectors", "tasks"), [(1, 1), (2, 3), (6, 2)])
def test_fifty_thousand_lines_of_the_benchmark(application: Any, injectors: int, tasks: int) -> None:
    assert SMALL is not None
    lines = sys.modules["linear_road.spouts"].Lines(f"{SMALL}/small_50k.csv", injectors)
    report = run(application.linear_road(lines, CollectingSink, tasks).build("linear-road"), worker="inline")
    found = "".join(f"{line}\n" for (line,) in report.result("answers"))
    assert found == Path(SMALL, "small_50k.expected.csv").read_text()


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

    def test_vehicles_report_every_thirty_seconds_until_they_leave(
        self, lines: list[tuple[int, ...]]
    ) -> None:
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
