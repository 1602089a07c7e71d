"""A worker process that dies is restarted: the run continues, and says exactly what was lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder, ValueState
from framework.model.errors import WorkerError
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport, StopReason, StopSignal
from framework.runtime.workers import supervisor
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.components import (
    Forward,
    Pass,
    RowsOfTwo,
    open_gate,
    wait_at,
)
from tests.framework.runtime.workers.conftest import Gate
from tests.framework.runtime.workers.dying import (
    AlwaysDies,
    Copies,
    DiesAt,
    DiesAtTheEnd,
    DiesInInitialize,
    DyingNumbers,
    DyingTimes,
    GreetsAndDies,
    LeavesHeir,
    Repeating,
    StepsAndDies,
    StuckWhenRestarted,
    TakesAnother,
    die,
    first_time,
)
from tests.framework.runtime.workers.running import PROCESSES, Workers

COUNT = 20_000
MIDDLE = COUNT // 4
SLICE = 64
UNTRACKED = {"topology__acker__executors": 0}


def chain(middle: type[Bolt] = DiesAt, source: type[Spout] = DyingNumbers) -> TopologyBuilder:
    """The source is on worker 1, the bolt between on worker 2, the sink on worker 3."""
    builder = TopologyBuilder()
    builder.set_spout("source", source, kwargs={"count": COUNT})
    builder.set_bolt("middle", middle).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    return builder


def run(
    builder: TopologyBuilder,
    marks: Path,
    limits: dict[str, Any] | None = None,
    *,
    workers: Workers = PROCESSES,
    **options: Any,
) -> RunReport:
    return workers.run(builder, limits, marks=str(marks), **{**UNTRACKED, "die__at": [], **options})


def values(report: RunReport, sink: str = "sink") -> list[Any]:
    return [row[0] for row in report.result(sink)]


def check_whole_but_for_one_gap(found: list[int], lost: int, dying: int) -> None:
    """All of it came in order, but for so many in a row as are said to be lost, the killer among them."""
    first = next(i for i, value in enumerate(found) if value != i)
    assert found == [*range(first), *range(first + lost, COUNT)]
    assert first <= dying < first + lost


# -- bolts


def test_a_bolt_dies_in_the_middle(marks: Path, caplog: pytest.LogCaptureFixture) -> None:
    report = run(chain(), marks, die__at=[MIDDLE])
    (incident,) = report.incidents
    assert (incident.worker, incident.how, incident.tasks) == (2, "was killed by SIGKILL", ["middle:1"])
    assert (incident.restarted, incident.state_lost) == (True, ["middle"])
    check_whole_but_for_one_gap(values(report), incident.lost, MIDDLE)
    assert (report.lost, report.reason, report.drained) == (incident.lost, StopReason.EXHAUSTED, True)
    assert "worker 2 (middle:1) was killed by SIGKILL" in caplog.text
    assert f"{incident.lost:,} untracked tuples are lost" in caplog.text


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not say what runs")
def test_a_death_is_heard_of_though_the_pipe_stays_open(marks: Path, gate: Gate) -> None:
    """As it does until the memory of a process is released; here another process has it, too."""
    heir = gate("heir")
    report = run(chain(LeavesHeir), marks, die__at=[MIDDLE], gate__heir=heir)
    (incident,) = report.incidents
    assert incident.how == "was killed by SIGKILL"
    check_whole_but_for_one_gap(values(report), incident.lost, MIDDLE)
    open_gate(heir)


def test_a_bolt_dies_at_its_very_first_tuple(marks: Path) -> None:
    report = run(chain(), marks, die__at=[0])
    (incident,) = report.incidents
    assert incident.lost >= 1
    assert values(report) == list(range(incident.lost, COUNT))


def test_a_bolt_dies_several_times(marks: Path) -> None:
    report = run(chain(), marks, die__at=[10, MIDDLE, COUNT - 1], viper__slice__tuples=64)
    found = values(report)
    assert [incident.worker for incident in report.incidents] == [2, 2, 2]
    assert found == sorted(set(found))
    assert len(found) + report.lost == COUNT


def test_what_is_declared_stateless_has_no_state_to_lose(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_bolt("middle", DiesAt, config={"viper.stateless": True}).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    (incident,) = run(builder, marks, die__at=[MIDDLE]).incidents
    assert incident.state_lost == []


def test_what_a_successor_emits_in_initialize_comes_behind_all_that_was_told(marks: Path) -> None:
    report = run(chain(GreetsAndDies), marks, die__at=[MIDDLE])
    found = values(report)
    assert found.pop(0) == -1
    gap = found.index(-1)
    assert found.pop(gap) == -1
    assert gap <= MIDDLE
    check_whole_but_for_one_gap(found, report.lost, MIDDLE)


def test_a_task_with_a_thread_of_its_own_dies_with_all_others_of_its_process(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_bolt("beside", Forward).shuffle_grouping("source")
    builder.set_bolt("middle", DiesAt, config={"viper.blocking": True}).shuffle_grouping("beside")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    where = {"source": 1, "beside": 2, "middle": 2, "sink": 3}
    report = run(builder, marks, die__at=[MIDDLE], viper__placement=where, viper__slice__tuples=64)
    (incident,) = report.incidents
    assert incident.tasks == ["beside:1", "middle:2"]
    found = values(report)
    assert found == sorted(set(found)) and MIDDLE not in found
    assert COUNT - len(found) <= incident.lost


def test_all_that_were_told_count(marks: Path) -> None:
    report = run(chain(), marks, {"on_progress": lambda progress: None}, die__at=[MIDDLE])
    assert report.components["source"].emitted == COUNT
    assert 0 < report.components["middle"].processed <= COUNT - report.lost
    assert report.components["sink"].processed == COUNT - report.lost


def test_two_die_together(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_bolt("first", TakesAnother).shuffle_grouping("source")
    builder.set_bolt("second", TakesAnother).shuffle_grouping("first")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    workers = Workers("process", 4)
    options = {"die__at": [MIDDLE], "die__with": "first", "viper__slice__tuples": SLICE}
    report = run(builder, marks, workers=workers, **options)
    assert {incident.worker for incident in report.incidents} == {2, 3}
    found = values(report)
    assert found == sorted(set(found)) and found[-1] == COUNT - 1
    # The first dies wherever it is, perhaps just as it takes a slice, which then counts and yet comes again.
    assert COUNT <= len(found) + report.lost <= COUNT + SLICE


class Counts(Bolt):
    """Emits how many tuples it has seen."""

    outputs = ["count"]
    count = ValueState("int64", default=0, per="task")

    def process(self, tup: Any) -> None:
        self.count.value += 1
        self.emit([self.count.value])


class Stumbles(Spout):
    """Emits (0) to (9); the first one raises before (5)."""

    outputs = ["number"]
    made = 0

    def __init__(self) -> None:
        super().__init__()
        Stumbles.made += 1
        self._is_first = Stumbles.made == 1

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(10):
            if number == 5 and self._is_first:
                raise ValueError("stumbled")
            yield [number]


class DyingRepeating(Repeating):
    """As `Repeating`; kills its process before the number ``spout.dies.at``, once."""

    def next_tuple(self) -> None:
        number = next(self._numbers)
        if number == self.storm_conf["spout.dies.at"] and first_time(self, str(number)):
            die()
        self.emit([number], tup_id=number)


# -- tracked tuples


def test_what_a_killed_claimant_has_had_fails_back_and_nothing_is_lost(marks: Path) -> None:
    """The source ends when each tuple has been acked, by whoever has claimed it."""
    builder = TopologyBuilder()
    builder.set_spout("source", Repeating, kwargs={"count": COUNT})
    config = {"viper.stateless": True, "viper.sharing": "claims"}
    builder.set_bolt("middle", DiesAt, 3, config=config).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    report = run(
        builder,
        marks,
        die__at=[MIDDLE, 2 * MIDDLE],
        topology__acker__executors=None,
        topology__workers=4,
        viper__placement={"source": 1, "middle": [2, 3, 4], "sink": 1},
    )
    assert len(report.incidents) == 2
    assert (report.lost, report.drained) == (0, True)
    assert set(values(report)) == set(range(COUNT))
    spout = report.components["source"]
    assert (spout.acked, spout.tracked) == (COUNT, COUNT + spout.failed)
    assert spout.failed > 0


def test_what_is_tracked_is_emitted_again_and_nothing_is_lost(marks: Path) -> None:
    tracked = {"topology__acker__executors": None}
    report = run(chain(source=Repeating), marks, die__at=[MIDDLE], **tracked)
    (incident,) = report.incidents
    assert (incident.lost, report.lost, report.drained) == (0, 0, True)
    assert set(values(report)) == set(range(COUNT))
    spout = report.components["source"]
    assert spout.acked == COUNT
    assert spout.tracked == COUNT + spout.failed
    assert spout.failed > 0


# -- what is in the dead process alone


def test_what_waits_between_tasks_of_the_dead_process_is_lost(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_bolt("before", Forward).shuffle_grouping("source")
    builder.set_bolt("middle", DiesAt).shuffle_grouping("before")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    where = {"source": 1, "before": 2, "middle": 2, "sink": 3}
    report = run(builder, marks, die__at=[MIDDLE], viper__placement=where, viper__slice__tuples=64)
    (incident,) = report.incidents
    assert incident.tasks == ["before:1", "middle:2"]
    check_whole_but_for_one_gap(values(report), incident.lost, MIDDLE)


@pytest.mark.parametrize("dying", [0, 1])
def test_a_copy_dies_and_the_others_get_everything(dying: int, marks: Path) -> None:
    """All copies read from one gate; the source shares a process with the third."""
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_bolt("copies", Copies, 3).all_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("copies")
    where = {"source": 3, "copies": [1, 2, 3], "sink": 4}
    workers = Workers("process", 4)
    report = run(builder, marks, workers=workers, die__at=[MIDDLE], die__task=dying, viper__placement=where)
    by_copy = {copy: [v for v, c in report.result("sink") if c == copy] for copy in range(3)}
    check_whole_but_for_one_gap(by_copy.pop(dying), report.lost, MIDDLE)
    assert all(found == list(range(COUNT)) for found in by_copy.values())


def test_a_copy_dies_with_the_source_of_all(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_bolt("copies", Copies, 3).all_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("copies")
    where = {"source": 3, "copies": [1, 2, 3], "sink": 4}
    workers = Workers("process", 4)
    report = run(builder, marks, workers=workers, die__at=[MIDDLE], die__task=2, viper__placement=where)
    by_copy = {copy: [v for v, c in report.result("sink") if c == copy] for copy in range(3)}
    assert by_copy[0] == by_copy[1]
    before = len(by_copy[0]) - COUNT
    assert by_copy[0] == [*range(before), *range(COUNT)]
    assert len(by_copy[2]) + report.lost == before + COUNT
    assert by_copy[2][-COUNT:] == list(range(COUNT))


def test_a_cycle_dies(marks: Path) -> None:
    builder = TopologyBuilder()
    rows = [[n, n % 20 + 1] for n in range(1000)]
    builder.set_spout("source", RowsOfTwo, args=[rows])
    entry = builder.set_bolt("entry", Pass).shuffle_grouping("source")
    entry.shuffle_grouping("step", stream="again")
    builder.set_bolt("step", StepsAndDies).shuffle_grouping("entry")
    builder.set_bolt("sink", CollectingSink).global_grouping("step", stream="done")
    report = run(builder, marks, die__at=[500])
    found = values(report)
    assert len(set(found)) == len(found) and 500 not in found
    assert len(found) + report.lost == 1000
    assert (report.reason, report.drained) == (StopReason.EXHAUSTED, True)


# -- spouts


def test_a_spout_dies_and_begins_anew(marks: Path) -> None:
    report = run(chain(), marks, spout__dies__at=MIDDLE)
    (incident,) = report.incidents
    assert (incident.lost, incident.state_lost) == (0, ["source"])
    found = values(report)
    before = len(found) - COUNT
    assert 0 < before <= MIDDLE
    assert found == [*range(before), *range(COUNT)]
    assert report.drained
    # Its process may have handed over more than it had last reported.
    assert report.components["source"].anew == report.again == before
    assert report.twice == ("middle", "sink")


def test_one_that_has_brought_nothing_as_yet_brings_nothing_twice(marks: Path) -> None:
    report = run(chain(), marks, spout__dies__at=0)
    assert values(report) == list(range(COUNT))
    assert len(report.incidents) == 1 and (report.again, report.twice) == (0, ())


def test_what_remembers_counts_twice_and_is_named(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_spout("other", DyingNumbers, args=[COUNT], config={"spout.dies.at": None})
    builder.set_bolt("counts", Counts).global_grouping("source")
    builder.set_bolt("aside", Forward).global_grouping("other")
    builder.set_bolt("sink", CollectingSink).global_grouping("counts")
    report = run(builder, marks, workers=Workers("process", 5), spout__dies__at=MIDDLE)
    seen = values(report)[-1]
    assert seen == COUNT + report.again > COUNT
    assert report.twice == ("counts", "sink")


def test_a_spout_that_is_made_anew_after_an_exception_brings_twice_too() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Stumbles, config={"viper.on.error": "restart"})
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    report = run_built(builder, topology__acker__executors=0)
    assert values(report) == [*range(5), *range(10)]
    assert (report.again, report.twice) == (5, ("sink",))


def test_of_a_tracked_spout_it_is_told_and_counts_as_told(marks: Path) -> None:
    """It is to find out from elsewhere what had been acked."""
    report = run(chain(source=DyingRepeating), marks, spout__dies__at=MIDDLE, topology__acker__executors=None)
    assert report.components["source"].anew > 0
    assert (report.again, report.twice) == (0, ("middle", "sink"))


def test_a_spout_by_event_time_is_raised_to_where_it_had_come(marks: Path) -> None:
    report = run(chain(source=DyingTimes), marks, spout__dies__at=MIDDLE)
    found = values(report)
    before = len(found) - COUNT
    assert found == [*range(before), *range(COUNT)]
    assert report.components["source"].raised == before - 1


def test_what_is_merged_ascends_all_the_same(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingTimes, args=[COUNT])
    builder.set_spout("other", DyingTimes, args=[COUNT])
    builder.set_bolt("middle", DiesAt).shuffle_grouping("source")
    builder.set_bolt("beside", Forward).shuffle_grouping("other")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle").global_grouping("beside")
    report = run(builder, marks, die__at=[MIDDLE])
    found = values(report)
    assert found == sorted(found)
    assert len(found) + report.lost == 2 * COUNT
    assert set(found) == set(range(COUNT))


def test_a_spout_that_had_ended_stays_so(marks: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", DyingNumbers, args=[COUNT])
    builder.set_bolt("middle", Forward).shuffle_grouping("source")
    builder.set_bolt("last", DiesAtTheEnd).shuffle_grouping("middle")
    builder.set_bolt("sink", CollectingSink).global_grouping("last")
    where = {"source": 1, "middle": 2, "last": 1, "sink": 2}
    workers = Workers("process", 2)
    report = run(builder, marks, workers=workers, viper__placement=where)
    (incident,) = report.incidents
    assert (incident.tasks, incident.state_lost, incident.lost) == (["last:1", "source:4"], ["last"], 0)
    assert values(report) == list(range(COUNT))
    assert report.drained


# -- stopping


def test_a_limited_run_gets_as_many_as_it_shall(marks: Path) -> None:
    report = run(chain(), marks, {"max_tuples": 2000}, spout__dies__at=500)
    found = values(report)
    before = found.index(0, 1)
    assert found == [*range(before), *range(2000 - before)]
    assert report.reason is StopReason.MAX_TUPLES


def test_a_worker_dies_while_the_run_drains(marks: Path) -> None:
    report = run(chain(), marks, {"max_tuples": 2000}, die__at=[1999])
    found = values(report)
    assert found == list(range(2000 - report.lost)) and report.lost
    assert (report.reason, report.drained) == (StopReason.MAX_TUPLES, True)


def test_a_drain_does_not_wait_for_ever_for_one_that_is_restarted(
    marks: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "LAST_CALL_S", 0.3)
    stop, arrived = StopSignal(), gate("arrived")

    def end_the_run() -> None:
        wait_at(arrived)
        stop.request(StopReason.INTERRUPTED)

    ending = threading.Thread(target=end_the_run)
    ending.start()
    options = {"gate__arrived": arrived, "gate__never": gate("never"), "viper__drain__timeout__secs": 0.1}
    with pytest.raises(WorkerError, match=r"middle:1\) did not end in time, and was killed"):
        run(chain(StuckWhenRestarted), marks, {"stop": stop}, die__at=[MIDDLE], **options)
    ending.join()


# -- no restart


def test_one_that_dies_again_and_again_ends_the_run(marks: Path) -> None:
    limit = {"tries": 2, "window__secs": 600}
    with pytest.raises(WorkerError) as caught:
        run(chain(AlwaysDies), marks, **{f"viper__worker__restart__{k}": v for k, v in limit.items()})
    assert (
        "middle:1) was killed by SIGKILL: what was in flight and the state of its tasks are lost; it is not "
        "restarted, as 2 restarts within 600 s are the limit (viper.worker.restart.tries, "
        "viper.worker.restart.window.secs)"
    ) in str(caught.value)


def test_one_that_dies_while_it_is_restarted_is_restarted(marks: Path) -> None:
    report = run(chain(DiesInInitialize), marks, die__first=False, die__at=[MIDDLE])
    assert [(incident.worker, incident.lost > 0) for incident in report.incidents] == [(2, True), (2, False)]
    check_whole_but_for_one_gap(values(report), report.lost, MIDDLE)


def test_a_run_that_is_recorded_ends_with_a_worker(marks: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"middle:1\) was killed .*run is recorded or replayed"):
        run(chain(), marks, {"record": tmp_path / "recording"}, die__at=[MIDDLE])
