"""Rows out of order in runs that are cut, suspended and killed: the same rows, each late one counted once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import SeekableSpout, Stream, TopologyBuilder
from framework.model.errors import CheckpointError, ComponentError
from framework.operators.components import Block, Watermark
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource, JsonLinesSource, ParquetSource
from framework.runtime import RunReport, run
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from framework.runtime.tasks.aligned_spout import AlignedSpout
from tests.framework.operators.sources.disordered import LATE, SLACK, Row, drawn, expected, source, write
from tests.framework.runtime.durability.checkpoints.suspended import (
    SIGNAL,
    decided,
    ending_from,
    heard,
    run_suspended,
    settled,
)
from tests.framework.runtime.durability.checkpoints.test_while_running import run_with_checkpoints
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.killed import Mortal, Written
from tests.portions import at_every_change

COUNT, LITTLE = 400, 20
LAST = 60
"""Rows before which a spout waits until its checkpoint is there."""
NEAR = {"viper__channel__tuples": 32, "viper__channel__jumbos": 8, "viper__jumbo__size": 4}
"""No source is far ahead of the others."""
NO_FIELD = {"viper.timestamp.field": None}
FILES = drawn(1, files=3, count=COUNT)
MUST = expected(FILES, LITTLE)
FIELDS = ["at", "file", "n"]


class Signals:
    """Has the leader of the run suspend it, or make a checkpoint, amid its second file.

    Args:
        leader: the process that leads the run; 0 for none.
    """

    _most_block_rows = 64

    def __init__(self, *args: Any, leader: int = 0, **options: Any) -> None:
        super().__init__(*args, **options)
        self._leader = leader

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        blocks = super().blocks(partition, start_us)  # type: ignore[misc]
        for number, block in enumerate(blocks):
            yield block
            if self._leader and number == 2:
                yield from self._signalled(partition)

    def _signalled(self, partition: int) -> Iterator[None]:
        if partition == 1:
            os.kill(self._leader, SIGNAL)
        while not heard(self._leader).exists():
            yield None


class Csv(Signals, CsvSource):
    pass


class Json(Signals, JsonLinesSource):
    pass


class Parquet(Signals, ParquetSource):
    pass


class Seekable(SeekableSpout):
    """Brings rows one by one, and has the leader do something after some of them."""

    outputs = [Stream(FIELDS), Stream(FIELDS, name="belated")]
    config = {"viper.timestamp.field": "at", "viper.timestamp.unit": "ms"}

    def __init__(self, rows: Sequence[Row], leader: int = 0, at: int = -1, awaits: bool = False) -> None:
        super().__init__()
        self._rows = [list(row) for row in rows]
        self._leader = leader
        self._at = at
        self._awaits = awaits
        self._next = 0

    def tuples(self) -> Iterator[list[Any] | None]:
        while self._next < len(self._rows):
            self._next += 1
            yield self._rows[self._next - 1]
            if self._leader and self._next == self._at:
                os.kill(self._leader, SIGNAL)
                while not (decided if self._awaits else heard)(self._leader).exists():
                    yield None
            while (
                self._awaits and self._next == len(self._rows) - LAST and not settled(self._leader).exists()
            ):
                yield None

    def offset(self) -> int:
        return self._next

    def seek(self, offset: int) -> None:
        self._next = offset


class Polled(Seekable):
    """As `Seekable`, several rows in a call, with ids."""

    tuples = SeekableSpout.tuples
    config = {**Seekable.config, "viper.spout.bounded": True}

    def next_tuple(self) -> None:
        if self._next >= len(self._rows):
            raise StopIteration
        first, self._next = self._next, min(self._next + 1 + self._next % 5, len(self._rows))
        for number in range(first, self._next):
            self.emit(self._rows[number], tup_id=number)
        if self._leader and first < self._at <= self._next:
            os.kill(self._leader, SIGNAL)


def built(made: Any, par: int = 1, late: str = "belated", sink: Any = CollectingSink) -> TopologyBuilder:
    """All rows of a source in one sink, or of several, by name."""
    builder = TopologyBuilder()
    both = builder.set_bolt("sink", sink)
    for name, spout in (made if isinstance(made, dict) else {"source": made}).items():
        config = {**(getattr(type(spout), "config", None) or {}), SLACK: LITTLE, LATE: late}
        builder.set_spout(name, spout, par, config=config)
        both.global_grouping(name)
        if late not in ("drop", "admit", "error"):
            both.global_grouping(name, stream=late)
    return builder


def late_of(*reports: RunReport) -> int:
    return sum(counted.late for report in reports for counted in report.components.values())


KINDS: dict[str, Callable[..., Any]] = {"csv": Csv, "jsonl typed": Json, "parquet typed": Parquet}


def files_of(kind: str, folder: Path, **options: Any) -> Any:
    path = write(kind, folder, FILES)
    types = {"at": "int64", "file": "string", "n": "int64"}
    timed = {"timestamp": "at", "unit": "ms", "typed": kind.endswith("typed"), **options}
    if kind == "csv":
        return Csv(path, types=types, **timed)
    return Json(path, list(types), types=types, **timed) if "json" in kind else Parquet(path, **timed)


# -- suspended


def times_us(count: int) -> list[int]:
    """Event times all over the rows, in microseconds."""
    return [at * 1000 for at in range(-180, COUNT * 2 + 60, (COUNT * 2 + 240) // count)]


@pytest.mark.parametrize("late", ["belated", "drop"])
@pytest.mark.parametrize("time_us", at_every_change(times_us(24), 4))
def test_files_of_a_suspended_run(time_us: int, late: str, tmp_path: Path) -> None:
    """The run continues with other numbers of tasks and workers, and reads the files again."""
    must = MUST.all if late == "belated" else MUST.rows
    kind = sorted(KINDS)[time_us // 1000 % 3]
    with ending_from(time_us):
        rows = files_of(kind, tmp_path / "data", leader=os.getpid())
        first = run_suspended(built(rows, 2, late), tmp_path / "kept")
    assert first.reason is StopReason.SUSPENDED
    again = built(files_of(kind, tmp_path / "data"), 3, late)
    second = run_built(again, {"start": tmp_path / "kept"}, viper__worker="thread", topology__workers=2)
    assert first.result("sink") + second.result("sink") == must
    assert late_of(first, second) == len(MUST.late)


@pytest.mark.parametrize("kind", [Seekable, Polled])
@pytest.mark.parametrize("at", at_every_change(range(1, COUNT, 19), 4))
def test_a_seekable_spout_of_a_suspended_run(at: int, kind: type[Seekable], tmp_path: Path) -> None:
    must = expected(FILES[:1], LITTLE)
    first = run_suspended(built(kind(FILES[0], os.getpid(), at)), tmp_path)
    assert first.reason is StopReason.SUSPENDED
    second = run_built(built(kind(FILES[0])), {"start": tmp_path})
    assert first.result("sink") + second.result("sink") == must.all
    assert late_of(first, second) == len(must.late)


def sources_of(folder: Path, **options: Any) -> dict[str, Any]:
    at = {"at": COUNT // 2} if "leader" in options else {}
    return {
        "files": source("csv", write("csv", folder, FILES[:2])),
        "rows": Seekable(FILES[2], **options, **at),
    }


@pytest.mark.parametrize("time_us", at_every_change(times_us(12), 2))
def test_sources_of_both_kinds_come_to_one_time(time_us: int, tmp_path: Path) -> None:
    whole = run_built(built(sources_of(tmp_path / "data")))
    assert sorted(whole.result("sink")) == sorted(MUST.all)
    with ending_from(time_us):
        rows = sources_of(tmp_path / "data", leader=os.getpid())
        first = run_suspended(built(rows), tmp_path / "kept")
    second = run_built(built(sources_of(tmp_path / "data")), {"start": tmp_path / "kept"})
    assert first.result("sink") + second.result("sink") == whole.result("sink")
    assert late_of(first, second) == late_of(whole) == len(MUST.late)


# -- checkpoints while the run goes on


@pytest.mark.parametrize("at", at_every_change(range(20, COUNT // 2, 60), 2))
def test_checkpoints_of_both_kinds_while_the_run_goes_on(at: int, tmp_path: Path) -> None:
    """Each checkpoint is resumed from, and brings just the rest of the output."""
    whole = run_built(built(sources_of(tmp_path / "data"))).result("sink")
    rows = sources_of(tmp_path / "data")
    rows["rows"] = Seekable(FILES[2], os.getpid(), at, awaits=True)
    report = run_with_checkpoints(built(rows), tmp_path / "kept", **NEAR)
    assert report.result("sink") == whole
    assert CheckpointFolder(tmp_path / "kept").ids
    for number in CheckpointFolder(tmp_path / "kept").ids:
        start = {"start": tmp_path / "kept" / f"checkpoint-{number:06}"}
        again = run_built(built(sources_of(tmp_path / "data"), 1), start)
        found = again.result("sink")
        assert 0 < len(found) < len(whole) and found == whole[-len(found) :]


def test_what_is_held_back_and_forgotten_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks above can fail: here a checkpoint has where the spout is, and not what it holds back."""
    save = AlignedSpout.save

    def forgetting(self: AlignedSpout) -> tuple[Any, Any, list[Any]]:
        offset, (has_brought_all, clock, _), _ = save(self)
        return offset, (has_brought_all, clock, None), []

    monkeypatch.setattr(AlignedSpout, "save", forgetting)
    first = run_suspended(built(Seekable(FILES[0], os.getpid(), 100)), tmp_path)
    try:
        second = run_built(built(Seekable(FILES[0])), {"start": tmp_path})
    except ComponentError as error:  # a row that comes before all that the first run has let go
        assert "event time must not go back" in str(error)
        return
    assert first.result("sink") + second.result("sink") != expected(FILES[:1], LITTLE).all


@pytest.mark.parametrize("change", [{SLACK: LITTLE + 1}, {LATE: "drop"}, {SLACK: 0, LATE: "error"}])
@pytest.mark.parametrize("kind", ["files", "rows"])
def test_another_order_is_refused(kind: str, change: dict[str, Any], tmp_path: Path) -> None:
    """Places among the rows in order, and what is held back, belong to one slack."""

    def made(leader: int = 0) -> Any:
        if kind == "files":
            return files_of("csv", tmp_path / "data", leader=leader)
        return Seekable(FILES[0], leader, 90)

    run_suspended(built(made(os.getpid())), tmp_path / "kept")
    builder = TopologyBuilder()
    config = {**Seekable.config, SLACK: LITTLE, LATE: "belated", **change}
    builder.set_spout("source", made(), config=config if kind == "rows" else {**config, **NO_FIELD})
    both = builder.set_bolt("sink", CollectingSink).global_grouping("source")
    if kind == "rows" or config[LATE] == "belated":
        both.global_grouping("source", stream="belated")
    found = {
        "files": "had other data, .*slack 20, late: belated",
        "rows": "put its tuples in order by viper.timestamp.slack 20 and viper.timestamp.late belated: found",
    }
    with pytest.raises(CheckpointError, match=found[kind]):
        run_built(builder, {"start": tmp_path / "kept"})


# -- killed


class MortalFiles(Mortal, CsvSource):
    """Its process may be killed."""

    _most_block_rows = 64

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        CsvSource.initialize(self, storm_conf, context)
        Mortal.initialize(self, storm_conf, context)


class MortalRows(Mortal, Seekable):
    """Its process may be killed."""


def killed(builder: TopologyBuilder, folder: Path, seed: int, kills: int) -> RunReport:
    marks = folder / "marks"
    marks.mkdir(exist_ok=True)
    for mark in marks.iterdir():
        mark.unlink()
    (folder / "written").unlink(missing_ok=True)
    options = {
        "viper__worker": "process",
        "topology__workers": 2,
        "viper__worker__restart__tries": 20,
        "viper__recovery": "exact",
        "topology__acker__executors": 0,
        "viper__slice__tuples": 32,
        "viper__channel__tuples": 64,
        "viper__jumbo__size": 8,
        "marks": str(marks),
        "written": str(folder / "written"),
        "kills": kills,
        "kill__seed": seed,
        "kill__bits": 8,
    }
    return run(*plan_of(builder, **options))


@pytest.mark.few(2)
@pytest.mark.parametrize("late", ["belated", "drop"])
@pytest.mark.parametrize("kind", ["files", "rows"])
@pytest.mark.parametrize("seed", at_every_change(range(6), 1))
def test_killed_workers_change_nothing(seed: int, kind: str, late: str, tmp_path: Path) -> None:
    must = MUST if kind == "files" else expected(FILES[:1], LITTLE)
    types = {"at": "int64", "n": "int64"}
    path = write("csv", tmp_path / "data", FILES)
    made: Any = MortalFiles(path, types=types, timestamp="at", unit="ms")
    if kind == "rows":
        made = MortalRows(FILES[0])
    report = killed(built(made, 2 if kind == "files" else 1, late, Written), tmp_path, seed, 4)
    assert len(report.incidents) > 0
    rows = must.all if late == "belated" else must.rows
    assert (tmp_path / "written").read_text() == "".join(f"{row!r}\n" for row in rows)
    assert report.components["source"].late == len(must.late)
