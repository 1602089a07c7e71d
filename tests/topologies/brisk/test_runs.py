"""BriskStream's applications are plain loops, row for row, however parallel a run is.

However little room there is between tasks, too. Every case prints what it was drawn from, as part of its
name.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from framework.planning.validation import validate
from tests.framework.runtime.workers.running import INLINE, Workers
from tests.portions import at_every_change
from tests.topologies.brisk.cases import NAMES, Case, part, ran, sizes
from tests.topologies.brisk.reference import SpikeRules
from tests.topologies.test_stretch import topology

FORMS = ("tuples", "batches")
MODEL = os.environ.get("VIPER_TEST_FRAUD_MODEL")
"""DSPBench's file with the Markov model of fraud detection."""
GRID = os.environ.get("VIPER_TEST_SMART_GRID")
"""A file with readings of a smart grid: time, value, property, plug, household and house."""
TASKS = ("lines", "parser", "splitter", "counter", "predictor", "average", "detector", "volume", "status")
TASKS += ("geography", "countries", "stats")


def matrix() -> list[tuple[str, str, Workers, int]]:
    """All of them; the first ones have each application in each form, on workers of all kinds."""
    kinds = (INLINE, Workers("thread", 3), Workers("process", 3), Workers("thread", 2), Workers("process", 2))
    ways = list(product(kinds, (2, 1, 3)))
    applications = list(product(NAMES, FORMS))
    step = 4  # has no divisor in common with the number of ways
    return [
        (*application, *ways[(turn + step * place) % len(ways)])
        for turn in range(len(ways))
        for place, application in enumerate(applications)
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "form", "workers", "tasks"), at_every_change(matrix(), len(NAMES) * len(FORMS)), ids=str
)
def test_it_is_the_loop(
    cases: Mapping[str, Case], name: str, form: str, workers: Workers, tasks: int
) -> None:
    options = sizes(f"{name} {form} {workers} {tasks}")
    print(options)
    assert ran(cases[name], workers, tasks, 1 + tasks % 3, form, options) == cases[name].expected()


@pytest.mark.few(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_it_is_with_as_much_room_as_usual(cases: Mapping[str, Case], name: str, form: str) -> None:
    assert ran(cases[name], INLINE, 2, 2, form) == cases[name].expected()


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seeds", at_every_change([range(6), range(6, 40)]), ids=str)
def test_it_is_for_few_lines_and_drawn_numbers_of_tasks(
    cases: Mapping[str, Case], name: str, form: str, seeds: range
) -> None:
    """Each component has another number of them, inline."""
    for seed in seeds:
        chance = random.Random(f"{name} {form} {seed}")
        rows, injectors = chance.choice((0, 1, 2, chance.randrange(300))), chance.randint(1, 4)
        tasks = {each: chance.randint(1, 3) for each in TASKS}
        options = sizes(f"{name} {form} {seed}")
        print(seed, rows, injectors, tasks, options)
        made = ran(cases[name], INLINE, tasks, injectors, form, options, rows=rows)
        assert made == cases[name].expected(count=rows)


class TestWhatIsTried:
    """The input has what there are rules for, so that a wrong run could be seen."""

    def test_enough_is_told_and_not_told(self, cases: Mapping[str, Case]) -> None:
        frauds = len(cases["fraud_detection"].expected()["sink"])
        spikes = len(cases["spike_detection"].expected()["sink"])
        assert 100 < frauds < len(cases["fraud_detection"].lines) / 2
        assert 20 < spikes < len(cases["spike_detection"].lines) / 2

    def test_windows_of_readings_are_full(self, cases: Mapping[str, Case]) -> None:
        case = cases["spike_detection"]
        assert case.expected(SpikeRules(window=1_000_000)) != case.expected()

    def test_minutes_come_back_from_behind(self, cases: Mapping[str, Case]) -> None:
        volumes = cases["log_processing"].expected()["volumes"]
        minutes = [minute for minute, _ in volumes]
        assert max(minutes) - min(minutes) > 120
        assert sum(count == 1 for _, count in volumes) > len(set(minutes)) + 10

    def test_some_requests_come_from_nowhere(self, cases: Mapping[str, Case]) -> None:
        found = cases["log_processing"].expected()
        assert 100 < len(found["places"]) < len(found["statuses"]) - 100


class TestPlantedBugs:
    """Bolts that break a rule give other rows: so these checks can fail."""

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize(
        ("name", "bolt", "given"),
        [
            ("fraud_detection", "Predictor", {"window": 4}),
            ("fraud_detection", "Predictor", {"threshold": 0.97}),
            ("fraud_detection", "Predictor", {}),
            ("spike_detection", "MovingAverage", {"window": 999}),
            ("spike_detection", "Detector", {"threshold": 0.031}),
            ("log_processing", "Geography", {"seed": 1}),
        ],
        ids=str,
    )
    def test_bolts_that_are_given_something_else(
        self, cases: Mapping[str, Case], form: str, name: str, bolt: str, given: Mapping[str, Any]
    ) -> None:
        own = getattr(part("brisk.batches" if form == "batches" else f"brisk.{name}"), bolt)
        given = {**cases[name].given.get(bolt.lower(), {}), **given} if given else given
        replaced = {{"MovingAverage": "average"}.get(bolt, bolt.lower()): own(**given)}
        assert ran(cases[name], INLINE, 2, 2, form, bolts=replaced) != cases[name].expected()

    @pytest.mark.parametrize("form", FORMS)
    def test_a_ring_of_another_length(
        self, cases: Mapping[str, Case], monkeypatch: pytest.MonkeyPatch, form: str
    ) -> None:
        monkeypatch.setattr(part("brisk.log_processing"), "MINUTES", 59)
        case = cases["log_processing"]
        wrong, right = ran(case, INLINE, 2, 2, form), case.expected()
        assert wrong["volumes"] != right["volumes"]
        assert wrong["statuses"] == right["statuses"] and wrong["places"] == right["places"]


class TestFilesOfOthers:
    @pytest.mark.skipif(MODEL is None, reason="VIPER_TEST_FRAUD_MODEL names no file with DSPBench's model")
    @pytest.mark.parametrize("form", FORMS)
    def test_the_published_model(self, cases: Mapping[str, Case], form: str) -> None:
        assert MODEL is not None
        case = cases["fraud_detection"]
        model = Path(MODEL).read_text().splitlines()
        own = part("brisk.batches" if form == "batches" else "brisk.fraud_detection")
        made = ran(case, INLINE, 2, 2, form, bolts={"predictor": own.Predictor(model=MODEL)})
        assert made == part("tests.topologies.brisk.reference").fraud_detection(case.lines, model)
        assert len(made["sink"]) > 100

    @pytest.mark.skipif(
        GRID is None, reason="VIPER_TEST_SMART_GRID names no file with readings of a smart grid"
    )
    @pytest.mark.parametrize("form", FORMS)
    def test_readings_of_a_smart_grid(self, cases: Mapping[str, Case], form: str) -> None:
        assert GRID is not None
        lines = [line.split() for line in Path(GRID).read_text().splitlines()]
        as_in_a_laboratory = [
            f"2013-09-01 00:00:00 1 {house}-{household}-{plug}-{property} {value} 1 2 3"
            for _, value, property, plug, household, house in lines
        ]
        parser = {
            "tuples": ("brisk.spike_detection", "Parser"),
            "batches": ("brisk.batches", "ReadingParser"),
        }
        module, bolt = parser[form]
        case = Case("spike_detection", Path(GRID), {}, {})
        made = ran(case, INLINE, 2, 2, form, bolts={"parser": getattr(part(module), bolt)("smart_grid")})
        assert made == part("tests.topologies.brisk.reference").spike_detection(as_in_a_laboratory)
        assert len(made["sink"]) > 100


@pytest.mark.parametrize("name", NAMES)
class TestTopologies:
    def test_the_yaml_is_the_same_application(self, name: str) -> None:
        yaml = topology(f"brisk_{name}.yaml")
        built = getattr(part("brisk_builder"), name)().build(name.replace("_", "-"))
        assert yaml.name == built.name
        assert [each.id for each in yaml.components] == [each.id for each in built.components]
        for component in built.components:
            other = yaml.component(component.id)
            assert other.inputs == component.inputs and other.parallelism == component.parallelism

    def test_neither_form_has_a_problem(self, name: str) -> None:
        builder = getattr(part("brisk_builder"), name)
        for batches in (False, True):
            assert validate(builder(batches=batches).build(name)) == []
        assert validate(topology(f"brisk_{name}.yaml")) == []
