"""The status of a worker process that dies: its counts, its callback, and how much memory it had."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.errors import WorkerError
from framework.operators.sinks import CountingSink
from framework.runtime import Progress, Run
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import NO_RECORDING
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.workers import handle
from framework.runtime.workers.handle import Phase, WorkerHandle, count_oom_kills, death_of
from framework.runtime.workers.restarts import RestartPolicy
from framework.runtime.workers.status import Activity, Status, StatusWriter, read_status
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.components import Endless, Forward
from tests.framework.runtime.workers.conftest import Gate
from tests.framework.runtime.workers.running import PROCESSES, Workers
from tests.framework.runtime.workers.trouble import Doomed

LAST = 500
"""The number of the tuple at which the worker dies."""


def topology(middle: Any = Forward) -> TopologyBuilder:
    """The source is on worker 1, the bolt between on worker 2, the sink on worker 3."""
    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    builder.set_bolt("middle", middle).shuffle_grouping("source")
    builder.set_bolt("sink", CountingSink).global_grouping("middle")
    return builder


class Executioner:
    """Lets a bolt continue to its death when the parent has seen what it has processed, and that it waits."""

    def __init__(self, gate: str) -> None:
        self._gate = gate
        self._door: int | None = None
        """The gate, held open: who waits there continues when it is closed."""
        self._is_done = False
        self.run: Run | None = None
        self.seen = 0

    def look(self, progress: Progress) -> None:
        """Look at the run's progress."""
        assert self.run is not None and self.run._workers is not None
        counts = self.run._workers.counters()
        self.seen = max(self.seen, *(found[1].processed for found in counts if 1 in found), 0)
        if self._is_done:
            return
        if self._door is None:
            self._door = self._door_if_waited_at()
        elif self.seen and any(self._status_says(box) for box in self._boxes()):  # since it waits there
            os.close(self._door)
            self._is_done = True

    def _door_if_waited_at(self) -> int | None:
        try:
            return os.open(self._gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO  # nobody waits there
            return None

    def _boxes(self) -> list[Any]:
        assert self.run is not None
        return [self.run._network.black_box(process) for process in range(3)]

    def _status_says(self, box: Any) -> bool:
        status = read_status(box)
        return status is not None and any(a.task == "middle:1" for a in status.activities)


def test_a_worker_that_is_killed_keeps_its_counts_and_is_named(gate: Gate) -> None:
    go = gate("go")
    executioner = Executioner(go)
    options = {"kill__at": LAST, "gate__go": go, "viper__worker__restart__tries": 0}
    plan, settings = plan_of(topology(Doomed), **PROCESSES.options, **options)
    run = executioner.run = Run(plan, settings, on_progress=executioner.look)
    with pytest.raises(WorkerError) as caught:
        run.execute()
    said = str(caught.value)
    assert said.startswith("worker process 2 (pid ")
    assert (
        ": middle:1) was killed by SIGKILL: what was in flight and the state of its tasks are lost; " in said
    )
    assert " s before: middle:1 in process for " in said
    assert "out of memory" in said
    assert said.endswith(" MiB")
    assert run.report is not None
    assert 0 < executioner.seen <= run.report.components["middle"].processed <= LAST
    assert run.report.components["source"].emitted >= LAST


# -- in words

STATUS = Status(100.0, {}, (), [Activity("middle:1", "process", 88.0)], 3 * 2**20)


def died(exit_code: int, status: Status | None = STATUS, *, given_up: bool = False, kills: int = 0) -> Any:
    return death_of(exit_code, status, given_up=given_up, now_s=100.04, oom_kills=kills)


def test_a_kill_that_nobody_asked_for_may_be_for_want_of_memory() -> None:
    found = died(-signal.SIGKILL)
    assert (found.how, found.peak_bytes) == ("was killed by SIGKILL", 3 * 2**20)
    assert found.doing == "its last report, 0.0 s before: middle:1 in process for 12.0 s"
    assert found.hint == (
        "this run did not send that signal; the system does so when it is out of memory, "
        "and this process had used up to 3 MiB"
    )


def test_where_the_system_has_counted_such_kills_it_is_said() -> None:
    hint = died(-signal.SIGKILL, None, kills=1).hint
    assert hint == "the system was out of memory and has killed processes meanwhile"


@pytest.mark.parametrize(
    ("exit_code", "given_up"), [(-signal.SIGKILL, True), (-signal.SIGSEGV, False), (3, False)]
)
def test_nothing_is_guessed_of_other_deaths(exit_code: int, given_up: bool) -> None:
    assert died(exit_code, given_up=given_up).hint == ""


def test_kills_are_counted_where_the_system_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handle, "VMSTAT", tmp_path / "vmstat")
    assert count_oom_kills() == 0
    (tmp_path / "vmstat").write_text("pgfault 12\noom_kill 7\noom_kill_disable 0\n")
    assert count_oom_kills() == 7


# -- the black box


class Reporter:
    """Stands for a worker of one task that has reported a metric."""

    def __init__(self, metric: Any) -> None:
        self._counters = TaskCounters(processed=7, metrics={"metric": metric})

    def counters(self) -> list[dict[int, TaskCounters]]:
        return [{1: self._counters}]

    def statistics(self) -> list[Any]:
        return []

    def threads(self) -> dict[int, Any]:
        return {}


@pytest.fixture
def network() -> Network:
    return Network.create(*plan_of(topology(), **PROCESSES.options))


@pytest.mark.parametrize(
    ("metric", "kept"), [(1, True), ("x" * 100_000, False), (lambda: 0, False)], ids=["small", "long", "odd"]
)
def test_counts_are_kept_whatever_a_component_has_reported(network: Network, metric: Any, kept: bool) -> None:
    box = network.black_box(1)
    StatusWriter(Reporter(metric), box).write()
    status = read_status(box)
    assert status is not None
    assert status.counters[1].processed == 7
    assert status.counters[1].metrics == ({"metric": metric} if kept else {})
    assert status.peak_bytes > 2**20


# -- a death before the run


def test_a_process_that_dies_before_all_are_ready_has_not_run_for_any_time() -> None:
    """The death was told with the machine's time since its start."""
    plan, settings = plan_of(topology(), **Workers("process", 3).options)
    network = Network.create(plan, settings)
    process: Any = SimpleNamespace(exitcode=-signal.SIGKILL, pid=1)
    worker = WorkerHandle(2, ["middle:1"], process, SimpleNamespace(), network.black_box(1))  # type: ignore[arg-type]
    worker.reached(Phase.READY)
    restarts = RestartPolicy(plan, settings, network, NO_RECORDING)
    assert restarts.died(1, worker, aborted=False) is None
    (incident,) = restarts.incidents
    assert (incident.how, incident.at_s) == ("was killed by SIGKILL before the run began", 0.0)
    restarts.run_begins()
    assert restarts.died(1, worker, aborted=False) is None
    _, incident = restarts.incidents
    assert incident.at_s < 60.0
