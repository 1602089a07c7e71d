"""Processes that stand by take the place of worker processes that die, and may die themselves at any time."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.planning import WorkerKind
from framework.runtime import Run, RunReport, StopReason, StopSignal
from framework.runtime.workers.messages import TakePlace
from framework.runtime.workers.standby import TRIES, StandbyPool, Started
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.components import Endless, Forward
from tests.framework.runtime.workers.dying import Born, DiesAt, DyingNumbers
from tests.framework.runtime.workers.running import PROCESSES, Workers, every_kind

COUNT = 2_000
DIES_AT = [100, 500, 540, 580, 1_500]


def chain() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_bolt("middle", DiesAt).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    return builder


def run(marks: Path, builder: TopologyBuilder | None = None, **options: Any) -> RunReport:
    chosen = {
        "marks": str(marks),
        "die__at": DIES_AT,
        "topology__acker__executors": 0,
        "viper__standby__workers": 1,
        "viper__worker__restart__tries": 20,
        "viper__slice__tuples": 16,
    }
    return PROCESSES.run(builder or chain(), **{**chosen, **options})


def check(report: RunReport, deaths: int = len(DIES_AT)) -> None:
    """All came in order but for what is told to be lost."""
    found = [row[0] for row in report.result("sink")]
    assert found == sorted(set(found))
    assert len(found) + report.lost == COUNT
    assert len(report.incidents) == deaths


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[str], int]:
    """Count how often a text is in the log."""
    caplog.set_level(logging.INFO, "viperstorm.worker")
    return lambda text: caplog.text.count(text)


class TestTakingPlaces:
    def test_a_process_that_stands_by_goes_on_in_the_place_of_one_that_died(
        self, marks: Path, told: Callable[[str], int]
    ) -> None:
        check(run(marks, die__at=[500]), deaths=1)
        assert told("worker 2 goes on in process") == 1

    def test_deaths_in_a_row_that_come_faster_than_processes_to_stand_by(self, marks: Path) -> None:
        check(run(marks))

    def test_a_spout_and_a_sink_go_on_there(self, marks: Path, told: Callable[[str], int]) -> None:
        report = run(marks, spout__dies__at=COUNT - 1, die__at=[])
        assert [incident.worker for incident in report.incidents] == [1]
        assert told("worker 1 goes on in process") == 1

    def test_components_are_made_only_there(self, marks: Path) -> None:
        builder = TopologyBuilder()
        builder.set_spout("source", DyingNumbers, args=[COUNT])
        builder.set_bolt("middle", Born, args=[str(marks)]).shuffle_grouping("source")
        builder.set_bolt("sink", CollectingSink).global_grouping("middle")
        check(run(marks, builder, viper__standby__workers=3, die__at=[500]), deaths=1)
        assert len(list(marks.glob("born-*"))) == 2

    def test_none_is_started_where_a_death_ends_the_run(
        self, marks: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(StandbyPool, "fill", lambda pool: pytest.fail("it has filled it"))
        check(run(marks, viper__worker__restart__tries=0, die__at=[]), deaths=0)


class TestTheirOwnDeaths:
    def test_killed_as_they_are_made(
        self, marks: Path, monkeypatch: pytest.MonkeyPatch, told: Callable[[str], int]
    ) -> None:
        """Then no more are made, and the worker continues in a process of its own."""
        fill = StandbyPool.fill

        def fill_and_kill(pool: StandbyPool) -> None:
            before = set(pool._processes)
            fill(pool)
            for connection in set(pool._processes) - before:
                os.kill(pool._processes[connection].pid or 0, signal.SIGKILL)

        monkeypatch.setattr(StandbyPool, "fill", fill_and_kill)
        stop = StopSignal()
        hear = StandbyPool.hear

        def hear_and_stop(pool: StandbyPool, connection: Connection) -> None:
            hear(pool, connection)
            if pool._failed == TRIES:
                stop.request(StopReason.INTERRUPTED)

        monkeypatch.setattr(StandbyPool, "hear", hear_and_stop)
        assert endless(stop).drained
        assert told("which was to stand by, has ended; another one is started") == TRIES - 1
        assert told("no further process is to stand by in this run") == 1

    def test_killed_while_they_stand_by(
        self, monkeypatch: pytest.MonkeyPatch, told: Callable[[str], int]
    ) -> None:
        """They are replaced, as often as that may be."""
        killed: list[int] = []
        stop = StopSignal()
        hear = StandbyPool.hear

        def hear_and_kill(pool: StandbyPool, connection: Connection) -> None:
            hear(pool, connection)
            for ready in pool._ready:
                pid = pool._processes[ready].pid or 0
                if pid not in killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
            if len(killed) > TRIES + 1:
                stop.request(StopReason.INTERRUPTED)

        monkeypatch.setattr(StandbyPool, "hear", hear_and_kill)
        assert endless(stop, viper__standby__workers=2).drained
        assert told("which stood by, has ended; another one is started") >= TRIES
        assert told("no further process") == 0

    @pytest.mark.parametrize("is_told", [True, False])
    def test_killed_as_one_gets_a_place(
        self, is_told: bool, marks: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is known that it has ended, and another process is started; or it dies with the place."""
        take = StandbyPool.take

        def kill_and_take(pool: StandbyPool, place: TakePlace) -> Started | None:
            monkeypatch.setattr(StandbyPool, "take", take)
            (process,) = pool._processes.values()
            if is_told:
                process.kill()
                process.join()
                return take(pool, place)
            os.kill(process.pid or 0, signal.SIGSTOP)  # so that it does not come to read of its place
            taken = take(pool, place)
            process.kill()
            return taken

        monkeypatch.setattr(StandbyPool, "take", kill_and_take)
        check(run(marks, die__at=[500]), deaths=1 if is_told else 2)

    def test_what_cannot_be_imported_is_told(
        self, marks: Path, monkeypatch: pytest.MonkeyPatch, told: Callable[[str], int]
    ) -> None:
        """Their modules may have been taken away since the workers were started."""
        stop = StopSignal()
        hear = StandbyPool.hear

        def hear_and_stop(pool: StandbyPool, connection: Connection) -> None:
            hear(pool, connection)
            if pool._failed == TRIES:
                stop.request(StopReason.INTERRUPTED)

        monkeypatch.setattr(StandbyPool, "hear", hear_and_stop)
        monkeypatch.setattr(
            "framework.runtime.workers.launcher.Launcher._started_to_stand_by",
            lambda launcher: launcher._start("viper-standby", b"no job"),
        )
        assert endless(stop).drained
        assert told("UnpicklingError") == TRIES


def endless(stop: StopSignal, **options: Any) -> RunReport:
    """Run until it is stopped."""
    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    builder.set_bolt("middle", Forward).shuffle_grouping("source")
    chosen = {"viper__standby__workers": 1, "topology__acker__executors": 0}
    return Run(*plan_of(builder, **PROCESSES.options, **{**chosen, **options}), stop=stop).execute()


@every_kind
def test_only_processes_are_stood_by_for(workers: Workers) -> None:
    plan, _ = plan_of(chain(), **workers.options, viper__standby__workers=2)
    assert plan.placement.standbys == (2 if plan.placement.kind is WorkerKind.PROCESS else 0)
