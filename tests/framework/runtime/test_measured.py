"""The measurements of each task of a topology whose tuples are all known, on workers of every kind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import BatchBolt, Bolt, Rows, Spout, Stream, TopologyBuilder
from framework.operators.sinks import CountingSink
from framework.runtime import Run, RunOptions, RunReport, StopReason, StopSignal
from framework.runtime.observation import MeasuredTask
from framework.runtime.observation.counters import CostCounters, StreamCounters, TaskCounters
from framework.runtime.observation.statistics import ExecutorStatistics, SourceStatistics
from framework.runtime.workers.handle import all_after
from tests.framework.runtime.pieces import Forward, Numbers, plan_of
from tests.framework.runtime.scaled import built as built_to_scale
from tests.framework.runtime.workers import killed
from tests.framework.runtime.workers.background import Background
from tests.framework.runtime.workers.dying import die, first_time
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers, every_kind

COUNT = 240


def tasks_of(report: RunReport, component: str) -> list[MeasuredTask]:
    return [task for task in report.statistics.tasks if task.component == component]


# -- CPU time


class Burns(Bolt):
    """Counts up to a number for each tuple."""

    outputs = ["source", "number"]

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self._rounds = rounds

    def process(self, tup: Any) -> None:
        for _ in range(self._rounds):
            pass
        self.emit(list(tup.values))


@pytest.mark.few(2)
@every_kind
def test_the_cpu_time_of_an_executor_is_that_of_its_tasks_and_some_of_its_own(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": 400})
    builder.set_bolt("heavy", Burns, 2, kwargs={"rounds": 40_000}).shuffle_grouping("source")
    builder.set_bolt("light", Burns, kwargs={"rounds": 400}).global_grouping("heavy")
    builder.set_bolt("sink", CountingSink).global_grouping("light")
    report = workers.run(builder)
    for executor in report.statistics.executors:
        mine = [task for task in report.statistics.tasks if task.executor == executor.number]
        assert [task.name for task in mine] == sorted(executor.tasks, key=[t.name for t in mine].index)
        assert {task.worker for task in mine} == {executor.worker}
        used = sum(task.cpu_s for task in mine)
        assert used <= executor.cpu_s * (1 + 1e-9)
        if any(task.component == "heavy" for task in mine):
            assert used > 0.5 * executor.cpu_s
    heavy = sum(task.cpu_s for task in tasks_of(report, "heavy"))
    others = sum(task.cpu_s for task in report.statistics.tasks) - heavy
    assert heavy > 3 * others  # it does a hundred times as much as the one behind it
    assert report.components["heavy"].costs.cpu_s == pytest.approx(heavy)


# -- what goes from task to task


class ByThree(Bolt):
    """Sends multiples of three one way and all others another, and a copy of all where nobody listens."""

    outputs = [Stream(["number"], name=name) for name in ("multiple", "other", "unheard")]

    def process(self, tup: Any) -> None:
        number = tup.values[1]
        self.emit([number], stream="other" if number % 3 else "multiple")
        self.emit([number], stream="unheard")


def of_two_streams() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2, kwargs={"count": COUNT})
    builder.set_bolt("divide", ByThree, 2).shuffle_grouping("source")
    sink = builder.set_bolt("sink", CountingSink, 2)
    sink.shuffle_grouping("divide", "multiple")
    sink.fields_grouping("divide", "number", stream="other")
    return builder


@pytest.mark.few(8)
@every_kind
@pytest.mark.parametrize("layer", ["communication", "operator", "operator-python"])
def test_tuples_are_counted_by_stream_at_both_ends(layer: str, workers: Workers) -> None:
    report = workers.run(of_two_streams(), viper__merge__layer=layer)
    for task in tasks_of(report, "source"):
        assert task.emitted == {"default": COUNT} and task.tuples_out == COUNT
        assert not task.inputs and task.tuples_in == task.runs == 0
    for task in tasks_of(report, "divide"):
        assert task.tuples_in == COUNT
        assert task.emitted == {"multiple": COUNT // 3, "other": COUNT * 2 // 3}
        assert task.tuples_out == COUNT  # what nobody receives is put nowhere
        by_stream = [out.streams for out in task.outputs]
        assert sum(counts["multiple"] for counts in by_stream) == COUNT // 3
        assert sum(counts["other"] for counts in by_stream) == COUNT * 2 // 3
        assert all(out.tuples == sum(out.streams.values()) for out in task.outputs)
    for task in tasks_of(report, "sink") if layer == "communication" else ():
        assert task.in_by_stream()["divide", "multiple"] == COUNT // 3
        assert task.tuples_in == sum(task.in_by_stream().values())
    check_edges(report.statistics.tasks)


def check_edges(tasks: Sequence[MeasuredTask]) -> None:
    """Check that others have taken the tuples that one task has put into a channel."""
    of_name = {task.name: task for task in tasks}
    edges = [(task, out, of_name[reader]) for task in tasks for out in task.outputs for reader in out.tasks]
    assert edges
    for task, out, reader in edges:
        (taken,) = (one for one in reader.inputs if one.task == task.name)
        assert (taken.tuples, taken.streams, taken.jumbos) == (out.tuples, out.streams, out.jumbos)
        assert taken.jumbos <= taken.runs <= taken.tuples


@every_kind
def test_tuples_become_bytes_where_they_leave_their_process_and_only_there(workers: Workers) -> None:
    tasks = workers.run(of_two_streams()).statistics.tasks
    workers_of = {task.name: task.worker if workers is PROCESSES else 0 for task in tasks}
    crossed = set()
    for task in tasks:
        for out in task.outputs:
            crosses = any(workers_of[reader] != workers_of[task.name] for reader in out.tasks)
            assert (out.encoded, out.bytes > 0) == (out.tuples * crosses, crosses)
            crossed.add(crosses)
        for one in task.inputs:
            crosses = workers_of[one.task] != workers_of[task.name]
            assert one.decoded == one.tuples * crosses
    assert crossed == ({True, False} if workers is PROCESSES else {False})


# -- runs


class Stepping(Spout):
    """Emits so many tuples at each time, each time with its own number."""

    outputs = ["number", "time"]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, every: int) -> None:
        super().__init__()
        self._every = every

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(COUNT):
            yield [number, number // self._every]


class SteppingColumns(Stepping):
    """The same as columns."""

    outputs = [Stream(schema={"number": "int64", "time": "int64"})]


class Batches(BatchBolt):
    """Takes rows by the many, as columns where they come so."""

    outputs = [Stream(schema={"number": "int64"})]

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows({"number": rows.numpy("number")})


@pytest.mark.few(5)
@every_kind
@pytest.mark.parametrize("source", [Stepping, SteppingColumns])
@pytest.mark.parametrize("every", [1, 20])
def test_a_run_ends_where_another_source_comes_next(
    every: int, source: type[Stepping], workers: Workers
) -> None:
    builder = TopologyBuilder()
    for name in ("a", "b"):
        builder.set_spout(name, source, kwargs={"every": every})
    meeting = builder.set_bolt("meet", Batches if source is SteppingColumns else CountingSink)
    meeting.global_grouping("a")
    meeting.global_grouping("b")
    (meet,) = tasks_of(workers.run(builder), "meet")
    assert [one.tuples for one in meet.inputs] == [COUNT, COUNT]
    for one in meet.inputs:
        # A take may end within a run, and so may a jumbo tuple, but none goes on behind the other source.
        assert COUNT / every <= one.runs <= (COUNT if every == 1 else COUNT / 2)


@every_kind
def test_tuples_in_turn_have_runs_of_one(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": COUNT})
    builder.set_bolt("forward", Forward, 2).shuffle_grouping("source")
    builder.set_bolt("sink", CountingSink).global_grouping("forward")
    report = workers.run(builder)
    (sink,) = tasks_of(report, "sink")
    assert (sink.tuples_in, sink.runs) == (COUNT, COUNT)
    assert {task.tuples_in for task in tasks_of(report, "forward")} == {COUNT // 2}


# -- turns


@every_kind
def test_turns_that_moved_tuples_are_told_from_those_that_did_not(workers: Workers) -> None:
    report = workers.run(of_two_streams(), viper__slice__tuples=10, viper__jumbo__size=10)
    for task in report.statistics.tasks:
        assert COUNT / 10 <= task.turns <= max(task.tuples_in, task.tuples_out)
    # What an executor has done beside the turns of its tasks is nothing.
    for executor in report.statistics.executors:
        mine = [task for task in report.statistics.tasks if task.executor == executor.number]
        assert sum(task.turns + task.idle_turns for task in mine) == executor.turns


# -- while a run goes on, and where it does not go as planned


class Looking(Background):
    """Looks at a run until all of its tasks have taken or emitted something and used CPU time."""

    def __init__(self, run: Run, stop: StopSignal) -> None:
        super().__init__()
        self.seen: Sequence[MeasuredTask] = ()
        self._run = run
        self._stop = stop

    def work(self) -> None:
        while not (self.seen and all(task.turns and task.cpu_s > 0 for task in self.seen)):
            if self._over.wait(0.01):
                return
            self.seen = self._run.statistics().tasks
        self._stop.request(StopReason.INTERRUPTED)


@every_kind
def test_all_of_it_is_known_while_the_run_goes_on(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": 10**9})
    builder.set_bolt("forward", Forward, 2).shuffle_grouping("source")
    builder.set_bolt("sink", CountingSink).global_grouping("forward")
    stop = StopSignal()
    run = Run(*plan_of(builder, **workers.options), RunOptions(duration_s=120), stop=stop)
    looking = Looking(run, stop)
    with looking:
        report = run.execute()
    assert report.reason is StopReason.INTERRUPTED
    for before, now in zip(looking.seen, report.statistics.tasks, strict=True):
        assert 0 < before.cpu_s <= now.cpu_s and 0 < before.turns <= now.turns
        assert sum(before.emitted.values()) <= sum(now.emitted.values())


def test_what_a_process_had_used_that_has_died_is_kept(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": 2000})
    builder.set_bolt("dies", DiesNumbered).global_grouping("source")
    builder.set_bolt("sink", CountingSink).global_grouping("dies")
    options = {"marks": str(tmp_path), "die.at": 1500}
    report = PROCESSES.run(builder, topology__acker__executors=0, **options)
    assert len(report.incidents) == 1
    (source,), (dies,) = tasks_of(report, "source"), tasks_of(report, "dies")
    assert source.tuples_out == dies.tuples_in == 2000
    check_executors(report)


def test_what_is_repeated_exactly_is_counted_once_between_tasks(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", killed.Numbers, kwargs={"count": 300})
    builder.set_bolt("fan", killed.Fan, 2, kwargs={"many": 20}).shuffle_grouping("source")
    builder.set_bolt("sink", killed.Written).global_grouping("fan")
    marks = tmp_path / "marks"
    marks.mkdir()
    files = {"marks": str(marks), "written": str(tmp_path / "written")}
    options = {"viper__recovery": "exact", "topology__acker__executors": 0, "kill__seed": 1, **files}
    plain = INLINE.run(builder, kills=0, **options)
    (tmp_path / "written").unlink()
    early = {"kill__bits": 5, "viper__jumbo__size": 8}  # none comes to its end before its death
    found = PROCESSES.run(builder, kills=3, viper__worker__restart__tries=20, **options, **early)
    assert found.incidents
    for task, undisturbed in zip(found.statistics.tasks, plain.statistics.tasks, strict=True):
        assert [(one.task, one.tuples) for one in task.inputs] == [
            (one.task, one.tuples) for one in undisturbed.inputs
        ]
        assert task.tuples_out == undisturbed.tuples_out
    check_executors(found)


def check_executors(report: RunReport) -> None:
    """An executor has used what its tasks have, and more, in as many turns.

    One that has died had told the one a moment before the other, so that it may be a turn further.
    """
    died = {incident.worker for incident in report.incidents}
    for executor in report.statistics.executors:
        mine = [task for task in report.statistics.tasks if task.executor == executor.number]
        used, turns = sum(task.cpu_s for task in mine), sum(task.turns + task.idle_turns for task in mine)
        assert used > 0 and turns > 0
        if executor.worker not in died:
            assert used <= executor.cpu_s * (1 + 1e-9) and turns == executor.turns


class DiesNumbered(Bolt):
    """Forwards the second value; kills its process at the one that is configured, the first time."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        number = tup.values[1]
        if number == self.storm_conf["die.at"] and first_time(self, "death"):
            die()
        self.emit([number])


def test_executors_go_on_where_those_had_come_to_that_they_replace() -> None:
    before = [ExecutorStatistics(1, ["a:1"], 1.0, [0.5], 10, 3, 0.25, 2.0, number=n) for n in (0, 1)]
    now = [ExecutorStatistics(1, ["a:1"], 2.0, [0.125], 1, 1, 0.5, 1.0, number=1)]
    one, other = all_after(before, now)
    assert one == before[0]
    assert other == ExecutorStatistics(1, ["a:1"], 2.0, [0.125], 11, 4, 0.75, 3.0, number=1)


def test_counters_of_two_processes_add_up() -> None:
    total = TaskCounters()
    for _ in range(2):
        costs = CostCounters(0.5, 3, 4, {"default": StreamCounters(7, {9: 5})})
        total.add(TaskCounters(costs=costs))
    assert total.costs == CostCounters(1.0, 6, 8, {"default": StreamCounters(14, {9: 10})})
    assert total == TaskCounters()  # as costs differ from run to run, and nothing else was counted


@every_kind
def test_tasks_that_come_and_go_are_counted_while_they_work(workers: Workers, tmp_path: Path) -> None:
    changes = [[100, "pieces", 4], [300, "pieces", 1]]
    options = {"control": str(tmp_path), "changes": changes}
    plan, settings = plan_of(built_to_scale(), **workers.options, **options)
    report = Run(plan, settings, RunOptions(control=tmp_path)).execute()
    pieces = tasks_of(report, "pieces")
    assert [task.index for task in pieces] == [0, 1, 2, 3]
    assert sum(task.tuples_in for task in pieces) == report.components["source"].emitted == 600
    assert all(task.turns > 0 for task in pieces if task.tuples_in)
    assert len([task for task in pieces if task.tuples_in]) > 2
    check_edges(report.statistics.tasks)


# -- as a value


def test_it_is_part_of_what_json_can_hold() -> None:
    report = INLINE.run(of_two_streams())
    told = json.loads(json.dumps(report.statistics.as_object()))["tasks"]
    for task, shown in zip(report.statistics.tasks, told, strict=True):
        assert shown["component"] == task.component and shown["task"] == task.task
        assert shown["cpu_s"] == task.cpu_s and shown["emitted"] == task.emitted
        assert [one["runs"] for one in shown["inputs"]] == [one.runs for one in task.inputs]


def test_a_source_says_how_many_of_its_tuples_were_encoded() -> None:
    channels = PROCESSES.run(of_two_streams()).statistics.channels
    sources = [source for channel in channels for source in channel.sources]
    assert any(source.encoded for source in sources)
    assert all(_is_sound(source) for source in sources)


def _is_sound(source: SourceStatistics) -> bool:
    return source.encoded in (0, source.tuples) and (source.encoded > 0) == (source.payload_bytes > 0)
