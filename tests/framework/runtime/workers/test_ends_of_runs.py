"""Worker processes that die before the run has begun, or after their tasks have ended, are started again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from framework import Bolt, SeekableSpout, TopologyBuilder, ValueState
from framework.model.errors import SuspendError, WorkerError
from framework.operators.sinks import CollectingSink, JsonLinesSink
from framework.runtime import Progress, Run, RunOptions, RunReport
from framework.runtime.coordination.stop import StopReason
from framework.runtime.workers.handle import Phase, WorkerHandle
from tests.framework.runtime.durability.checkpoints.suspended import SIGNAL, heard, suspending
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.components import Forward, open_gate, wait_at
from tests.framework.runtime.workers.conftest import Gate
from tests.framework.runtime.workers.dying import DiesInClose, DiesInInitialize, die
from tests.framework.runtime.workers.running import PROCESSES, Workers
from tests.framework.runtime.workers.test_restarts import COUNT, chain, run, values

BEFORE, BEHIND = "before the run began", "after its tasks had ended"
Kills = Callable[[WorkerHandle], bool]


@contextmanager
def killing(phase: Phase, chosen: Kills) -> Iterator[list[int]]:
    """While the block runs, workers are killed as soon as they have told that they have come to a phase."""
    reached, begin, dead = WorkerHandle.reached, WorkerHandle.begin, list[int]()

    def note(self: WorkerHandle, now: Phase) -> None:
        reached(self, now)
        if now is phase and chosen(self):
            assert self.process.pid is not None
            os.kill(self.process.pid, signal.SIGKILL)
            dead.append(self.number)

    def begin_later(self: WorkerHandle) -> None:
        """Let no process run tasks that is killed before: a successor may begin as soon as it is ready."""
        if phase is Phase.READY and chosen(self):
            self.has_begun = True
        else:
            begin(self)

    with patch.object(WorkerHandle, "reached", note), patch.object(WorkerHandle, "begin", begin_later):
        yield dead


def first_of_second(worker: WorkerHandle) -> bool:
    """The first process of worker 2."""
    return worker.number == 2 and not worker.attempt


def firsts(worker: WorkerHandle) -> bool:
    """The first process of each worker."""
    return not worker.attempt


def seconds(worker: WorkerHandle) -> bool:
    """The first process of worker 2, and the one that takes its place."""
    return worker.number == 2 and worker.attempt < 2


# -- whatever is lost with a process


@pytest.mark.parametrize("chosen", [first_of_second, firsts, seconds], ids=lambda kills: kills.__name__)
def test_one_that_dies_before_the_run_begins(chosen: Kills, marks: Path) -> None:
    with killing(Phase.READY, chosen) as dead:
        report = run(chain(Forward), marks)
    assert values(report) == list(range(COUNT))
    assert sorted(incident.worker for incident in report.incidents) == sorted(dead)
    for incident in report.incidents:  # of the last to be ready, it may be heard when the others run already
        assert incident.how in ("was killed by SIGKILL", f"was killed by SIGKILL {BEFORE}")
        assert incident.lost == 0 and (BEFORE not in incident.how or not incident.state_lost)


def test_one_that_dies_once_while_its_components_are_made(marks: Path) -> None:
    report = run(chain(DiesOnce), marks)
    (incident,) = report.incidents
    assert incident.how == "was killed by SIGKILL while its components were made and initialized"
    assert (incident.worker, incident.lost, incident.state_lost) == (2, 0, ())
    assert values(report) == list(range(COUNT))


def test_one_that_dies_there_and_leaves_a_process_with_its_pipe(marks: Path, gate: Gate) -> None:
    heir = gate("heir")
    report = run(chain(LeavesHeirAtOnce), marks, gate__heir=heir)
    (incident,) = report.incidents
    assert incident.how == "was killed by SIGKILL while its components were made and initialized"
    assert values(report) == list(range(COUNT))
    open_gate(heir)


@pytest.mark.parametrize("tries", [1, 3])
def test_one_that_dies_there_each_time_ends_the_run(tries: int, marks: Path) -> None:
    with pytest.raises(WorkerError) as caught:
        run(chain(DiesInInitialize), marks, die__first=True, viper__worker__restart__tries=tries)
    assert (
        "middle:1) was killed by SIGKILL while its components were made and initialized; it is not "
        f"restarted, as {tries} restarts within 60 s are the limit"
    ) in str(caught.value)
    assert "in flight" not in str(caught.value)


def test_none_is_restarted_where_the_configuration_says_so(marks: Path) -> None:
    with pytest.raises(WorkerError, match=r"middle:1\) was killed by SIGKILL while its components were made"):
        run(chain(DiesInInitialize), marks, die__first=True, viper__worker__restart__tries=0)


@pytest.mark.parametrize("limits", [{}, {"max_tuples": COUNT // 2}], ids=["exhausted", "drained"])
def test_one_whose_tasks_have_ended(limits: dict[str, Any], marks: Path) -> None:
    with killing(Phase.RAN, lambda worker: worker.number < 3 and firsts(worker)):
        report = run(chain(Forward), marks, limits)
    assert values(report) == list(range(limits.get("max_tuples", COUNT)))
    assert {incident.how for incident in report.incidents} == {f"was killed by SIGKILL {BEHIND}"}
    assert sorted(incident.worker for incident in report.incidents) == [1, 2]
    assert report.lost == 0 and report.drained
    assert report.components["middle"].processed == limits.get("max_tuples", COUNT)


def test_the_rows_in_memory_of_a_sink_that_had_ended_are_told_to_be_lost(marks: Path) -> None:
    with killing(Phase.RAN, lambda worker: worker.number == 3 and firsts(worker)):
        report = run(chain(Forward), marks)
    (incident,) = report.incidents
    assert (incident.how, incident.state_lost) == (f"was killed by SIGKILL {BEHIND}", ["sink"])
    assert values(report) == []
    assert report.components["sink"].processed == COUNT


def test_one_that_dies_in_close_each_time_ends_the_run(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Ten)
    builder.set_bolt("last", DiesInClose).shuffle_grouping("source")
    with pytest.raises(WorkerError) as caught:
        run(builder, marks, workers=Workers("process", 2))
    assert f"last:1) was killed by SIGKILL {BEHIND}" in str(caught.value)
    assert "it is not restarted, as 3 restarts within 60 s are the limit" in str(caught.value)


def test_all_at_once_are_one_restart(marks: Path) -> None:
    """As when the system ends all of them together."""
    builder, workers = TopologyBuilder(), Workers("process", 6)
    builder.set_spout("source", Ten)
    for name, before in zip("abcd", ("source", *"abc"), strict=True):
        builder.set_bolt(name, Forward).shuffle_grouping(before)
    builder.set_bolt("sink", CollectingSink).global_grouping("d")
    with killing(Phase.READY, firsts):
        report = run(builder, marks, workers=workers, viper__worker__restart__tries=6)
    assert len(report.incidents) == 6 and values(report) == list(range(10))


def test_one_that_is_stopped_and_goes_on_is_waited_for(marks: Path) -> None:
    """With SIGSTOP and SIGCONT, as a debugger or a freezer of the system does."""
    stopped: list[int] = []
    reached = WorkerHandle.reached

    def stop(self: WorkerHandle, now: Phase) -> None:
        reached(self, now)
        if now is Phase.READY and self.number == 2 and self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGSTOP)
            stopped.append(self.process.pid)

    def go_on(progress: Progress) -> None:
        if progress.elapsed_s and stopped:
            os.kill(stopped.pop(), signal.SIGCONT)

    with patch.object(WorkerHandle, "reached", stop):
        report = run(chain(Forward), marks, {"on_progress": go_on})
    assert values(report) == list(range(COUNT)) and not report.incidents


# -- from a checkpoint


class Ten(SeekableSpout):
    """Emits (0) to (9), or to one less than `count`; has its `leader` suspend the run in the middle."""

    outputs = ["number"]

    def __init__(self, count: int = 10, leader: int = 0) -> None:
        super().__init__()
        self._number, self._count, self._leader = 0, count, leader

    def tuples(self) -> Iterator[list[Any] | None]:
        for number in range(self._number, self._count):
            if number == self.storm_conf.get("stumbles"):
                self._stumble()
            self._number = number + 1
            yield [number]
            if self._leader and number == self._count // 2:
                os.kill(self._leader, SIGNAL)
                while not heard(self._leader).exists():
                    yield None

    def _stumble(self) -> None:
        """Die once in a run."""
        mark = Path(self.storm_conf["marks"]) / "stumbled"
        if not mark.exists():
            mark.touch()
            die()

    def offset(self) -> int:
        return self._number

    def seek(self, offset: int) -> None:
        self._number = offset


class DiesOnce(DiesInInitialize):
    """As `DiesInInitialize`, in the first process only."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        mark = Path(storm_conf["marks"]) / "made"
        if not mark.exists():
            mark.touch()
            die()


class LeavesHeirAtOnce(DiesOnce):
    """As `DiesOnce`; leaves a process behind with all that it had open, until ``gate.heir`` is opened."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        if not (Path(storm_conf["marks"]) / "made").exists() and os.fork() == 0:
            wait_at(storm_conf["gate.heir"])
            os._exit(0)
        super().initialize(storm_conf, context)


class Sums(Bolt):
    """Emits the sum of all so far; `close` writes down the last one."""

    outputs = ["sum"]
    total = ValueState("int64", default=0, per="task")

    def process(self, tup: Any) -> None:
        self.total.value += tup.values[0]
        self.emit([self.total.value])

    def close(self) -> None:
        (Path(self.storm_conf["marks"]) / "closed").write_text(f"{self.total.value}")


def summing(folder: Path, leader: int) -> TopologyBuilder:
    """A source that resumes where it was, a bolt that remembers, and a file."""
    builder = TopologyBuilder()
    builder.set_spout("source", Ten, args=[200, leader])
    builder.set_bolt("sums", Sums).global_grouping("source")
    builder.set_bolt("sink", JsonLinesSink, args=[str(folder / "sums.jsonl")]).global_grouping("sums")
    return builder


SUMS = [f'{{"sum": {sum(range(n + 1))}}}' for n in range(200)]


def summed(
    folder: Path, recovery: str, leader: int = 0, limits: dict[str, Any] | None = None, **options: Any
) -> RunReport:
    """Run it in three processes; it is suspended if the leader is this process."""
    options = {**PROCESSES.options, "viper__recovery": recovery, "marks": str(folder), **options}
    plan, settings = plan_of(summing(folder, leader), **options)
    made = Run(plan, settings, RunOptions(**(limits or {})))
    with suspending(made) as refused:
        report = made.execute()
    assert refused == [] and (report.reason is StopReason.SUSPENDED) is bool(leader)
    return report


def written(folder: Path) -> list[str]:
    """The lines of the sink."""
    return (folder / "sums.jsonl").read_text().splitlines()


@pytest.mark.parametrize("recovery", ["best", "exact"])
@pytest.mark.parametrize("chosen", [first_of_second, firsts], ids=lambda kills: kills.__name__)
@pytest.mark.parametrize("phase", [Phase.READY, Phase.RAN])
def test_not_a_byte_differs(recovery: str, chosen: Kills, phase: Phase, tmp_path: Path) -> None:
    with killing(phase, chosen) as dead:
        report = summed(tmp_path, recovery)
    assert len(report.incidents) == len(dead) > 0
    assert written(tmp_path) == SUMS
    assert report.drained and not report.lost
    if recovery == "exact" or phase is Phase.READY:
        assert (tmp_path / "closed").read_text() == f"{sum(range(200))}"


@pytest.mark.parametrize("recovery", ["best", "exact"])
@pytest.mark.parametrize("phase", [Phase.READY, Phase.RAN])
def test_nor_where_a_run_goes_on_from_a_checkpoint(recovery: str, phase: Phase, tmp_path: Path) -> None:
    summed(tmp_path, recovery, os.getpid(), {"checkpoints": tmp_path / "kept"})
    with killing(phase, firsts):
        report = summed(tmp_path, recovery, 0, {"start": tmp_path / "kept"})
    assert len(report.incidents) == 3
    assert report.emitted < 100
    assert written(tmp_path) == SUMS


@pytest.mark.parametrize("recovery", ["best", "exact"])
def test_nor_where_one_dies_that_has_been_suspended(recovery: str, tmp_path: Path) -> None:
    with killing(Phase.RAN, firsts) as dead:
        summed(tmp_path, recovery, os.getpid(), {"checkpoints": tmp_path / "kept"})
    assert sorted(dead) == [1, 2, 3]
    summed(tmp_path, recovery, 0, {"start": tmp_path / "kept"})
    assert written(tmp_path) == SUMS


def test_a_source_that_begins_anew_does_so_where_the_run_has_begun(tmp_path: Path) -> None:
    """Tuples that came before the checkpoint do not come twice."""
    before = summed(tmp_path, "best", os.getpid(), {"checkpoints": tmp_path / "kept"}).emitted
    report = summed(tmp_path, "best", 0, {"start": tmp_path / "kept"}, stumbles=150)
    assert report.twice == ("sums", "sink") and 0 < report.again <= 150 - before + 1
    starts = before - 1, before  # the last one that was emitted may stand behind the checkpoint
    twice = [sum(range(start, start + report.again)) for start in starts]
    assert written(tmp_path)[-1] in [f'{{"sum": {sum(range(200)) + again}}}' for again in twice]


def test_no_checkpoint_has_what_came_twice(tmp_path: Path) -> None:
    with pytest.raises(SuspendError, match=r"[1-9]\d? tuples may have come twice, as spouts began again"):
        summed(tmp_path, "best", os.getpid(), {"checkpoints": tmp_path / "kept"}, stumbles=50)
    assert not list((tmp_path / "kept").glob("checkpoint-*"))
