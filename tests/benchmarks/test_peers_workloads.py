"""Every variant of ours gives what the workload defines, and what differs from it is found out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.peers.alternation import verdict
from benchmarks.peers.entries import Entry, Shape, State, bytewax
from benchmarks.peers.jobs import Job, Outcome, outcome_of
from benchmarks.peers.pairs import PAIRS, entries_of
from benchmarks.peers.programs import components, ours, plain
from benchmarks.peers.registry import EXPERIMENTS
from benchmarks.peers.workloads import WORKLOADS, Row, Workload, expected
from framework.model.config import resolve
from framework.planning import make_plan

SIZES = {"words": 60, "latency": 300}
"""Rows of input; 1,000 for all others."""


def job_of(folder: Path, workload: str, *, exact: bool = True, **options: object) -> Job:
    return Job(workload, SIZES.get(workload, 1000), str(folder), exact, options)


def judged(job: Job, *, is_collapsing: bool = False) -> str:
    entry = Entry("ours", "ours", job.workload, is_collapsing=is_collapsing)
    return verdict(entry, outcome_of(job), expected(job.task, job.size, exact=job.exact))


class TestOurVariants:
    @pytest.mark.few(11)
    @pytest.mark.parametrize(("workload", "variant"), ours.VARIANTS)
    def test_each_gives_what_is_defined(self, tmp_path: Path, workload: str, variant: str) -> None:
        job = job_of(tmp_path, workload, variant=variant)
        ours.run(job)
        assert judged(job) == judged(job, is_collapsing=True) == ""
        assert outcome_of(job).seconds > 0

    @pytest.mark.few(5)
    @pytest.mark.parametrize("width", [1, 100])
    @pytest.mark.parametrize("variant", ["tuples", "functions", "batches", "columns"])
    def test_filters_take_records_of_any_width(self, tmp_path: Path, width: int, variant: str) -> None:
        job = job_of(tmp_path, f"width {width}", variant=variant)
        ours.run(job)
        assert judged(job) == ""

    def test_two_workers_give_the_same(self, tmp_path: Path) -> None:
        config = {"viper.worker": "process", "topology.workers": 2}
        job = job_of(tmp_path, "changes", variant="tuples", par=2, config=config)
        ours.run(job)
        assert judged(job) == ""

    @pytest.mark.parametrize("exact", [False, True])
    @pytest.mark.parametrize("workload", ["words", "filter", "changes", "width 10"])
    def test_the_plain_loop_gives_the_same(self, tmp_path: Path, workload: str, exact: bool) -> None:
        job = job_of(tmp_path, workload, exact=exact)
        plain.run(job)
        assert judged(job) == ""

    def test_every_entry_has_a_plan(self) -> None:
        entries = [entry for found in EXPERIMENTS.values() for entry in found.entries]
        chosen = [entry for entry in entries if entry.program == "ours"]
        assert len(chosen) > 50
        for entry in chosen:
            topology = ours.topology_of(Job(entry.workload, 10, "", options=entry.options))
            settings, problems = resolve(topology, options=entry.options.get("config", {}))
            assert not problems, entry.name
            make_plan(topology, settings)


SHAPES: dict[str, dict[str, object]] = {
    "single": {},
    "by_hand": {},
    "lists": {},
    "lists, recovered": {"recovered": True},
    "arrow": {},
}
"""The programs, with their options."""


class ListOperators:
    """The operators that the programs use, for streams that are lists."""

    class StatefulBatchLogic:
        RETAIN = False

    @staticmethod
    def map(name: str, stream: list[Any], function: Callable[[Any], Any]) -> list[Any]:
        return [function(item) for item in stream]

    @staticmethod
    def filter(name: str, stream: list[Any], function: Callable[[Any], bool]) -> list[Any]:
        return [item for item in stream if function(item)]

    @staticmethod
    def filter_map(name: str, stream: list[Any], function: Callable[[Any], Any]) -> list[Any]:
        return [found for item in stream if (found := function(item)) is not None]

    @staticmethod
    def flat_map(name: str, stream: list[Any], function: Callable[[Any], list[Any]]) -> list[Any]:
        return [found for item in stream for found in function(item)]

    @staticmethod
    def flat_map_batch(name: str, stream: list[Any], function: Callable[[Any], list[Any]]) -> list[Any]:
        return [found for half in (stream[:50], stream[50:]) for found in function(half)]

    @staticmethod
    def key_on(name: str, stream: list[Any], function: Callable[[Any], str]) -> list[Any]:
        return [(function(item), item) for item in stream]

    @staticmethod
    def stateful_map(name: str, stream: list[Any], function: Callable[[Any, Any], Any]) -> list[Any]:
        states: dict[str, Any] = {}
        made = []
        for key, item in stream:
            states[key], found = function(states.get(key), item)
            made.append((key, found))
        return made

    @staticmethod
    def stateful_batch(name: str, stream: list[Any], builder: Callable[[Any], Any]) -> list[Any]:
        logics: dict[str, Any] = {}
        made = []
        for half in (stream[: len(stream) // 3], stream[len(stream) // 3 :]):
            items: dict[str, list[Any]] = {}
            for key, item in half:
                items.setdefault(key, []).append(item)
            for key, found in items.items():
                # A logic is made anew from its snapshot, as it would be after a crash.
                logic = builder(logics[key].snapshot() if key in logics else None)
                logics[key] = logic
                emitted, _ = logic.on_batch(found)
                made += [(key, one) for one in emitted]
        return made


class TestPairs:
    def test_like_stands_beside_like(self) -> None:
        """An entry that is compared with another shape is compared with the same one, too."""
        alike = [pair for pair in PAIRS if pair.ours.shape is pair.other.shape]
        assert len(alike) > 30
        for pair in PAIRS:
            assert pair.ours.workload == pair.other.workload
            assert pair in alike or any(pair.ours == other.ours for other in alike)

    def test_state_by_key_is_compared_with_state_by_key(self) -> None:
        states = {(pair.ours.workload, pair.ours.shape) for pair in PAIRS if pair.ours.state is State.BY_KEY}
        stateful = {(pair.ours.workload, pair.ours.shape) for pair in PAIRS if pair.ours.state is State.LOST}
        assert stateful - states == {("changes", Shape.COLUMNS)}, "for which no state by key is offered"

    def test_each_entry_runs_once_in_a_round(self) -> None:
        entries = entries_of(PAIRS)
        assert len(entries) == len({(entry.workload, entry.name) for entry in entries})
        assert all(pair.ours in entries and pair.other in entries for pair in PAIRS)


def test_a_filter_by_hand_gets_lists() -> None:
    shapes = [bytewax(workload, 100, shape="by hand")[0].shape for workload in ("words", "filter", "width 3")]
    assert shapes == [Shape.SINGLE, Shape.LISTS, Shape.LISTS]


class TestBytewax:
    """The steps of its programs, with its operators replaced by functions of lists."""

    @pytest.fixture(autouse=True)
    def operators(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The modules of a Bytewax whose streams are lists."""
        made = ModuleType("bytewax.operators")
        vars(made).update(vars(ListOperators))
        monkeypatch.setitem(sys.modules, "bytewax", ModuleType("bytewax"))
        monkeypatch.setitem(sys.modules, "bytewax.operators", made)
        monkeypatch.setattr(sys.modules["bytewax"], "operators", made, raising=False)
        for shape in SHAPES:
            monkeypatch.delitem(sys.modules, f"benchmarks.peers.programs.bytewax_{shape}", raising=False)

    @pytest.mark.parametrize("workload", ["words", "filter", "changes", "width 10"])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_each_shape_gives_what_is_defined(self, tmp_path: Path, shape: str, workload: str) -> None:
        module = import_module(f"benchmarks.peers.programs.bytewax_{shape.partition(',')[0]}")
        # Several batches, of which later ones bring keys that have been there and keys that have not.
        job = job_of(tmp_path, workload, batch=7 if workload == "words" else 64, **SHAPES[shape])
        job = replace(job, size=5000) if workload == "changes" else job
        items, at_once = module.items(job, 0, 1)
        assert len(items) > at_once
        tally = job.tally()
        job.started()
        module.count(job, tally, module.steps(job, items))
        job.ended(tally)
        assert judged(job) == ""


class TestMistakes:
    """Bugs that are planted in a component."""

    def test_too_few_rows(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(components, "KEPT_FROM", 2.0)
        job = job_of(tmp_path, "filter", exact=False, variant="tuples")
        ours.run(job)
        assert "rows instead of" in judged(job)

    def test_as_many_rows_that_differ(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def process(bolt: components.Count, tup: components.Any) -> None:
            bolt.emit([tup.values[0], 1])

        monkeypatch.setattr(components.Count, "process", process)
        job = job_of(tmp_path, "words", variant="tuples")
        ours.run(job)
        assert judged(job) == "wrong result: its rows differ"
        assert "newest" in judged(job, is_collapsing=True)

    def test_newest_rows_are_all_that_a_collapsing_system_owes(self) -> None:
        entry = Entry("collapsing", "pathway", "words", is_collapsing=True)
        right = expected(WORKLOADS["words"], 60, exact=True)
        assert right.newest is not None
        some = Outcome(1.0, rows=right.rows // 2, digest=0, newest=right.newest)
        assert verdict(entry, some, right) == ""


class TestWorkloads:
    @pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
    def test_rows_have_the_fields_and_do_not_change(self, workload: Workload) -> None:
        rows = workload.rows(50)
        assert rows == workload.rows(50) and len(rows) == 50
        if workload.kind != "latency":  # whose times come with the clock
            assert {len(row) for row in rows} == {len(workload.fields)}

    def test_parts_divide_the_input(self) -> None:
        workload = WORKLOADS["filter"]
        even, odd = (workload.rows(11, part, 2) for part in range(2))
        assert [row for pair in zip(even, [*odd, ()], strict=True) for row in pair if row] == workload.rows(
            11
        )

    def test_inputs_repeat_the_base(self) -> None:
        workload = WORKLOADS["words"]
        assert workload.rows(len(workload.base) + 2)[-2:] == list(workload.base[:2])

    @pytest.mark.parametrize(
        ("workload", "size", "low", "high"),
        [
            ("filter", 20_000, 0.985, 0.995),
            ("width 30", 20_000, 0.985, 0.995),
            ("changes", 200_000, 0.3, 0.4),
        ],
    )
    def test_as_much_is_emitted_as_is_said(self, workload: str, size: int, low: float, high: float) -> None:
        task = WORKLOADS[workload]
        assert low < task.count(size) / size < high

    @pytest.mark.parametrize("workload", ["words", "filter", "width 100", "changes"])
    def test_what_is_counted_is_what_comes_out(self, workload: str) -> None:
        task = WORKLOADS[workload]
        size = 60 if workload == "words" else 2_500
        assert task.count(size) == expected(task, size, exact=True).rows

    def test_long_inputs_are_counted_by_passes(self) -> None:
        task = WORKLOADS["width 100"]
        size = 2 * len(task.base) + 777
        assert task.count(size) == len(list(task.outputs(task.rows(size))))

    def test_words_are_counted_where_words_come_out(self) -> None:
        found = expected(WORKLOADS["words"], 100, exact=True)
        assert found.units == found.rows > 100

    def test_the_definition_counts_by_key(self) -> None:
        rows: list[Row] = [("a b a",), ("b",)]
        assert list(WORKLOADS["words"].outputs(rows)) == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
