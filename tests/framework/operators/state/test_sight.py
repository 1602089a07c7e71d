"""The statistics and the summary of a run: hot key groups, checkpoints, and slices that are repeated."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framework import Block, Bolt, PartitionedSpout, TopologyBuilder
from framework.cli.reports import report_json
from framework.cli.run import summary_lines
from framework.cli.statistics import statistics_lines
from framework.operators.state import ValueState
from framework.runtime import RunReport
from framework.runtime.observation.statistics import CheckpointStatistics
from framework.runtime.observation.statistics import Written as Checkpoint
from tests.framework.runtime.pieces import Numbers, plan_of, run_built
from tests.framework.runtime.workers.dying import die, first_time
from tests.framework.runtime.workers.killed import Numbers as Seekable
from tests.framework.runtime.workers.killed import Written
from tests.framework.runtime.workers.running import Workers, every_kind
from viper.hashing import group_of_hash, stable_hash, task_of_group

GROUPS = 256
HOT, COUNT = 7, 300


class Skewed(Bolt):
    """Counts numbers, of which every other one is `HOT`."""

    outputs = ["number"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        self.emit(tup.values)


class Half(Bolt):
    outputs = ["number"]

    def process(self, tup: Any) -> None:
        number = tup.values.number
        self.emit([HOT if number % 2 else number])


def skewed() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers, kwargs={"count": COUNT})
    builder.set_bolt("half", Half).global_grouping("numbers")
    builder.set_bolt("count", Skewed, 3).fields_grouping("half", "number")
    return builder


def group_of(number: int) -> int:
    return group_of_hash(stable_hash(number), GROUPS)


class TestKeyGroups:
    @every_kind
    def test_the_hottest_one_is_that_of_the_key_that_comes_most(self, workers: Workers) -> None:
        report = workers.run(skewed())
        expected: dict[int, int] = {}
        for number in range(COUNT):
            group = group_of(HOT if number % 2 else number)
            expected[group] = expected.get(group, 0) + 1
        found = report.statistics.groups
        assert [g.component for g in found] == ["count"] * 5
        assert [g.accesses for g in found] == sorted(expected.values(), reverse=True)[:5]
        assert all(expected[g.group] == g.accesses for g in found)
        hottest = found[0]
        assert hottest.group == group_of(HOT) and hottest.share == hottest.accesses / COUNT >= 0.5
        task = 1 + task_of_group(hottest.group, 3, GROUPS)
        assert hottest.task == f"count:{[t.id for t in tasks_of('count')][task - 1]}"
        assert hottest.keys >= 1 and hottest.bytes > 0

    def test_without_state_by_key_there_is_none(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("numbers", Numbers, kwargs={"count": 3})
        builder.set_bolt("half", Half).global_grouping("numbers")
        assert run_built(builder).statistics.groups == ()

    def test_the_summary_names_it(self) -> None:
        report = run_built(skewed())
        group = report.statistics.groups[0]
        told = f"hottest key group: {group.group}, of {group.task}, with {group.keys} keys and"
        assert any(told in line for line in summary_lines(report))


def tasks_of(component: str) -> Any:
    plan, _ = plan_of(skewed())
    return plan.tasks_of(component)


class DiesWithin(Bolt):
    """Kills its process at the tuple 150, the first time."""

    outputs = ["number"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        if tup.values[0] == 150 and first_time(self, "died"):
            die()
        self.emit(tup.values)


def run_with_a_death(folder: Path) -> RunReport:
    builder = TopologyBuilder()
    builder.set_spout("source", Seekable, kwargs={"count": COUNT})
    builder.set_bolt("middle", DiesWithin).global_grouping("source")
    builder.set_bolt("sink", Written).global_grouping("middle")
    options = {"viper__worker": "process", "topology__workers": 3, "topology__acker__executors": 0}
    marks = {"marks": str(folder), "written": str(folder / "written"), "kills": 0, "kill__seed": 0}
    apart = {"viper__placement": {"source": 1, "middle": 2, "sink": 3}, "viper__slice__tuples": 64}
    return run_built(builder, **options, **marks, **apart, viper__recovery="exact")


def test_what_a_death_has_done_once_more(tmp_path: Path) -> None:
    report = run_with_a_death(tmp_path)
    assert (tmp_path / "written").read_text() == "".join(f"({number},)\n" for number in range(COUNT))
    (incident,) = report.incidents
    repeats = report.statistics.repeats
    assert (repeats.deaths, repeats.slices) == (1, 1)
    assert 1 <= repeats.tuples <= 64 and repeats.tuples == incident.repeated
    # The successor has processed all since the last commit, and the one that died is counted nowhere.
    assert report.components["middle"].processed <= COUNT
    assert "1 slice with" in str(incident) and "repeated" in str(incident)
    assert any(f"(1): slices (1) with {repeats.tuples} tuples" in line for line in summary_lines(report))
    lines = list(statistics_lines(report.statistics))
    assert lines[-2].split()[0] == "deaths" and lines[-1].split()[:3] == ["1", "1", str(repeats.tuples)]


class UntilCheckpoints(PartitionedSpout):
    """Brings numbers until there are so many checkpoints."""

    outputs = ["number"]
    partitions = 1
    identity = "numbers"

    def __init__(self, folder: str, count: int) -> None:
        super().__init__()
        self._folder = Path(folder)
        self._count = count

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        number = 0
        while len(list(self._folder.glob("checkpoint-*"))) < self._count:
            yield Block(array("q", [number]), [(number,)])
            number += 1


@every_kind
def test_checkpoints_are_summed_up(tmp_path: Path, workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", UntilCheckpoints(str(tmp_path), 3))
    builder.set_bolt("count", Skewed, 2).fields_grouping("numbers", "number")
    report = workers.run(builder, {"checkpoints": tmp_path}, viper__checkpoint__secs=0.01)
    made = report.statistics.checkpoints
    assert made.count == report.checkpoints >= 2  # the last one may come too late for the report
    assert made.last is not None and made.last == report.checkpoint
    assert made.bytes >= made.last.size > 0 and made.elapsed_s > made.last.elapsed_s > 0
    assert made.paused_s >= made.longest_pause_s >= made.last.paused_s >= 0
    assert any(line.startswith("  all checkpoints:") for line in summary_lines(report))
    shown = list(statistics_lines(report.statistics))
    assert any(line.startswith(f"all {made.count}") for line in shown)


def test_each_checkpoint_adds_what_it_took() -> None:
    first = Checkpoint(1, "here", elapsed_s=1.0, size=100, paused_s=0.5)
    second = Checkpoint(2, "there", elapsed_s=2.0, size=50, paused_s=0.25)
    made = CheckpointStatistics().also(first).also(second)
    assert made == CheckpointStatistics(2, 3.0, 150, 0.75, 0.5, second)


def test_everything_can_be_told_as_json() -> None:
    report = run_built(skewed())
    told = json.loads(json.dumps(report.statistics.as_object()))
    assert told["groups"][0]["group"] == group_of(HOT)
    assert told["checkpoints"]["count"] == 0 and told["repeats"]["deaths"] == 0
    assert json.loads(report_json(report))["statistics"] == told
