"""Windows by key survive killed processes, suspensions, and exceptions of their operators."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework import KeyWindow, TopologyBuilder, Tuple
from framework.operators.sinks import CollectingSink
from framework.operators.windows.key_state import OpenKeyWindows
from framework.runtime import Run, RunOptions
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.operators.windows.operators import Keyed, Row, TellWindow
from tests.framework.operators.windows.surviving import FORMS, killed, placed, suspended
from tests.framework.runtime.durability.checkpoints.suspended import (
    Suspending,
    check_cut_at,
    check_suspended_at,
    run_suspended,
    suspending,
)
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.framework.runtime.workers.test_exact import run, undisturbed, written
from tests.portions import at_every_change, times_at_every_change


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
def test_positions_do_not_depend_on_the_number_of_tasks(form: str) -> None:
    """A slice may be split for any reason: there may be nothing to be done at the split."""
    serial = run_built(placed(form, 1)).result("sink")
    for par in (3, 5):
        assert run_built(placed(form, par), viper__slice__tuples=50 * par).result("sink") == serial


SPREAD = {"source": [1, 2], "other": 1, "windows": [3, 2], "sink": 2}


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(1, 5), 1))
@pytest.mark.parametrize("form", FORMS)
def test_killed_workers_change_nothing(form: str, seed: int, tmp_path: Path) -> None:
    expected = undisturbed(killed(form), tmp_path)
    ids = [component.id for component in killed(form).build("placed").components]
    spread = {name: SPREAD[name] for name in ids}
    report = run(killed(form), tmp_path, seed, viper__placement=spread, viper__slice__tuples=16)
    assert len(report.incidents) > 1
    assert written(tmp_path) == expected


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", at_every_change(range(10), 1))
def test_a_run_that_is_suspended_is_gone_on_with(seed: int, form: str, tmp_path: Path) -> None:
    whole = run_built(suspended(Partitions(4, 300, seed), form)).result("sink")
    spout = Suspending(4, 300, seed, os.getpid(), (seed * 7919 + 31) % 150)
    first = run_suspended(suspended(spout, form, par=2), tmp_path)
    assert first.reason is StopReason.SUSPENDED
    rows = first.result("sink")
    assert 0 < len(rows) < len(whole) and rows == whole[: len(rows)]
    again = suspended(Partitions(4, 300, seed), form, sources=3, par=5)
    assert rows + run_built(again, {"start": tmp_path}).result("sink") == whole


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("times_us", times_at_every_change(range(279, 282), range(200, 279), range(282, 380)))
def test_a_run_can_be_suspended_at_every_time(times_us: range, form: str, tmp_path: Path) -> None:
    """Also at those where windows end."""
    check_suspended_at(times_us, lambda spout: suspended(spout, form), tmp_path)


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("times_us", times_at_every_change(range(279, 282), range(200, 279), range(282, 380)))
def test_a_checkpoint_can_be_made_at_every_time(times_us: range, form: str, tmp_path: Path) -> None:
    """While the run continues."""
    check_cut_at(times_us, lambda spout: suspended(spout, form, par=2), tmp_path)


def test_windows_that_are_forgotten_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenKeyWindows, "flush", lambda self: None)
    with pytest.raises(AssertionError):
        test_a_run_that_is_suspended_is_gone_on_with(0, "overlapping", tmp_path)


@pytest.mark.few(1)
@every_kind
def test_every_checkpoint_can_be_gone_on_from(workers: Workers, tmp_path: Path) -> None:
    form = "overlapping"
    whole = run_built(suspended(Partitions(4, 400, 3), form)).result("sink")
    spout = Suspending(4, 400, 3, os.getpid(), 23, 90)
    options = {**workers.options, "viper__checkpoint__keep": 1000}
    running = Run(*plan_of(suspended(spout, form, par=2), **options), RunOptions(checkpoints=tmp_path))
    with suspending(running, goes_on=True):
        assert running.execute().result("sink") == whole
    for number in CheckpointFolder(tmp_path).ids:
        start = {"start": tmp_path / f"checkpoint-{number:06}"}
        again = run_built(suspended(Partitions(4, 400, 3), form, par=3), start).result("sink")
        assert again == whole[len(whole) - len(again) :], number


class Raises(TellWindow):
    """Raises for one tuple once it has changed the state, and for one window of each end."""

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> None:
        window.state.append((tup.values.number, 0))
        if tup.values.number == 7:
            raise ValueError("7")

    def output(self, window: KeyWindow) -> Any:
        if window.key == "b":
            raise ValueError("b")
        return super().output(window)


@pytest.mark.parametrize("choice", ["skip", "restart"])
def test_what_raises_is_taken_back_alone(choice: str) -> None:
    rows = [Row(number, [], "abc"[number % 3], number) for number in range(20)]
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[rows])
    config = {"viper.on.error": choice, "viper.restart.tries": 100}
    builder.set_bolt("windows", Raises("10ms"), config=config).fields_grouping("source", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found = run_built(builder, viper__key__groups=1).result("sink")
    assert [(key, end // 1000, numbers) for key, _, end, numbers in found] == [
        ("a", 10, [0, 3, 6, 9]),
        ("c", 10, [2, 5, 8]),
        ("c", 20, [11, 14, 17]),
        ("a", 20, [12, 15, 18]),
    ]
