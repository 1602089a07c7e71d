"""TStream's applications are plain loops, row for row and table for table, however parallel a run is.

Wherever punctuations fall, and however little room there is between tasks. Every case prints what it was
drawn from, as part of its name.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from framework import TopologyBuilder, run
from framework.operators.sinks import CollectingSink
from framework.planning.validation import validate
from tests.framework.runtime.workers.running import INLINE, Workers
from tests.portions import at_every_change
from tests.topologies.test_stretch import topology
from tests.topologies.transactions.cases import (
    PARAMETERS,
    SEED,
    Expected,
    drawn,
    expected,
    found,
    loop_of,
    part,
    ran,
    sizes,
)
from tests.topologies.transactions.reference import LedgerRules, TollProcessing, TollRules

NAMES = tuple(PARAMETERS)
FORMS = ("tuples", "batches")


@pytest.fixture(scope="module")
def loops(path: None) -> dict[str, Expected]:
    """The right output of each application."""
    return {name: expected(name) for name in NAMES}


def check(report: Any, wanted: Expected) -> None:
    rows, tables = found(report, wanted[1])
    assert rows == wanted[0]
    assert tables == wanted[1]


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
def test_it_is_the_loop(loops: Any, name: str, form: str, workers: Workers, tasks: int) -> None:
    options = sizes(f"{name} {form} {workers} {tasks}")
    print(options)
    report = ran(name, workers, tasks, 1 + tasks % 3, form == "batches", options)
    check(report, loops[name])


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_it_is_for_any_punctuation(loops: Any, name: str, form: str) -> None:
    for gather in (1, 2, 17, 1_000):
        options = {"viper.transactions.gather": gather}
        check(ran(name, INLINE, 2, 2, form == "batches", options), loops[name])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(10))
def test_it_is_for_drawn_numbers_of_tasks(loops: Any, name: str, form: str, seed: int) -> None:
    """Each component has another number of them, on threads."""
    options = sizes(f"{name} {form} {seed}")
    names = ("events", "parser", "auth", "grep", "sum", "deposit", "transfer", "ledger")
    names += ("trade", "speed", "count", "toll")
    tasks = {each: 1 + (seed * 7 + place * 5) % 3 for place, each in enumerate(names)}
    report = ran(name, Workers("thread", 1 + seed % 3), tasks, 1 + seed % 4, form == "batches", options)
    check(report, loops[name])


class TestWhatIsTried:
    """The input has what there are rules for, so that a wrong run could be seen."""

    def test_transfers_and_bids_are_accepted_and_refused(self, loops: Any) -> None:
        transfers = [
            row[1]
            for row, event in zip(loops["streaming_ledger"][0], drawn("streaming_ledger"), strict=True)
            if event[1]
        ]
        bids = [row[2] for row in loops["online_bidding"][0] if row[1] == 0]
        for answers in (transfers, bids):
            assert answers.count(True) > 300 and answers.count(False) > 300

    def test_some_transfers_are_to_the_account_that_they_come_from(self, loops: Any) -> None:
        rows = loops["streaming_ledger"][0]
        same = [event for event in drawn("streaming_ledger") if event[1] and event[2] == event[4]]
        assert any(rows[event[0]][1] for event in same)

    def test_some_lists_name_a_record_twice(self) -> None:
        assert any(len(set(event[2])) < len(event[2]) for event in drawn("grep_sum"))
        assert any(len(set(event[4])) < len(event[4]) for event in drawn("online_bidding"))

    def test_some_tolls_are_asked_for(self, loops: Any) -> None:
        assert 300 < sum(row[4] > 0 for row in loops["toll_processing"][0]) < 2_200


class TestPlantedBugs:
    """Applications with a bug are loops with that bug: so these checks can fail."""

    def test_transfers_as_published_once(self, loops: Any) -> None:
        wrong = loop_of("streaming_ledger")
        wrong.rules = replace(LedgerRules(), credits_of_source=True)
        wanted = expected("streaming_ledger", wrong)
        bolt = part("tests.topologies.transactions.variants").PublishedTransfer
        check(ran("streaming_ledger", INLINE, 2, 2, bolts={"transfer": bolt}), wanted)
        assert wanted[0] != loops["streaming_ledger"][0]

    @pytest.mark.parametrize(
        "order", [("speed", "toll", "count"), ("toll", "count", "speed"), ("count", "toll", "speed")], ids=str
    )
    def test_components_in_another_order(self, loops: Any, order: tuple[str, ...]) -> None:
        wanted = expected("toll_processing", TollProcessing(TollRules(order=order)))
        own = part("transactions.toll_processing")
        bolts = {"speed": own.RoadSpeed, "count": own.VehicleCount, "toll": own.TollNotification}
        spout = part("transactions.spouts").TollProcessing(2_500, SEED, 2, PARAMETERS["toll_processing"])
        builder = TopologyBuilder()
        builder.set_config("viper.time", "event")
        builder.set_spout("events", spout, 2)
        for name in order:
            builder.set_bolt(name, bolts[name], 2).shuffle_grouping("events")
        builder.set_bolt("answers", CollectingSink).global_grouping("toll")
        check(run(builder.build("toll-processing"), conf={"viper.worker": "inline"}), wanted)
        assert wanted[0] != loops["toll_processing"][0]


@pytest.mark.parametrize("name", NAMES)
class TestTopologies:
    def test_the_yaml_is_the_same_application(self, name: str) -> None:
        yaml = topology(f"transactions_{name}.yaml")
        built = getattr(part("transactions_builder"), name)().build(name.replace("_", "-"))
        assert yaml.name == built.name
        assert [each.id for each in yaml.components] == [each.id for each in built.components]
        for component in built.components:
            other = yaml.component(component.id)
            assert other.inputs == component.inputs and other.parallelism == component.parallelism

    def test_neither_form_has_a_problem(self, name: str) -> None:
        builder = getattr(part("transactions_builder"), name)
        for batches in (False, True):
            assert validate(builder(batches=batches).build(name)) == []
        assert validate(topology(f"transactions_{name}.yaml")) == []
