"""What is shown of tasks that have changed their number, at the end of a run."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from framework.cli.statistics import statistics_lines
from framework.cli.summary import _scaled
from framework.recording import ScaleChange
from framework.runtime import RunStatistics
from framework.runtime.metrics.statistics import ExecutorStatistics


def changes(count: int) -> list[ScaleChange]:
    return [ScaleChange("split", n + 1, n + 2, n / 2, 100 * n, "thresholds: busy 95%") for n in range(count)]


def summary(count: int) -> list[str]:
    report: Any = SimpleNamespace(statistics=RunStatistics([], [], scaled=changes(count)))
    return list(_scaled(report))


def test_a_summary_has_a_line_for_each_component() -> None:
    assert summary(0) == []
    assert summary(2) == ["  tasks of split: 1, 2 from 0.0 s on, 3 from 0.5 s on"]
    (line,) = summary(20)
    assert line.startswith("  tasks of split: 1, ... (13 more), 15 from 6.5 s on, ")
    assert line.endswith(", 21 from 9.5 s on") and line.count(" from ") == 7


def test_statistics_have_who_has_asked_and_how_busy_tasks_were() -> None:
    executor = ExecutorStatistics(1, ["split:1", "sink:2"], 0.0, [1.5, 0.25], 3, 4, 0.5, 1.75)
    lines = list(statistics_lines(RunStatistics([], [executor], scaled=changes(1))))
    shown = [re.split(r" {2,}", line.strip()) for line in lines]
    assert ["worker", "runs", "busy s", "turns", "rests", "rested s", "CPU s"] in shown
    assert ["1", "split:1 sink:2", "1.500 0.250", "3", "4", "0.500", "1.750"] in shown
    assert ["split", "0.000", "0", "1", "2", "thresholds: busy 95%"] in shown
