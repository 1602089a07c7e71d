"""Titles of worker processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from framework import Bolt, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.workers.main import STANDING_BY, title_of
from tests.framework.runtime.pieces import Numbers, plan_of
from tests.framework.runtime.workers.running import PROCESSES


class Titled(Bolt):
    """Emits the title of its process."""

    outputs = ["title"]

    def process(self, tup: Any) -> None:
        self.emit([Path("/proc/self/cmdline").read_bytes().rstrip(b"\0").decode()])


def built() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers(1))
    builder.set_bolt("titled", Titled()).shuffle_grouping("numbers")
    builder.set_bolt("sink", CollectingSink()).global_grouping("titled")
    return builder


def test_a_worker_process_shows_which_one_it_is_and_what_it_runs() -> None:
    plan, _ = plan_of(built(), **PROCESSES.options)
    titles = {title_of(plan, process) for process in range(len(plan.placement.processes))}
    (row,) = PROCESSES.run(built()).result("sink")
    assert row[0] in titles and "titled:" in row[0] and row[0].startswith("viper worker ")


def test_one_that_stands_by_has_no_tasks() -> None:
    plan, _ = plan_of(built(), **PROCESSES.options)
    assert title_of(plan, STANDING_BY) == "viper worker of tested, standing by"
