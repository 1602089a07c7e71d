"""Windows survive killed processes, suspensions, and exceptions of their bolts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder, TupleWindow
from framework.operators.sinks import CollectingSink
from framework.operators.windows import OpenWindows
from framework.operators.windows.spec import GAP_MS, LENGTH_COUNT, LENGTH_MS, SLIDE_COUNT, SLIDE_MS
from framework.runtime import Run, RunOptions
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.operators.windows.windowed import MortalTell, Numbered, Tell
from tests.framework.runtime.durability.checkpoints.suspended import (
    Suspending,
    check_suspended_at,
    run_suspended,
    suspending,
)
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import Row, plan_of, run_built
from tests.framework.runtime.workers.killed import MortalPartitions, Written
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.framework.runtime.workers.test_exact import run, undisturbed, written
from tests.portions import at_every_change, times_at_every_change

FORMS: tuple[dict[str, Any], ...] = (
    {LENGTH_MS: 0.03, SLIDE_MS: 0.01},
    {LENGTH_MS: 0.02, SLIDE_MS: 0.02},
    {LENGTH_COUNT: 12, SLIDE_MS: 0.01},
    {LENGTH_COUNT: 20, SLIDE_COUNT: 7},
    {LENGTH_MS: 0.05, SLIDE_COUNT: 3},
    {GAP_MS: 0.006},
)
"""The rows of `Partitions` have microseconds between them."""


def killed(config: dict[str, Any]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", MortalPartitions, 2, kwargs={"count": 900})
    builder.set_bolt("windows", MortalTell, config=config).global_grouping("source")
    builder.set_bolt("sink", Written).global_grouping("windows")
    return builder


SPREAD = {"source": [1, 2], "windows": 3, "sink": 2}


@pytest.mark.few(1)
@pytest.mark.parametrize("config, seed", at_every_change([(c, s) for s in range(1, 5) for c in FORMS], 3))
def test_killed_workers_change_nothing(config: dict[str, Any], seed: int, tmp_path: Path) -> None:
    expected = undisturbed(killed(config), tmp_path)
    report = run(killed(config), tmp_path, seed, viper__placement=SPREAD, viper__slice__tuples=16)
    assert len(report.incidents) > 1
    assert written(tmp_path) == expected


def test_a_window_that_forgets_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenWindows, "flush", lambda self: None)
    config = FORMS[0]
    whole = run_built(suspended(Partitions(4, 300, 1), config)).result("sink")
    first = run_suspended(suspended(Suspending(4, 300, 1, os.getpid(), 90), config), tmp_path)
    second = run_built(suspended(Partitions(4, 300, 1), config), {"start": tmp_path})
    assert first.result("sink") + second.result("sink") != whole


def suspended(spout: Partitions, config: dict[str, Any], sources: int = 2) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("windows", Tell, config=config).global_grouping("source")
    builder.set_bolt("again", Ends, config={LENGTH_MS: 0.04, SLIDE_MS: 0.04}).global_grouping("windows")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("windows")
    sink.global_grouping("again")
    return builder


class Ends(Tell):
    """Emits the ends of the windows that a window has, in the form of such a window."""

    def process_window(self, window: TupleWindow) -> None:
        ends = [tup.values.end for tup in window.tuples]
        self.emit([window.start, window.end, ends, [], []])


@pytest.mark.few(4)
@pytest.mark.parametrize("config", FORMS, ids=str)
@pytest.mark.parametrize("seed", at_every_change(range(10), 2))
def test_a_run_that_is_suspended_is_gone_on_with(seed: int, config: dict[str, Any], tmp_path: Path) -> None:
    whole = run_built(suspended(Partitions(4, 300, seed), config)).result("sink")
    spout = Suspending(4, 300, seed, os.getpid(), (seed * 7919 + 31) % 250)
    first = run_suspended(suspended(spout, config), tmp_path)
    assert first.reason is StopReason.SUSPENDED
    rows = first.result("sink")
    assert len(rows) < len(whole) and rows == whole[: len(rows)]
    second = run_built(suspended(Partitions(4, 300, seed), config, sources=3), {"start": tmp_path})
    assert rows + second.result("sink") == whole


@pytest.mark.few(1)
@pytest.mark.parametrize("config", FORMS, ids=str)
@pytest.mark.parametrize("times_us", times_at_every_change(range(279, 282), range(200, 279), range(282, 380)))
def test_a_run_can_be_suspended_at_every_time(
    times_us: range, config: dict[str, Any], tmp_path: Path
) -> None:
    """Also at those where windows end."""
    check_suspended_at(times_us, lambda spout: suspended(spout, config), tmp_path)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(10), 2))
@every_kind
def test_every_checkpoint_can_be_gone_on_from(seed: int, workers: Workers, tmp_path: Path) -> None:
    config = FORMS[seed % len(FORMS)]
    whole = run_built(suspended(Partitions(4, 400, seed), config)).result("sink")
    spout = Suspending(4, 400, seed, os.getpid(), 20 + seed, 90)
    options = {**workers.options, "viper__checkpoint__keep": 1000}
    running = Run(*plan_of(suspended(spout, config), **options), RunOptions(checkpoints=tmp_path))
    with suspending(running, goes_on=True):
        assert running.execute().result("sink") == whole
    for number in CheckpointFolder(tmp_path).ids:
        start = {"start": tmp_path / f"checkpoint-{number:06}"}
        again = run_built(suspended(Partitions(4, 400, seed), config), start).result("sink")
        assert again == whole[len(whole) - len(again) :], number


class Raises(Tell):
    """Raises for the window that ends at 20 milliseconds."""

    def process_window(self, window: TupleWindow) -> None:
        if window.end == 20_000:
            raise ValueError("20")
        super().process_window(window)


def raising(config: dict[str, Any], choice: str) -> list[Row]:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbered, args=[[(n, n) for n in range(40)]])
    chosen = {**config, "viper.on.error": choice}
    builder.set_bolt("windows", Raises, config=chosen).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found: list[Row] = run_built(builder).result("sink")
    return found


@pytest.mark.parametrize("choice", ["skip", "restart"])
def test_a_window_that_raises_is_not_tried_again(choice: str) -> None:
    found = raising({LENGTH_MS: 10, SLIDE_MS: 5}, choice)
    ends = [end // 1000 for _, end, *_ in found]
    assert ends == [0, 5, 10, 15, 25, 30, 35, 40, 45]
    *_, numbers, new, expired = found[4]  # behind the last window that did not raise
    assert (numbers, new, expired) == (
        [*range(16, 26)],
        [*range(16, 26)],
        [*range(6, 16)],
    )


@pytest.mark.parametrize("choice", ["skip", "restart"])
def test_a_tuple_whose_window_raises_is_taken_back(choice: str) -> None:
    found = raising({LENGTH_COUNT: 5, SLIDE_COUNT: 3}, choice)
    assert [numbers for _, _, numbers, _, _ in found][6:8] == [
        [16, 17, 18, 19, 21],
        [19, 21, 22, 23, 24],
    ]
