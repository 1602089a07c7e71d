"""The statistics shown at the end of a run: of tasks, executors, and changes of numbers of tasks."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from framework.cli.statistics import statistics_lines
from framework.recording import ScaleChange
from framework.runtime import RunStatistics
from framework.runtime.observation import MeasuredInput, MeasuredOutput, MeasuredTask
from framework.runtime.observation.statistics import ExecutorStatistics
from framework.runtime.report import _scaled


def changes(count: int) -> list[ScaleChange]:
    return [ScaleChange("split", n + 1, n + 2, n / 2, 100 * n, "thresholds: busy 95%") for n in range(count)]


def summary(count: int) -> list[str]:
    report: Any = SimpleNamespace(statistics=RunStatistics([], [], scaled=changes(count)))
    return list(_scaled(report.statistics))


def test_a_summary_has_a_line_for_each_component() -> None:
    assert summary(0) == []
    assert summary(2) == ["tasks of split: 1, 2 from 0.0 s on, 3 from 0.5 s on"]
    (line,) = summary(20)
    assert line.startswith("tasks of split: 1, ... (13 more), 15 from 6.5 s on, ")
    assert line.endswith(", 21 from 9.5 s on") and line.count(" from ") == 7


def test_statistics_have_who_has_asked_and_how_busy_tasks_were() -> None:
    told = [1.5, 0.25], 3, 4, 0.5, 1.75
    executor = ExecutorStatistics(1, ["split:1", "sink:2"], 0.0, *told, waited_s=[1.0, 0.0])
    lines = list(statistics_lines(RunStatistics([], [executor], scaled=changes(1))))
    shown = [re.split(r" {2,}", line.strip()) for line in lines]
    assert ["worker", "runs", "in turns s", "of it waiting s", "turns", "rests", "rested s", "CPU s"] in shown
    assert ["1", "split:1 sink:2", "1.500 0.250", "1.000 0.000", "3", "4", "0.500", "1.750"] in shown
    assert ["split", "0.000", "0", "1", "2", "thresholds: busy 95%"] in shown


def test_statistics_have_what_each_task_has_used_and_what_for() -> None:
    taken = MeasuredInput("lines:3", 1500, {"default": 1500}, 60, 10, 0)
    put = MeasuredOutput(["count:1"], 4000, {"odd": 1000, "even": 3000}, 16, 4000, 52_000)
    emitted = {"odd": 1000, "even": 3000}
    task = MeasuredTask("split", 2, 0, 1, 0, 1.25, 7, 3, emitted, [taken], [put])
    lines = list(statistics_lines(RunStatistics([], [], tasks=[task])))
    shown = [re.split(r" {2,}", line.strip()) for line in lines]
    header = "task,worker,CPU s,turns,idle turns,taken,runs,tuples a run,emitted,tuples a jumbo,by stream"
    assert header.split(",") in shown
    row = ["split:2", "1", "1.250", "7", "3", "1,500", "60", "25.0", "4,000", "250.0", "odd=1,000 even=3,000"]
    assert row in shown


def test_a_task_that_has_taken_nothing_has_no_mean() -> None:
    task = MeasuredTask("lines", 1, 0, 1, 0, 0.0, 0, 0, {}, [], [])
    assert (task.tuples_in, task.runs, task.tuples_out, task.in_by_stream()) == (0, 0, 0, {})
    assert any("lines:1" in line for line in statistics_lines(RunStatistics([], [], tasks=[task])))
