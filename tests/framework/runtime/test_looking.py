"""Snapshots of runs: beside the report of the whole, and from what channels and executors tell."""

from __future__ import annotations

from pathlib import Path

from framework.observing import RunSnapshot
from framework.runtime.looking import snapshot_of
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.metrics.incidents import Incident
from framework.runtime.metrics.statistics import (
    ChannelStatistics,
    ExecutorStatistics,
    ReaderStatistics,
    SourceStatistics,
)
from framework.runtime.run import Run
from tests.framework.runtime.pieces import plan_of
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
        ReaderStatistics(names[1], 5, 1, {feeding: 30}, feeding),
    ]
    channel = ChannelStatistics([SourceStatistics(feeding, 40, 4, 0, 2, 1.5)], readers, capacity=40)
    seen: RunSnapshot = snapshot_of(
        plan,
        [{one.id: TaskCounters(processed=3, restarts=1)}, {two.id: TaskCounters(processed=4)}],
        [ExecutorStatistics(1, names, 9.0, [0.5, 0.75], 1, 1, 0.0, 0.0)],
        [channel],
        [Incident(1, "was killed", names, 1.0, 2, True, ())],
        elapsed_s=8.0,
        at_s=10.0,
        draining=True,
    )
    pieces = next(each for each in seen.components if each.id == "pieces")
    assert (pieces.processed, pieces.restarts, pieces.waiting, pieces.fill) == (7, 3, 30, 0.75)
    assert pieces.held_by == (feeding,)
    assert [(task.busy_s, task.at_s) for task in pieces.tasks[:2]] == [(0.5, 9.0), (0.75, 9.0)]
    assert next(each for each in seen.components if each.id == "source").blocked_s == 1.5
    assert (seen.deaths, seen.lost, seen.draining, seen.elapsed_s) == (1, 2, True, 8.0)
    assert RunSnapshot.from_object(seen.as_object()) == seen
