"""Components of streamparse's have a process for each task, as on Storm, unless somebody says otherwise."""

from __future__ import annotations

import logging
import os
import re
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.frontends.loading import load
from framework.operators.sinks import CollectingSink
from framework.planning.validation import validate
from framework.planning.validation.running import check_isolation
from framework.runtime import RunReport
from framework.testing import run_topology
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers import ported
from tests.framework.runtime.workers.components import Numbers, Places
from tests.framework.runtime.workers.conftest import REPOSITORY
from tests.framework.runtime.workers.ported import Emits, Remembers, Twin

QUICKSTART = REPOSITORY / "tests" / "fixtures" / "quickstart" / "topologies" / "wordcount.py"
AS_USUAL: dict[str, Any] = {"viper__worker": None}
"""Nothing said about workers; the tests' own default is one thread."""


@pytest.fixture(autouse=True)
def _nothing_seen_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ported, "seen", [])
    monkeypatch.setattr(Remembers, "seen_by_class", [])


def remembering(**options: Any) -> RunReport:
    builder = TopologyBuilder()
    builder.set_spout("source", Emits)
    builder.set_bolt("one", Remembers, 2).shuffle_grouping("source")
    builder.set_bolt("other", Twin).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("one").global_grouping("other")
    return run_built(builder, {"max_tuples": 100}, **AS_USUAL | options)


def test_every_task_has_a_process_with_classes_and_modules_of_its_own() -> None:
    rows = remembering().result("sink")
    pids = {task: pid for task, pid, _, _ in rows}
    assert len(pids) == len({*pids.values(), os.getpid()}) - 1 == 3
    for task, count in ((1, 50), (2, 50), (3, 100)):
        mine = [(in_class, in_module) for who, _, in_class, in_module in rows if who == task]
        assert mine == [(n, n) for n in range(1, count + 1)]


@pytest.mark.parametrize(
    "options",
    [{"viper__isolated": False}, {"viper__worker": "inline"}, {"viper__worker": "thread"}],
    ids=["not isolated", "inline", "thread"],
)
def test_where_they_share_a_process_they_share_classes_and_modules(options: dict[str, Any]) -> None:
    rows = remembering(**options).result("sink")
    assert {pid for _, pid, _, _ in rows} == {os.getpid()}
    assert len({task for task, *_ in rows}) == 3
    assert sorted(in_class for *_, in_class, _ in rows) == list(range(1, 201))
    assert sorted(in_module for *_, in_module in rows) == list(range(1, 201))


def test_a_component_of_ours_may_ask_for_it() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("alone", Places, 2, config={"viper.isolated": True}).shuffle_grouping("source")
    builder.set_bolt("together", Places, 2).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("alone").global_grouping("together")
    pids = {task: pid for _, task, pid in run_built(builder, **AS_USUAL).result("sink")}
    alone, together = {pids[1], pids[2]}, {pids[5], pids[6]}
    assert (len(alone), len(together), len(alone | together)) == (2, 1, 3)
    assert os.getpid() not in alone | together


def test_workers_are_shared_with_components_that_are_not_isolated() -> None:
    rows = remembering(viper__isolated=False, topology__workers=2).result("sink")
    pids = {pid for _, pid, _, _ in rows}
    assert len(pids) == 2
    for pid in pids:
        counts = sorted(in_module for _, where, _, in_module in rows if where == pid)
        assert counts == list(range(1, len(counts) + 1))


def test_streamparses_quickstart_runs_so_by_default(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    run = run_topology(QUICKSTART, conf={"viper.worker": None}, max_tuples=20_000)
    by_default = _told(caplog)
    assert run.emitted("count_bolt")[-4:] == [
        ("dog", 50_000),
        ("cat", 5000),
        ("zebra", 5000),
        ("elephant", 5000),
    ]
    assert len({pid for _, pid in by_default} - {os.getpid()}) == 2
    caplog.clear()
    run_topology(QUICKSTART, conf={"viper.worker": "inline"}, max_tuples=20_000)
    inline = _told(caplog)
    assert {pid for _, pid in inline} == {os.getpid()}
    assert sorted(text for text, _ in inline) == sorted(text for text, _ in by_default)


def _told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int]]:
    """List the messages that the bolt has logged, with the process that each names."""
    found = [re.fullmatch(r"(counted .*) \[pid=(\d+)\]", record.getMessage()) for record in caplog.records]
    return [(match[1], int(match[2])) for match in found if match]


def test_sharing_is_warned_of_where_it_was_asked_for() -> None:
    topology = load(str(QUICKSTART)).topology
    assert topology is not None
    assert validate(topology) == []
    (warning,) = check_isolation(topology, _settings("inline"))
    assert "and run in the current folder instead of that of their sources" in warning.message
    assert warning.message.endswith(": word_spout, count_bolt")
    assert check_isolation(topology, _settings(None)) == []


def _settings(worker: str | None) -> Any:
    builder = TopologyBuilder()
    builder.set_spout("source", Emits)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    return plan_of(builder, viper__worker=worker)[1]
