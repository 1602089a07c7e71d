"""Runs of bolts that keep lists and maps: on workers of every kind the output is that of plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Grouping, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from tests.framework.operators.state.gathering import (
    RAISES_AT,
    Dies,
    Gathers,
    Hoards,
    Numbered,
    OfTheTask,
    Raises,
    gathered,
)
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import PROCESSES, Workers, every_kind
from tests.portions import at_every_change

COUNT = 150
NUMBERED: list[tuple[Any, int]] = [(key, number) for key, number in Numbered(COUNT).tuples()]


def topology(bolt: type[Bolt], par: int, grouping: Grouping | None = None) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbered, kwargs={"count": COUNT})
    builder.set_bolt("bolt", bolt, par).grouping("numbers", grouping or Grouping.fields("key"))
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return builder


def output(report: RunReport) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = report.result("sink")
    return found


@pytest.fixture(scope="module")
def expected() -> list[tuple[Any, Any]]:
    return gathered(NUMBERED)


@every_kind
@pytest.mark.parametrize("par", at_every_change([3, 1]))
def test_the_output_is_that_of_plain_python(par: int, workers: Workers, expected: list[Any]) -> None:
    assert output(workers.run(topology(Gathers, par))) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"viper__key__groups": 4},
        {"viper__slice__tuples": 1},
        {"viper__jumbo__size": 1},
        {"viper__state__bytes": 1 << 20},
        {"viper__on__error": "skip"},
    ],
    ids=str,
)
def test_it_does_not_depend_on_the_configuration(options: dict[str, Any], expected: list[Any]) -> None:
    assert output(run_built(topology(Gathers, 3), **options)) == expected


@every_kind
@pytest.mark.parametrize("choice", ["skip", "restart"])
def test_a_tuple_that_raised_has_changed_nothing(choice: str, workers: Workers) -> None:
    options = {"viper__on__error": choice, "viper__slice__tuples": 20}
    report = workers.run(topology(Raises, 2), topology__acker__executors=0, **options)
    assert output(report) == gathered((key, number) for key, number in NUMBERED if number not in RAISES_AT)


@pytest.mark.parametrize("at", [[0], [70, 71, 140]], ids=str)  # 71 may be lost with 70
def test_a_killed_worker_leaves_what_whole_slices_have_gathered(at: list[int], marks: Path) -> None:
    """Tuples that the dead had taken are lost; of all others each state knows, and all know of the same."""
    options = {"die__at": at, "marks": str(marks), "topology__acker__executors": 0}
    report = PROCESSES.run(topology(Dies, 1), **options, viper__slice__tuples=8)
    deaths = len(report.incidents)
    assert 1 <= deaths <= len(at)
    assert [incident.state_lost for incident in report.incidents] == [[]] * deaths
    key, held = output(report)[-1]
    kept = [(key, number) for number in held[0]]
    assert gathered(kept)[-1] == (key, held)
    assert len(kept) >= len([1 for other, _ in NUMBERED if other == key]) - report.lost - 8 * deaths


@every_kind
def test_state_of_a_task_is_of_all_that_it_gets(workers: Workers) -> None:
    found = output(workers.run(topology(OfTheTask, 1, Grouping.SHUFFLE)))
    assert [held for _, held in found] == [(n, n + 1, n) for n in range(1, COUNT + 1)]


@every_kind
def test_a_list_that_finds_no_room_names_its_state(workers: Workers) -> None:
    with pytest.raises(ComponentError, match=r"state hoard has no room for more: raise viper.state.bytes"):
        workers.run(topology(Hoards, 2), viper__state__bytes=1 << 20)


def test_statistics_count_keys() -> None:
    report = run_built(topology(Gathers, 2))
    assert {state.state: state.keys for state in report.statistics.states} == {
        **dict.fromkeys(["numbers", "notes", "tallies"], len({key for key, _ in NUMBERED})),
        **dict.fromkeys(["texts", "details"], len({key for key, _ in NUMBERED}) - 1),  # cleared at 149
    }
