"""A status that is too large for its black box: what people miss least is left out first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from framework.runtime.execution.executor import Executor
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import ErrorSite
from framework.runtime.observation.statistics import ExecutorStatistics
from framework.runtime.workers.status import Status, StatusWriter, read_status
from viper.arena import Arena
from viper.blackbox import BlackBox

ERRORS = 12
EXECUTOR = ExecutorStatistics(1, ["fails:1"], 0.0, [1.5], 1, 1, 0.0, 0.0)


class Told:
    """A worker with one task that reports so much."""

    def __init__(self, metrics: int, message: int) -> None:
        sites = {
            f"a.py:{n}": ErrorSite(f"a.py:{n}", "ValueError", "щ" * message, 1, 0.0) for n in range(ERRORS)
        }
        given = {f"metric {n}": n for n in range(metrics)}
        self._counters = TaskCounters(processed=7, errors=ERRORS, error_sites=sites, metrics=given)

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        return [{1: self._counters}]

    def statistics(self) -> Sequence[ExecutorStatistics]:
        return [EXECUTOR]

    def threads(self) -> Mapping[int, Executor]:
        return {}


def written(metrics: int, message: int, room: int = 8192) -> Status:
    box = BlackBox.create(Arena.private(BlackBox.size(room) + 4096), room)
    StatusWriter(Told(metrics, message), box).write()
    status = read_status(box)
    assert status is not None and status.counters[1].processed == 7
    return status


def test_what_fits_is_whole() -> None:
    status = written(metrics=3, message=10)
    assert len(status.counters[1].metrics) == 3 and len(status.counters[1].error_sites) == ERRORS


def test_metrics_go_first() -> None:
    status = written(metrics=2_000, message=10)
    assert status.counters[1].metrics == {} and len(status.counters[1].error_sites) == ERRORS
    assert status.executors == [EXECUTOR]


@pytest.mark.parametrize(("room", "longest"), [(8192, 60), (1_600, 0)])
def test_then_messages_get_shorter(room: int, longest: int) -> None:
    status = written(metrics=0, message=300, room=room)
    sites = status.counters[1].error_sites.values()
    assert len(sites) == ERRORS and {len(site.message) for site in sites} == {longest}
    assert status.executors == [EXECUTOR]


def test_then_the_lines_that_raised_go_and_their_number_stays() -> None:
    status = written(metrics=0, message=300, room=900)
    assert (status.counters[1].error_sites, status.counters[1].errors) == ({}, ERRORS)
    assert status.executors == [EXECUTOR]
