"""Components that Storm restarts without end are so here, after pauses that hold in a drain, too."""

from __future__ import annotations

import itertools
import logging
import signal
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder
from framework.frontends.builder import shell
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import NO_RECORDING
from framework.runtime.tasks.hosts.faults import LONGEST_UNLIMITED_PAUSE_S, RestartBudget
from framework.runtime.tasks.hosts.user_errors import TRIES
from framework.runtime.workers.going_back import TRIES as WORKER_TRIES
from framework.runtime.workers.handle import Phase, WorkerHandle
from framework.runtime.workers.restarts import RestartPolicy
from tests.framework.reliability.pieces import chained
from tests.framework.runtime.pieces import FakeClock, listed, plan_of, polled, run_built

COUNT = 4 * TRIES
FIXTURES = Path(__file__).parents[2] / "fixtures" / "multilang"
DIES = """
import sys, speaking
speaking.run_bolt(lambda tup: sys.exit(1))
"""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    return FakeClock(monkeypatch)


def raising(base: type) -> Any:
    """A bolt on some base whose `process` always raises."""

    def process(self: Any, tup: Any) -> None:
        raise ValueError(f"at {tup.values[0]}")

    return type("Raising", (base,), {"outputs": ["value"], "process": process})


def test_a_ported_bolt_is_restarted_as_often_as_it_raises(
    streamparse: ModuleType, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    source = listed(*([n] for n in range(COUNT)))
    report = run_built(chained(source, raising(streamparse.Bolt)), {"stop": clock})
    counted = report.components["b1"]
    assert counted.restarts in (COUNT - 1, COUNT)  # as nothing needs the last one
    assert (report.lost, report.drained) == (COUNT, True)
    assert clock.now - 1000.0 > 60.0  # by the fake clock: it is no restart after the other
    assert max(clock.rests) <= LONGEST_UNLIMITED_PAUSE_S
    warned = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert any(
        "times so far within 60 s; this run goes on restarting it, as Storm does (viper.restart.tries sets"
        in message
        for message in warned
    )


@pytest.mark.parametrize("options", [{}, {"viper__restart__tries": 3}], ids=["ours", "as configured"])
def test_others_and_those_that_are_configured_have_a_limit(
    streamparse: ModuleType, clock: FakeClock, options: dict[str, Any]
) -> None:
    bolt = raising(streamparse.Bolt if options else Bolt)
    tries = options.get("viper__restart__tries", TRIES)
    source = listed(*([n] for n in range(COUNT)))
    with pytest.raises(ComponentError, match=f"restarted {tries} times within 60 s"):
        run_built(chained(source, bolt), {"stop": clock}, viper__on__error="restart", **options)


def endless() -> Any:
    """A spout that emits 0, 1, ... without end."""
    numbers = itertools.count()
    return polled(lambda self: self.emit([next(numbers)]))


def check_drained(report: RunReport, count: int) -> None:
    """All that was emitted has been taken by the bolt, which was restarted for each."""
    counted = report.components["b1"]
    assert (report.reason, report.emitted, report.drained) == ("max-tuples", count, True)
    assert counted.errors == count and counted.restarts in (count - 1, count)


def test_max_tuples_ends_with_everything_processed_in_time(
    streamparse: ModuleType, clock: FakeClock
) -> None:
    count = 10
    topology = chained(endless(), raising(streamparse.Bolt))
    check_drained(run_built(topology, {"max_tuples": count, "stop": clock}), count)
    assert clock.now - 1000.0 > 2.0


def test_a_drain_ends_with_what_is_left_where_pauses_are_longer(
    streamparse: ModuleType, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    topology = chained(endless(), raising(streamparse.Bolt))
    report = run_built(topology, {"max_tuples": COUNT, "stop": clock})
    counted = report.components["b1"]
    assert (report.reason, report.emitted, report.drained) == ("max-tuples", COUNT, False)
    assert 8 < counted.restarts < 15  # 10 ms, 20 ms ... 5.12 s are 10 s
    said = "not drained within 10 s: b1:1 has raised, and is made again only after its pause"
    assert said in [r.getMessage() for r in caplog.records]


def poison() -> Any:
    """A spout that emits a tuple again and again, as long as it fails."""

    def next_tuple(self: Any) -> None:
        if not self.emitted:
            self.emitted = True
            self.emit([0], tup_id=0)

    def fail(self: Any, tup_id: Any) -> None:
        self.emit([0], tup_id=0)

    return polled(next_tuple, fail=fail, emitted=False)


def test_a_tuple_that_fails_again_and_again_is_no_hot_loop_in_a_drain(
    streamparse: ModuleType, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    report = run_built(chained(poison(), raising(streamparse.Bolt)), {"duration_s": 3, "stop": clock})
    assert (report.reason, report.drained) == ("duration", False)
    assert report.components["b1"].restarts < 15
    assert any("b1:1 has raised, and is made again" in r.getMessage() for r in caplog.records)
    assert report.components["source"].unanswered == 1


def test_so_it_does_with_a_program_that_dies_at_each_tuple(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FIXTURES))
    (tmp_path / "dies.py").write_text(DIES)
    builder = TopologyBuilder()
    builder.set_spout("source", endless())
    program = shell(sys.executable, str(tmp_path / "dies.py"), outputs=["value"])
    builder.set_bolt("b1", program).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("b1")
    count = 4  # each costs the start of a process
    check_drained(run_built(builder, {"max_tuples": count}, viper__drain__timeout__secs=60), count)


def test_pauses_grow_to_a_bound_and_restarts_have_none() -> None:
    budget = RestartBudget(None, 60.0)
    pauses = [budget.take(1000.0) for _ in range(2000)]
    assert pauses[:4] == [0.0, 0.01, 0.02, 0.04]
    assert pauses[-1] == LONGEST_UNLIMITED_PAUSE_S
    assert budget.take(1061.0) == 0.0


@pytest.mark.parametrize("configured", [None, 2])
@pytest.mark.parametrize("ported", [True, False], ids=["ported", "ours"])
def test_a_worker_of_ported_components_alone_is_restarted_without_end(
    streamparse: ModuleType, monkeypatch: pytest.MonkeyPatch, ported: bool, configured: int | None
) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", endless())
    bolt = raising(streamparse.Bolt if ported else Bolt)
    builder.set_bolt("bolt", bolt).shuffle_grouping("source")
    options = {"viper__worker": "process", "topology__workers": 2, "viper__isolated": False}
    plan, settings = plan_of(builder, **options, viper__worker__restart__tries=configured)
    network = Network.create(plan, settings)
    bolts = plan.tasks_of("bolt")[0].id
    index = next(
        i for i, executors in enumerate(plan.placement.processes) if bolts in _tasks(plan, executors)
    )
    process: Any = SimpleNamespace(exitcode=-signal.SIGKILL, pid=1)
    connection: Any = SimpleNamespace()
    worker = WorkerHandle(index + 1, ["bolt"], process, connection, network.black_box(index))
    worker.reached(Phase.READY)
    worker.has_begun = True
    restarts = RestartPolicy(plan, settings, network, NO_RECORDING)
    restarts.run_begins()
    errors = [restarts.died(index, worker, aborted=False) for _ in range(COUNT)]
    limit = WORKER_TRIES if configured is None else configured
    allowed = COUNT if ported and configured is None else limit
    assert [error is None for error in errors] == [n < allowed for n in range(COUNT)]
    assert list(restarts.due(0.0)) == []
    assert list(restarts.due(time.monotonic() + LONGEST_UNLIMITED_PAUSE_S)) == [index]


def _tasks(plan: Any, executors: Any) -> list[int]:
    return [task for executor in executors for task in plan.placement.executors[executor].tasks]
