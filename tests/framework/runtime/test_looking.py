"""Snapshots of runs: beside the report of the whole, and from what channels and executors tell."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from framework import Bolt, TopologyBuilder
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.leading.limits import Limits
from framework.runtime.leading.looking import Moment, snapshot_of
from framework.runtime.observation import RunSnapshot
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.statistics import (
    ChannelStatistics,
    ExecutorStatistics,
    ReaderStatistics,
    SourceStatistics,
)
from framework.runtime.run import Run
from tests.framework.runtime.pieces import Numbers, plan_of
from tests.framework.runtime.scaled import built
from tests.framework.runtime.workers.running import Workers, every_kind


@every_kind
def test_at_the_end_it_has_the_counts_of_the_report(workers: Workers, tmp_path: Path) -> None:
    plan, settings = plan_of(built(), control=str(tmp_path), changes=[], **workers.options)
    looks: list[RunSnapshot] = []
    running = Run(plan, settings, on_progress=lambda progress: looks.append(running.look()))
    before = running.look()
    assert before.elapsed_s == 0 and not any(each.handled for each in before.components)
    report = running.execute()
    after = looks[-1]
    counts = {each.id: (each.emitted, each.processed) for each in after.components}
    assert counts == {id: (each.emitted, each.processed) for id, each in report.components.items()}
    assert not any(each.waiting or each.held_by for each in after.components)


def test_what_channels_executors_and_deaths_tell(tmp_path: Path) -> None:
    plan, _ = plan_of(built(), control=str(tmp_path), changes=[])
    (one, two), source = plan.tasks_of("pieces")[:2], plan.tasks_of("source")[0]
    names = [f"pieces:{task.id}" for task in (one, two)]
    feeding = f"source:{source.id}"
    readers = [
        ReaderStatistics(names[0], 5, 1, {feeding: 10}, None),
        ReaderStatistics(names[1], 5, 1, {feeding: 30}, feeding, claims=2),
    ]
    channel = ChannelStatistics([SourceStatistics(feeding, 40, 4, 0, 2, 1.5)], readers, capacity=40)
    seen: RunSnapshot = snapshot_of(
        plan,
        [{one.id: TaskCounters(processed=3, restarts=1)}, {two.id: TaskCounters(processed=4)}],
        [ExecutorStatistics(1, names, 9.0, [0.5, 0.75], 1, 1, 0.0, 0.0, None, [((3, 2),), ()])],
        [channel],
        [Incident(1, "was killed", names, 1.0, 2, True, ())],
        parallelism={"pieces": 3},
        at=Moment(10.0, 8.0, False, True, Limits(StopSignal(), 16.0, None)),
    )
    pieces = next(each for each in seen.components if each.id == "pieces")
    assert (pieces.processed, pieces.restarts, pieces.waiting, pieces.fill) == (7, 3, 30, 0.75)
    assert pieces.held_by == (feeding,)
    assert [(task.busy_s, task.at_s) for task in pieces.tasks[:2]] == [(0.5, 9.0), (0.75, 9.0)]
    assert next(each for each in seen.components if each.id == "source").blocked_s == 1.5
    assert [task.times for task in pieces.tasks[:2]] == [((3, 2),), ()]
    assert [(task.claims, task.claimed) for task in pieces.tasks[:2]] == [(0, 0), (2, 5)]
    assert pieces.tuples_a_claim == 2.5
    assert pieces.parallelism == 3
    assert (seen.deaths, seen.lost, seen.draining, seen.elapsed_s) == (1, 2, True, 8.0)
    assert (seen.active, seen.share) == (False, 0.5)
    assert RunSnapshot.from_object(seen.as_object()) == seen


class Failing(Bolt):
    """Raises for some numbers."""

    outputs = ["number"]
    config = {"viper.on.error": "skip"}

    def process(self, tup: Any) -> None:
        number = tup.values[1]
        if number % 5 == 0:
            raise ValueError(f"no {number}")
        if number % 7 == 0:
            raise KeyError(number)
        self.emit([number])


@every_kind
def test_errors_are_counted_by_the_line_that_raised(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers(70))
    builder.set_bolt("failing", Failing(), 2).shuffle_grouping("numbers")
    report = workers.run(builder)
    failing = report.components["failing"]
    sites = sorted(failing.error_sites.values(), key=lambda site: -site.count)
    assert [(site.kind, site.count) for site in sites] == [("ValueError", 14), ("KeyError", 8)]
    assert all(re.fullmatch(r"test_looking\.py:\d+ in process", site.place) for site in sites)
    assert failing.errors == 22 and sites[0].message.startswith("no ")


@every_kind
def test_tasks_count_how_long_their_tuples_took(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers(300))
    builder.set_bolt("failing", Failing(), 2).shuffle_grouping("numbers")
    statistics = workers.run(builder).statistics
    counted: dict[str, int] = {}
    for executor in statistics.executors:
        for task, counts in zip(executor.tasks, executor.times, strict=True):
            component = task.partition(":")[0]
            counted[component] = counted.get(component, 0) + sum(count for _, count in counts)
    assert counted == {"numbers": 0, "failing": 300}
