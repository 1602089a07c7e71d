"""Rows of files that are out of order: refused by name, put in order, and what becomes of late ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource
from framework.planning.validation import validate
from tests.framework.operators.sources.disordered import (
    KINDS,
    LATE,
    SLACK,
    drawn,
    expected,
    line_of,
    source,
    topology,
    write,
)
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import at_every_change

FILES = drawn(1)
ENOUGH, LITTLE = 400, 20
"""Slacks in milliseconds, with which no row is late, and some are."""

every_kind = pytest.mark.parametrize("kind", KINDS)


def test_the_reference_tells_of_both() -> None:
    assert expected(FILES, ENOUGH).late == []
    assert 50 < len(expected(FILES, LITTLE).late) < 600


@every_kind
def test_rows_come_in_order_within_the_slack(kind: str, tmp_path: Path) -> None:
    rows = source(kind, write(kind, tmp_path / "data", FILES))
    report = run_built(topology(rows, ENOUGH))
    assert report.result("sink") == expected(FILES, ENOUGH).all
    assert report.components["source"].late == 0


@every_kind
def test_late_rows_go_to_the_stream_that_the_configuration_names(kind: str, tmp_path: Path) -> None:
    rows, must = source(kind, write(kind, tmp_path / "data", FILES)), expected(FILES, LITTLE)
    report = run_built(topology(rows, LITTLE, "belated"))
    assert (report.result("sink"), report.result("late")) == (must.rows, must.late)
    assert report.result("both") == must.all
    assert report.components["source"].late == len(must.late)


@every_kind
def test_late_rows_are_dropped_and_counted(kind: str, tmp_path: Path) -> None:
    rows, must = source(kind, write(kind, tmp_path / "data", FILES)), expected(FILES, LITTLE)
    report = run_built(topology(rows, LITTLE, "drop"))
    assert report.result("sink") == must.rows
    assert report.components["source"].late == len(must.late)
    assert report.components["source"].emitted == len(must.rows)


@every_kind
def test_late_rows_are_admitted(kind: str, tmp_path: Path) -> None:
    rows, must = source(kind, write(kind, tmp_path / "data", FILES)), expected(FILES, LITTLE)
    report = run_built(topology(rows, LITTLE, "admit"))
    assert report.result("sink") == must.all
    assert report.components["source"].late == len(must.late)


@every_kind
@pytest.mark.parametrize("slack", [0, 7])
def test_a_late_row_is_named_and_what_is_said_of_it_helps(kind: str, slack: int, tmp_path: Path) -> None:
    """The slack that each message asks for is set, until there is none."""
    files = [[*FILES[0][:40]]]
    path = write(kind, tmp_path / "data", files)
    asked: list[int] = [slack]
    while True:
        late = [row[2] for row in expected(files, asked[-1]).late]
        if not late:
            break
        with pytest.raises(ComponentError) as caught:
            run_built(topology(source(kind, path), asked[-1]))
        told, (at, name, number) = str(caught.value), files[0][min(late)]
        latest = max(row[0] for row in files[0][:number])
        assert "component 'source'" in told
        assert f"{line_of(kind, path, 0, number)}: event time goes back: " in told
        assert f"{(at, name, number)!r} is at " in told
        assert f"({at * 1000} us), after a row at" in told and f"({latest * 1000} us); earlier by" in told
        found = re.search(r"set it to (\d+) \(milliseconds\)", told)
        assert found, told
        assert int(found[1]) == latest - at > asked[-1]
        asked.append(int(found[1]))
    assert len(asked) > 2
    assert run_built(topology(source(kind, path), asked[-1])).result("sink") == expected(files, 10**6).all


@pytest.mark.parametrize("late", ["drop", "admit", "belated"])
def test_without_a_slack_each_row_that_goes_back_is_late(late: str, tmp_path: Path) -> None:
    must = expected(FILES, 0)
    report = run_built(topology(source("csv", write("csv", tmp_path / "data", FILES)), 0, late))
    assert report.result("sink") == (must.all if late == "admit" else must.rows)
    assert report.components["source"].late == len(must.late)


@pytest.mark.parametrize("slack", [10**6, 1e300])
def test_a_slack_longer_than_the_files_sorts_all(slack: float, tmp_path: Path) -> None:
    files = [[*rows, (5, "last", 0)] for rows in FILES]
    rows = source("parquet typed", write("parquet", tmp_path / "data", files))
    assert run_built(topology(rows, slack)).result("sink") == expected(files, 10**9).all


def test_files_that_are_read_in_turn_are_one_partition(tmp_path: Path) -> None:
    rows = source("csv", write("csv", tmp_path / "data", FILES), in_turn=True)
    must = expected([[row for file in FILES for row in file]], LITTLE)
    report = run_built(topology(rows, LITTLE, "belated"))
    assert (report.result("sink"), report.result("late")) == (must.rows, must.late)


@pytest.mark.few(3)
@pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("par", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["csv", "parquet typed"])
def test_neither_tasks_nor_workers_show(kind: str, par: int, workers: Workers, tmp_path: Path) -> None:
    must = expected(FILES, LITTLE)
    rows = source(kind, write(kind, tmp_path / "data", FILES))
    report = workers.run(topology(rows, LITTLE, "belated", par))
    assert (report.result("both"), report.result("late")) == (must.all, must.late)
    assert report.components["source"].late == len(must.late)


@pytest.mark.parametrize("seed", at_every_change(range(2, 12), 2))
def test_drawn_files(seed: int, tmp_path: Path) -> None:
    files = drawn(seed, files=seed % 4 + 1, count=700, jitter=seed * 30)
    rows = source(KINDS[seed % len(KINDS)], write(KINDS[seed % len(KINDS)], tmp_path / "data", files))
    slack = seed * 11
    report = run_built(topology(rows, slack, "belated", seed % 3 + 1))
    assert report.result("both") == expected(files, slack).all


def test_malformed_rows_are_never_late(tmp_path: Path) -> None:
    """They have a stream of other fields; each stands at the latest time of the rows before it."""
    (tmp_path / "a.csv").write_text("at,n\n?,0\n5,1\n9,2\n1,3\nx,4\n7,5\ny\n20,6\n")
    made = CsvSource(
        str(tmp_path / "a.csv"),
        types={"at": "int64"},
        timestamp="at",
        unit="ms",
        on_malformed="stream",
    )
    builder = TopologyBuilder()
    builder.set_spout("source", made, config={SLACK: 3, LATE: "belated"})
    for stream in ("default", "belated", "malformed"):
        builder.set_bolt(stream, CollectingSink).global_grouping("source", stream=stream)
    report = run_built(builder)
    assert report.result("default") == [(5, "1"), (7, "5"), (9, "2"), (20, "6")]
    assert report.result("belated") == [(1, "3")]
    assert [(line, raw) for _, line, raw, _ in report.result("malformed")] == [
        (2, "?,0"),
        (6, "x,4"),
        (8, "y"),
    ]


# -- before the run


def problems(config: dict[str, Any], folder: Path, *streams: str, **options: Any) -> list[str]:
    (folder / "a.csv").write_text("at,n\n1,2\n")
    builder = TopologyBuilder()
    made = CsvSource(str(folder / "a.csv"), **{"timestamp": "at", "unit": "ms", **options})
    builder.set_spout("source", made, config=config)
    sink = builder.set_bolt("sink", CollectingSink).global_grouping("source")
    for stream in streams:
        sink.global_grouping("source", stream=stream)
    found = validate(builder.build("tested"))
    return [("warning: " if problem.warning else "") + problem.message for problem in found]


def test_a_stream_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    (told,) = problems({SLACK: 5, LATE: "dorp"}, tmp_path)
    assert "viper.timestamp.late is 'dorp': no bolt subscribes to stream 'dorp'" in told
    assert problems({SLACK: 5, LATE: "belated"}, tmp_path, "belated") == []
    assert problems({SLACK: 5, LATE: "drop"}, tmp_path) == []


def test_a_stream_that_has_other_rows_is_refused(tmp_path: Path) -> None:
    told = problems({SLACK: 5, LATE: "malformed"}, tmp_path, "malformed", on_malformed="stream")
    assert any("expected a stream that is not for other rows already" in one for one in told), told


def test_a_slack_without_times_is_warned_of(tmp_path: Path) -> None:
    (told,) = problems({SLACK: 5}, tmp_path, timestamp=None, unit=None)
    assert "warning: spout 'source' viper.timestamp.slack and viper.timestamp.late have no effect" in told
    assert "name the field that holds the time to the source itself (timestamp=...)" in told
    (told,) = problems({"viper.timestamp.field": "at"}, tmp_path, timestamp=None, unit=None)
    assert "warning: spout 'source' viper.timestamp.field has no effect: the rows of the source" in told


def test_the_stream_may_be_named_for_the_whole_topology(tmp_path: Path) -> None:
    must = expected(FILES, LITTLE)
    builder = TopologyBuilder()
    builder.set_config(SLACK, LITTLE).set_config(LATE, "belated")
    builder.set_spout("source", source("csv", write("csv", tmp_path / "data", FILES)))
    builder.set_bolt("late", CollectingSink).global_grouping("source", stream="belated")
    assert run_built(builder).result("late") == must.late


def test_the_stream_may_be_named_after_the_spout_was_set(tmp_path: Path) -> None:
    must = expected(FILES, LITTLE)
    builder = TopologyBuilder()
    spout = builder.set_spout("source", source("csv", write("csv", tmp_path / "data", FILES)))
    spout.add_configurations({SLACK: LITTLE, LATE: "belated"})
    builder.set_bolt("late", CollectingSink).global_grouping("source", stream="belated")
    assert run_built(builder).result("late") == must.late
