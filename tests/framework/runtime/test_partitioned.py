"""Partitioned spouts: one output for every parallelism, exact places, restarts, companions."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework import Stream, TopologyBuilder
from framework.cli.reports import report_json
from framework.model.errors import ComponentError, PlaceError, TopologyError
from framework.operators.components import Block, PartitionedSpout
from framework.operators.sinks import CollectingSink
from framework.planning.validation import validate
from framework.runtime import RunReport
from tests.framework.runtime.partitioned import (
    Accompanied,
    Chain,
    InTwo,
    Killed,
    KilledForGood,
    Partitions,
    Refused,
    chain_of,
    chains,
    expected_rows,
    rows_of,
)
from tests.framework.runtime.pieces import FakeClock, Numbers, drawn, run_built
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.portions import at_every_change


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", at_every_change(range(8)))
@pytest.mark.parametrize("partitions", [1, 4, 7])
def test_the_output_is_the_same_for_every_parallelism_and_schedule(partitions: int, seed: int) -> None:
    expected = expected_rows(partitions, 200, seed)
    par, options = drawn(seed)
    for tasks in (1, 2, 3, partitions, partitions + 2):
        report = run_built(chain_of(Partitions(partitions, 200, seed), tasks, par), **options)
        assert report.result("rows") == expected, f"tasks={tasks} par={par} {options}"
        assert report.result("sink") == chains(expected), f"tasks={tasks} par={par} {options}"
        assert report.components["source"].emitted == 200 * partitions
        assert report.drained and report.time == "event"


@pytest.mark.parametrize("kind", ["thread", "process"])
def test_on_every_kind_of_worker(kind: str) -> None:
    expected = expected_rows(4, 500, 3)
    for tasks in (1, 3):
        builder = chain_of(Partitions(4, 500, 3), tasks)
        report = run_built(builder, viper__worker=kind, topology__workers=2)
        assert report.result("rows") == expected
        assert report.result("sink") == chains(expected)


def test_more_tasks_than_partitions_are_told(caplog: pytest.LogCaptureFixture) -> None:
    run_built(chain_of(Partitions(2, 10), 3))
    assert "source:7 has nothing to do: the spout has 2 partitions for 3 tasks" in caplog.text


# -- places


def written(report: RunReport, folder: Path) -> Path:
    path = folder / f"report{report.emitted}.json"
    path.write_text(report_json(report), encoding="utf-8")
    return path


@pytest.mark.few(11)
@pytest.mark.parametrize("stop_after", [1, 17, 333, 799, 800])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (3, 2), (2, 4)])
def test_a_run_goes_on_where_another_had_stopped(
    tmp_path: Path, stop_after: int, before: int, after: int
) -> None:
    expected = expected_rows(4, 200, 5)
    first = run_built(chain_of(Partitions(4, 200, 5), before), {"max_tuples": stop_after})
    second = run_built(chain_of(Partitions(4, 200, 5), after), {"start": written(first, tmp_path)})
    rows = first.result("rows") + second.result("rows")
    assert sorted(rows) == sorted(expected)
    assert first.emitted + second.emitted == 800
    for partition in range(4):  # each goes on in its order
        name = f"p{partition}"
        assert [row for row in rows if row[0] == name] == [row for row in expected if row[0] == name]
    if before == 1:  # one task stops at one place in the whole order
        assert rows == expected


def test_what_another_run_has_finished_is_not_brought_again(tmp_path: Path) -> None:
    first = run_built(chain_of(Partitions()))
    assert run_built(chain_of(Partitions()), {"start": written(first, tmp_path)}).emitted == 0


def test_a_place_in_other_data_is_refused(tmp_path: Path) -> None:
    report = written(run_built(chain_of(Partitions(4, 200, 5)), {"max_tuples": 10}), tmp_path)
    with pytest.raises(PlaceError, match="other data, '4 x 200, seed 5': found '4 x 200, seed 6'"):
        run_built(chain_of(Partitions(4, 200, 6)), {"start": report})


def test_a_report_that_was_changed_is_refused(tmp_path: Path) -> None:
    """One digit of a place is enough; earlier versions wrote no checksum."""
    path = written(run_built(chain_of(Partitions(4, 200, 5)), {"max_tuples": 10}), tmp_path)
    told = json.loads(path.read_text(encoding="utf-8"))
    partition, (ts, count) = next(iter(told["components"]["source"]["places"].items()))
    told["components"]["source"]["places"][partition] = [ts + 1, count]
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(PlaceError, match=r"json is damaged: its checksum does not fit"):
        run_built(chain_of(Partitions(4, 200, 5)), {"start": path})
    told["components"]["source"]["places"][partition] = [ts, count]
    del told["checksum"]
    path.write_text(json.dumps(told), encoding="utf-8")
    assert run_built(chain_of(Partitions(4, 200, 5)), {"start": path}).emitted == 790


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no report of a run"),
        ("[]", "is no report of a run: expected what viper run --report wrote"),
        ('{"error": "x"}', "is no report of a run: expected what viper run --report wrote"),
        ('{"sources": {}, "components": {}, "drained": false, "reason": "interrupted"}', "has lost what was"),
        ('{"sources": {}, "components": {}, "drained": true, "reason": "failed"}', "has lost what was"),
        ('{"sources": {}, "components": {}, "drained": true, "reason": "x", "lost": 3}', "has lost what was"),
        ('{"sources": {}, "components": {}, "drained": true, "reason": "x"}', "not tell how far spout"),
    ],
)
def test_what_is_no_place_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlaceError, match=message):
        run_built(chain_of(Partitions()), {"start": path})


def test_a_spout_without_partitions_cannot_go_on(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    report = run_built(builder)
    with pytest.raises(PlaceError, match="spout 'source' brings no partitions"):
        run_built(builder, {"start": written(report, tmp_path)})


def test_the_report_tells_places_by_partition(tmp_path: Path) -> None:
    report = run_built(chain_of(Partitions(2, 30), 2), {"max_tuples": 20})
    told = json.loads(written(report, tmp_path).read_text(encoding="utf-8"))
    assert told["sources"] == {"source": "2 x 30, seed 0"}
    places = told["components"]["source"]["places"]
    assert set(places) <= {"0", "1"} and all(len(place) == 2 for place in places.values())


def test_nobody_knows_a_place_behind_which_no_row_came_after_a_death(tmp_path: Path) -> None:
    builder = killed(KilledForGood(1, 300, 0), 1)
    first = run_built(builder, {"duration_s": 2}, viper__worker="process")
    assert first.drained and len(first.incidents) == 1
    with pytest.raises(PlaceError, match="a worker of spout 'source' had died, and that run ended before"):
        run_built(chain_of(KilledForGood(1, 300, 0)), {"start": written(first, tmp_path)})


def test_a_replay_has_no_place(tmp_path: Path) -> None:
    builder, recording = chain_of(Partitions()), tmp_path / "recording"
    run_built(builder, {"record": recording})
    replayed = run_built(builder, {"replay": recording})
    assert replayed.emitted == 800
    with pytest.raises(PlaceError, match="had no rows from spout 'source' itself"):
        run_built(builder, {"start": written(replayed, tmp_path)})


# -- faults


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_spout_that_raises_goes_on_where_it_was(tasks: int) -> None:
    expected = expected_rows(2, 200, 0)
    builder = chain_of(Partitions(2, 200, 0, fails=True), tasks)
    report = run_built(builder, viper__on__error="restart", viper__restart__tries=5)
    assert report.result("rows") == expected
    assert report.components["source"].restarts >= 1


def killed(spout: PartitionedSpout, tasks: int) -> TopologyBuilder:
    """The same with processes of their own for the spout's tasks."""
    builder = TopologyBuilder()
    builder.set_spout("source", spout, tasks, config={"viper.isolated": True})
    builder.set_bolt("chain", Chain, 2).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("chain")
    builder.set_bolt("rows", CollectingSink).global_grouping("source")
    return builder


def test_what_a_spout_brought_before_it_raised_counts() -> None:
    builder = chain_of(Partitions(2, 200, 0, fails=True))
    options = {"viper__on__error": "restart", "viper__restart__tries": 5}
    report = run_built(builder, {"max_tuples": 210}, **options)
    assert report.emitted == len(report.result("rows")) == 210


def test_more_partitions_than_positions_can_tell_are_refused() -> None:
    with pytest.raises(ComponentError, match="4097 partitions: expected at most 4096"):
        run_built(chain_of(Partitions(4097, 0), 2))


@pytest.mark.parametrize("tasks", [1, 3])
def test_a_spout_whose_process_dies_goes_on_where_it_was(tasks: int) -> None:
    expected = expected_rows(3, 300, 0)
    report = run_built(killed(Killed(3, 300, 0), tasks), viper__worker="process")
    assert report.result("rows") == expected
    assert report.result("sink") == chains(expected)
    assert len(report.incidents) == tasks


def test_a_spout_that_raises_ends_the_run() -> None:
    with pytest.raises(ComponentError, match=r"'source'.* in blocks: RuntimeError: the source is gone"):
        run_built(chain_of(Partitions(2, 200, 0, fails=True)))


class Wrong(PartitionedSpout):
    """Brings what no block may be."""

    outputs = ["a"]
    partitions = 1

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        if self._what == "backwards":
            yield Block(array("q", [5, 6, 4]), [(1,), (2,), (3,)])
        elif self._what == "uneven":
            yield Block(array("q", [5]), [(1,), (2,)])
        elif self._what == "typed":
            yield Block(array("i", [5]), [(1,)])
        elif self._what == "rowless":
            yield Block(array("q", [5]), [])
        elif self._what == "wide":
            yield Block(array("q", [5, 6]), [(1,), (2, 3)])
        elif self._what == "listed":
            yield Block(array("q", [5]), [[1]])  # type: ignore[list-item]
        elif self._what == "strange":
            yield Block(array("q", [5]), [(1,)], stream="defualt")
        elif self._what == "untyped":
            yield [(1,)]  # type: ignore[misc]
        self.emit([1])


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("backwards", r"partition 0, row 2 of a block: event time goes back: \(3,\) is at .*\(4 us\), after"),
        ("uneven", "a block with 1 times for 2 rows"),
        ("rowless", "a block with 1 times for 0 rows"),
        ("wide", r"partition 0: row 1 of a block is \(2, 3\): expected a tuple with a value for each of"),
        ("listed", r"partition 0: row 0 of a block is \[1\]: expected a tuple with a value"),
        ("untyped", "partition 0: blocks gave a list: expected a Block, a Watermark or None"),
        ("strange", "a block of the unknown stream 'defualt': expected 'default'; did you mean 'default'"),
        ("typed", r"times are an array of type 'i': expected array\('q'\)"),
        ("emits", r"its rows come from blocks\(\), not emit\(\)"),
    ],
)
def test_what_is_no_block_is_refused(what: str, message: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Wrong(what))
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    with pytest.raises(ComponentError, match=message):
        run_built(builder)


def test_logical_time_is_refused() -> None:
    with pytest.raises(TopologyError, match="brings its rows by event time: expected viper"):
        run_built(chain_of(Partitions()), viper__time="logical")


def in_two(par: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", InTwo(4, 200, 1), par)
    both = builder.set_bolt("both", CollectingSink)
    both.global_grouping("source")
    both.global_grouping("source", stream="third")
    builder.set_bolt("third", CollectingSink).global_grouping("source", stream="third")
    return builder


@pytest.mark.parametrize("par", [1, 3])
@every_kind
def test_blocks_of_several_streams_stay_in_order(workers: Workers, par: int) -> None:
    expected = [row[:2] for row in expected_rows(4, 200, 1)]
    report = workers.run(in_two(par))
    assert report.result("both") == [row[1:] if row[1] % 3 == 0 else row for row in expected]
    assert report.result("third") == [row[1:] for row in expected if row[1] % 3 == 0]


def test_direct_streams_are_refused() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions(), outputs=[Stream(["a"], direct=True)])
    builder.set_bolt("sink", CollectingSink).direct_grouping("source")
    messages = [problem.message for problem in validate(builder.build("tested"))]
    told = "brings partitions, and nobody names a task for their rows: found direct default"
    assert any(told in text for text in messages), messages


# -- companions


@pytest.mark.parametrize("kind", ["inline", "process"])
def test_a_companion_runs_beside_the_tasks(tmp_path: Path, kind: str) -> None:
    builder = chain_of(Accompanied(2, 1), 2)
    log = tmp_path / "log"
    builder.set_config("test.log", str(log))
    report = run_built(builder, viper__worker=kind, topology__workers=2)
    assert report.result("rows") == expected_rows(2, 50, 0)
    assert log.read_text(encoding="utf-8") == "begin\nend\n"


def test_a_companion_ends_with_a_run_that_fails(tmp_path: Path) -> None:
    builder = chain_of(Accompanied(2, 1, fails=True))
    log = tmp_path / "log"
    builder.set_config("test.log", str(log))
    with pytest.raises(ComponentError, match="the source is gone"):
        run_built(builder)
    assert log.read_text(encoding="utf-8") == "begin\nend\n"


def test_a_companion_can_refuse_the_run() -> None:
    with pytest.raises(ComponentError, match=r"in companion: ValueError: there is no source"):
        run_built(chain_of(Refused()))


# -- pace


def test_a_paced_replay_keeps_the_distances(clock: FakeClock) -> None:
    expected = expected_rows(3, 50, 1)
    report = run_built(chain_of(Partitions(3, 50, 1, speed=1e-3), 2), {"stop": clock})
    assert report.result("rows") == expected
    last_us = max(ts for p in range(3) for ts, _ in rows_of(p, 50, 1))
    assert last_us * 1e-3 <= report.elapsed_s <= last_us * 1e-3 + 1


def test_a_paced_replay_goes_on_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    builder = chain_of(Partitions(1, 100, 1, speed=1e-3))
    first = run_built(builder, {"stop": FakeClock(monkeypatch), "max_tuples": 60})
    second = run_built(builder, {"stop": FakeClock(monkeypatch), "start": written(first, tmp_path)})
    assert first.emitted + second.emitted == 100
    last_us = rows_of(0, 100, 1)[-1][0]
    assert first.elapsed_s + second.elapsed_s == pytest.approx(last_us * 1e-3, abs=0.2)
