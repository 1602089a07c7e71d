"""Worker processes that are killed from outside, at random moments, again and again."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder, ValueState
from framework.planning import Plan
from framework.runtime import Run, RunReport, StopReason, StopSignal
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.background import Background
from tests.framework.runtime.workers.dying import KnownEndless, KnownForward, Written, pid_of
from tests.framework.runtime.workers.running import PROCESSES
from tests.portions import at_every_change

KILLS = 20
BETWEEN = 20_000
"""Most tuples that the sink gets between two kills."""
COMPONENTS = ("source", "middle", "sink")


class Killer(Background):
    """Kills the worker of a component, or of two, whenever the sink has got some more; then ends the run."""

    def __init__(self, draw: random.Random, marks: Path, run: Run, stop: StopSignal) -> None:
        super().__init__()
        self.killed: list[tuple[str, int]] = []
        self._draw = draw
        self._marks = marks
        self._run = run
        self._stop = stop

    def work(self) -> None:
        while len(self.killed) < KILLS:
            at = self._delivered() + self._draw.randrange(1, BETWEEN)
            while self._delivered() < at:
                if self._over.wait(0.001):
                    return
            for component in self._draw.sample(COMPONENTS, self._draw.choice((1, 1, 2))):
                self._kill(component)
        self._stop.request(StopReason.INTERRUPTED)

    def _delivered(self) -> int:
        channels = self._run.statistics().channels
        return sum(r.delivered for c in channels for r in c.readers if r.task.startswith("sink"))

    def _kill(self, component: str) -> None:
        pid = pid_of(component, self._marks)
        if pid is not None and (component, pid) not in self.killed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.killed.append((component, pid))


class KnownByKey(KnownForward):
    """As `KnownForward`, with state by the number, which nobody asks for."""

    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        super().process(tup)


def topology(claims: str) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", KnownEndless)
    if claims == "keys":
        keyed = builder.set_bolt("middle", KnownByKey, 3, config={"viper.sharing": "claims"})
        keyed.fields_grouping("source", "number")
    else:
        sharing = {"viper.sharing": "claims", "viper.stateless": True} if claims else {}
        middle = builder.set_bolt("middle", KnownForward, 3 if claims else 1, config=sharing)
        middle.shuffle_grouping("source")
    builder.set_bolt("sink", Written).global_grouping("middle")
    return builder


@pytest.mark.parametrize(
    ("seed", "claims"),
    at_every_change([(0, ""), (0, "tuples"), (0, "keys"), (1, ""), (1, "tuples"), (1, "keys")], 3),
)
def test_killed_again_and_again(seed: int, claims: str, marks: Path, tmp_path: Path) -> None:
    written, stop = tmp_path / "written", StopSignal()
    options = {
        **PROCESSES.options,
        "topology__workers": 5 if claims else 3,
        "marks": str(marks),
        "written": str(written),
        "topology__acker__executors": 0,
        "viper__worker__restart__tries": 10 * KILLS,
        "viper__worker__restart__window__secs": 600,
        "viper__standby__workers": seed % 2,
    }
    plan, settings = plan_of(topology(claims), **options)
    run = Run(plan, settings, stop=stop)
    with Killer(random.Random(seed), marks, run, stop) as killer:
        report = run.execute()
    print(f"seed {seed}: {killer.killed}")
    assert (report.reason, report.drained) == (StopReason.INTERRUPTED, True)
    check_all_were_told(report, killer, plan)
    values = [int(line) for line in written.read_text().splitlines()]
    check_order_and_loss(values, report.lost, sum(component == "source" for component, _ in killer.killed))


def check_all_were_told(report: RunReport, killer: Killer, plan: Plan) -> None:
    """Each worker runs one task here."""
    executors = plan.placement.executors
    tasks = [plan.tasks[executors[mine[0]].tasks[0] - 1] for mine in plan.placement.processes]
    assert sorted(component for component, _ in killer.killed) == sorted(
        tasks[incident.worker - 1].component for incident in report.incidents
    )
    assert {incident.how for incident in report.incidents} == {"was killed by SIGKILL"}


def check_order_and_loss(values: list[int], lost: int, spouts_killed: int) -> None:
    """Each life of the source counts up from 0, and what is missing is no more than is said to be lost."""
    before, missing, lives = -1, 0, 1
    for value in values:
        if value <= before:
            before, lives = -1, lives + 1
        missing += value - before - 1
        before = value
    assert lives <= spouts_killed + 1
    assert missing <= lost
