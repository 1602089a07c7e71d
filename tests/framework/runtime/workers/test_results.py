"""The results of a run are the same on workers of every kind."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink, CountingSink
from framework.runtime import Progress, RunReport, StopReason
from framework.testing import run_topology
from tests.framework.runtime.workers.components import Counts, Endless, Forward, Numbers, Places
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers, every_kind, several

REPOSITORY = Path(__file__).parents[4]
TEXT = "the cat and the dog\nand a zebra\nthe end\n" * 30


def counted(spouts: int = 2, count: int = 500) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, spouts, args=[count])
    builder.set_bolt("count", Counts, 3).fields_grouping("source", "number")
    builder.set_bolt("sink", CollectingSink).global_grouping("count")
    builder.set_bolt("total", CountingSink, 2).shuffle_grouping("count")
    return builder


@pytest.mark.few(8)
@pytest.mark.parametrize("form", ["wordcount.yaml", "wordcount_builder.py", "wordcount_streamparse.py"])
@every_kind
def test_word_count_of_every_form(workers: Workers, form: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    conf = {name.replace("__", "."): value for name, value in workers.options.items()}
    run = run_topology(REPOSITORY / "topologies" / form, conf={**conf, "words.text": str(text)})
    seen: Counter[str] = Counter()
    rows = [(word, seen.update([word]) or seen[word]) for word in TEXT.split()]
    assert run.emitted("count") == rows
    ranked = sorted(((count, word) for word, count in seen.items()), reverse=True)
    assert run.emitted("top") == [(rank, word, count) for rank, (count, word) in enumerate(ranked, 1)]


@several
def test_results_and_counters_are_those_of_one_thread(workers: Workers) -> None:
    alone, together = INLINE.run(counted()), workers.run(counted())
    assert together.result("sink") == alone.result("sink")
    assert len(alone.result("sink")) == 1000
    assert sorted(together.results["total"]) == sorted(alone.results["total"]) == [500, 500]
    assert together.components == alone.components
    assert (together.emitted, together.reason, together.drained) == (1000, StopReason.EXHAUSTED, True)
    assert {name: (c.emitted, c.processed) for name, c in together.components.items()} == {
        "source": (1000, 0),
        "count": (1000, 1000),
        "sink": (0, 1000),
        "total": (0, 1000),
    }


@pytest.mark.parametrize(
    ("workers", "number"), [(INLINE, 1), (Workers("thread", 1), 1), (THREADS, 1), (PROCESSES, 3)], ids=str
)
def test_workers_are_as_many_processes_as_they_should_be(workers: Workers, number: int) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[100])
    builder.set_bolt("places", Places, 6).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("places")
    rows = workers.run(builder).result("sink")
    assert len({task for _, task, _ in rows}) == 6
    assert len({pid for _, _, pid in rows}) == number


@pytest.mark.few(1)
@every_kind
def test_progress_is_told_all_along(workers: Workers) -> None:
    told: list[Progress] = []
    report = workers.run(limited(2), {"duration_s": 0.4, "on_progress": told.append})
    assert [progress.done for progress in told] == [False] * (len(told) - 1) + [True]
    for one, next_one in itertools.pairwise(told):
        assert one.emitted <= next_one.emitted
        assert one.processed <= next_one.processed
    assert any(0 < progress.processed < told[-1].processed for progress in told)
    assert (told[-1].emitted, told[-1].processed) == (report.emitted, 2 * report.emitted)


# -- limits


def limited(spouts: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Endless, spouts)
    builder.set_bolt("forward", Forward, 2).shuffle_grouping("source")
    builder.set_bolt("sink", CountingSink).global_grouping("forward")
    return builder


@pytest.mark.few(8)
@pytest.mark.parametrize("limit", [1, 997, 20_000])
@every_kind
def test_max_tuples_is_exact_for_all_spouts_together(workers: Workers, limit: int) -> None:
    report = workers.run(limited(4), {"max_tuples": limit}, viper__time="logical")
    assert (report.emitted, report.result("sink")) == (limit, limit)
    assert (report.reason, report.drained) == (StopReason.MAX_TUPLES, True)


@every_kind
def test_a_duration_drains(workers: Workers) -> None:
    report = workers.run(limited(2), {"duration_s": 0.1})
    _is_drained(report, StopReason.DURATION)
    assert report.elapsed_s >= 0.1


def _is_drained(report: RunReport, reason: StopReason) -> None:
    assert (report.reason, report.drained) == (reason, True)
    assert report.result("sink") == report.emitted > 0
