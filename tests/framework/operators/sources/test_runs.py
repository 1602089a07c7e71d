"""Runs with file sources: the same rows for every plan, and exactly the rest after an offset."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framework import TopologyBuilder
from framework.api import run
from framework.model.errors import ComponentError, PlaceError, SourceError, ViperError
from framework.operators.components import Block, Bolt, Later
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource, TextSource
from framework.runtime import RunReport
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.test_partitioned import written
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import at_every_change

Row = tuple[Any, ...]
FILES, COUNT = 4, 300
SOURCES = ["csv", "jsonl", "parquet", "text", "csv in turn", "text in turn", "csv by number"]


def data(seed: int) -> list[list[tuple[int, str, int]]]:
    """The rows of each file: a time that many rows share, the name of the file, a number."""
    chance = random.Random(seed)
    files = []
    for file in range(FILES):
        at, rows = 0, []
        for number in range(chance.randrange(COUNT)):
            at += chance.choice([0, 0, 1, 7])
            rows.append((at, f"f{file}", number))
        files.append(rows)
    return files


def in_order(seed: int) -> list[tuple[int, str, int]]:
    """All rows as the guarantee has them: by time, then by file, then as they stand there."""
    found = [(row[0], file, row) for file, rows in enumerate(data(seed)) for row in rows]
    return [row for *_, row in sorted(found, key=lambda entry: entry[:2])]


def source(kind: str, folder: Path, seed: int) -> tuple[FileSource, list[Row]]:
    """A source, its files written, and the rows that it must bring."""
    files, form = data(seed), kind.split()[0]
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(files):
        path = folder / f"{number}.{form}"
        if path.exists():
            continue
        if form == "csv":
            path.write_text("at,file,n\n" + "".join(f"{at},{file},{n}\n" for at, file, n in rows))
        elif form == "jsonl":
            objects = [{"n": n, "file": file, "at": at} for at, file, n in rows]
            path.write_text("".join(json.dumps(found) + "\n" for found in objects))
        elif form == "parquet":
            schema = pa.schema([("at", pa.int64()), ("file", pa.string()), ("n", pa.int64())])
            columns = zip(*rows, strict=True) if rows else ([], [], [])
            table = pa.table([pa.array(column) for column in columns], schema=schema)
            pq.write_table(table, path, row_group_size=50)
        else:
            path.write_text("".join(f"{file}:{n}\n" for _, file, n in rows))
    types, at, path = {"at": "int64", "n": "int64"}, {"timestamp": "at", "unit": "ms"}, str(folder)
    by_number = sorted(
        ((n, file, (f"{row[1]}:{n}",)) for file, rows in enumerate(files) for n, row in enumerate(rows)),
        key=lambda entry: entry[:2],
    )
    in_turn: list[Row] = [row for rows in files for row in rows]
    match kind:
        case "csv":
            return CsvSource(path, types=types, **at), [*in_order(seed)]
        case "jsonl":
            return JsonLinesSource(path, ["at", "file", "n"], **at), [*in_order(seed)]
        case "parquet":
            return ParquetSource(path, **at), [*in_order(seed)]
        case "text":
            return TextSource(path), [row for *_, row in by_number]
        case "csv in turn":
            return CsvSource(path, types=types, in_turn=True), in_turn
        case "text in turn":
            return TextSource(path, in_turn=True), [(f"{file}:{n}",) for _, file, n in in_turn]
    return CsvSource(path, types=types), [(files[f][n][0], f"f{f}", n) for n, f, _ in by_number]


def to_sink(rows: FileSource, par: int = 1) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", rows, par)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    return builder


CASES = [(kind, INLINE) for kind in SOURCES] + [("csv", PROCESSES), ("text", THREADS), ("parquet", PROCESSES)]
CASES += [
    (kind, workers) for kind in SOURCES for workers in (PROCESSES, THREADS) if (kind, workers) not in CASES
]


@pytest.mark.few(9)
@pytest.mark.parametrize(("kind", "workers"), at_every_change(CASES, len(SOURCES) + 3), ids=str)
def test_on_every_kind_of_worker(tmp_path: Path, kind: str, workers: Workers) -> None:
    made, expected = source(kind, tmp_path / "data", 3)
    report = workers.run(to_sink(made, 3))
    assert report.result("sink") == expected and len(expected) > 200
    assert report.time == "event" and report.drained


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("seed", at_every_change(range(10)))
def test_a_run_goes_on_where_another_has_stopped(tmp_path: Path, kind: str, seed: int) -> None:
    chance = random.Random(seed)
    expected = source(kind, tmp_path / "data", seed)[1]
    pars, rows, start = [1, 2, 5], [], {}
    chance.shuffle(pars)
    for par in pars:
        # With one task, a limit is met at one place in the order of all rows.
        limits = {"max_tuples": chance.randrange(1, len(expected)), **start} if par == 1 else start
        again = source(kind, tmp_path / "data", seed)[0]
        report = run_built(to_sink(again, par), limits)
        rows += report.result("sink")
        start = {"start": written(report, tmp_path)}
        if par != 1 and len(rows) == len(expected):
            break
    assert sorted(rows) == sorted(expected)


class Stops(Bolt):
    """Has the run told to stop at its nth tuple."""

    outputs = ["at", "file", "n"]

    def __init__(self, nth: int, leader: int) -> None:
        super().__init__()
        self._left = nth
        self._leader = leader

    def process(self, tup: Any) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(self._leader, signal.SIGTERM)
        self.emit(tup.values)


def stopping(rows: FileSource, par: int, nth: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", rows, par)
    builder.set_bolt("stops", Stops(nth, os.getpid())).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("stops")
    return builder


PLACES = [(workers, par, nth) for workers in (INLINE, PROCESSES) for par in (1, 2, 5) for nth in (1, 77, 200)]


@pytest.mark.parametrize(("workers", "par", "nth"), at_every_change(PLACES, 6))
def test_stopped_by_a_signal_and_gone_on_with_it_is_the_same_row_for_row(
    tmp_path: Path, workers: Workers, par: int, nth: int
) -> None:
    expected = source("csv", tmp_path / "data", 11)[1]
    rows: list[Row] = []
    start: dict[str, Any] = {}
    # Tiny channels, so that the sources are not through before the signal comes.
    small = {"viper__channel__tuples": 8, "viper__channel__jumbos": 1, "viper__jumbo__size": 4}
    for parallelism in (par, 7 - par):
        made = source("csv", tmp_path / "data", 11)[0]
        report = workers.run(stopping(made, parallelism, nth), start, viper__slice__tuples=4, **small)
        rows += report.result("sink")
        assert nth <= len(rows) < len(expected), "it was not stopped in the middle"
        start = {"start": written(report, tmp_path)}
    rest = workers.run(stopping(source("csv", tmp_path / "data", 11)[0], 2, 0), start)
    assert rows + rest.result("sink") == expected


def test_it_does_not_go_on_with_other_data(tmp_path: Path) -> None:
    made = source("csv", tmp_path / "data", 2)[0]
    report = written(run_built(to_sink(made), {"max_tuples": 50}), tmp_path)
    same = {"types": {"at": "int64", "n": "int64"}, "timestamp": "at", "unit": "ms"}
    path = str(tmp_path / "data")
    run_built(to_sink(CsvSource(path, **same)), {"start": report})
    others: list[dict[str, Any]] = [
        {**same, "unit": "s"},
        {**same, "on_malformed": "skip"},
        {"types": same["types"]},
    ]
    for other in others:
        with pytest.raises(
            PlaceError, match=r"had other data, 'CsvSource: 4 files merged, .*start from the begin"
        ):
            run_built(to_sink(CsvSource(path, **other)), {"start": report})
    copied = tmp_path / "data" / "1.csv"
    found = copied.stat()
    os.utime(copied, ns=(0, 0))
    with pytest.raises(PlaceError) as raised:
        run_built(to_sink(CsvSource(path, **same)), {"start": report})
    assert str(raised.value).endswith(
        "; give it the same: files are known by their names, sizes and times of last change, not by what is "
        "in them, and by how they are read: give a copy the time of its original (cp -p, touch -r), or start "
        "from the beginning"
    )
    content = copied.read_bytes()
    copied.unlink()
    copied.write_bytes(content)
    os.utime(copied, ns=(0, found.st_mtime_ns))
    run_built(to_sink(CsvSource(path, **same)), {"start": report})
    with open(tmp_path / "data" / "1.csv", "a") as file:
        file.write("99999999,f1,999\n")
    with pytest.raises(PlaceError, match="had other data"):
        run_built(to_sink(CsvSource(path, **same)), {"start": report})


class TestFiles:
    def test_that_are_changed_while_they_are_read_end_the_run(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("a\n")
        made = TextSource(str(path))
        path.write_text("a\nb\n")
        with pytest.raises(
            SourceError, match=r"a.txt was changed or replaced while the run read it \(2 bytes"
        ):
            list(made.blocks(0, None))

    def test_all_tasks_have_the_files_that_the_run_began_with(self, tmp_path: Path) -> None:
        for name in "bc":
            (tmp_path / name).write_text(f"{name}\n")
        with TextSource(str(tmp_path)).companion({}) as told:
            (tmp_path / "a").write_text("a\n")
            late = TextSource(str(tmp_path))
            late.initialize(dict(told), {})
            assert late.partitions == 2 and next(late.blocks(0, None)).rows == [("b",)]  # type: ignore[union-attr]

    def test_are_found_in_the_order_of_their_names(self, tmp_path: Path) -> None:
        for name in ("2.log", "1.log", "10.log", ".hidden.log", "_draft.log", "x.txt"):
            (tmp_path / name).write_text(f"{name}\n")
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "3.log").write_text("3\n")
        names = lambda path: [Path(file.path).name for file in TextSource(path)._files]  # noqa: E731
        assert names(str(tmp_path / "*.log")) == ["1.log", "10.log", "2.log"]
        assert names(str(tmp_path)) == ["1.log", "10.log", "2.log", "x.txt"]
        assert names(str(tmp_path / "**" / "*.log")) == ["1.log", "10.log", "2.log", "3.log"]
        assert names([str(tmp_path / "x.txt"), str(tmp_path / "*.log")]) == [
            "x.txt",
            "1.log",
            "10.log",
            "2.log",
        ]

    @pytest.mark.parametrize(
        ("path", "told"),
        [
            ("none.csv", "No such file"),
            ("*.csv", "no file to read: nothing matches"),
            ([], "empty list of paths"),
        ],
    )
    def test_that_are_not_there(self, tmp_path: Path, path: Any, told: str) -> None:
        with pytest.raises(SourceError, match=told):
            TextSource(path if isinstance(path, list) else str(tmp_path / path))

    def test_more_than_can_be_merged(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("framework.operators.sources.file_source.MOST_PARTITIONS", 2)
        for name in "abc":
            (tmp_path / name).write_text("")
        with pytest.raises(SourceError, match=r"3 files: at most 2 can be merged by time; .*in_turn=True"):
            TextSource(str(tmp_path))
        assert TextSource(str(tmp_path), in_turn=True).partitions == 1


class TestGrowingFolder:
    def test_files_are_read_as_they_appear(self, tmp_path: Path) -> None:
        (tmp_path / "1").write_text("a\n")
        made = TextSource(str(tmp_path), follow=True, end_marker="_DONE")
        blocks = made.blocks(0, None)
        assert next(blocks).rows == [("a",)]  # type: ignore[union-attr]
        assert isinstance(next(blocks), Later)
        (tmp_path / ".2").write_text("b\nc\n")
        assert isinstance(next(blocks), Later)
        (tmp_path / ".2").rename(tmp_path / "2")
        (block,) = [next(blocks)]
        assert block.rows == [("b",), ("c",)] and list(block.times) == [1, 2]  # type: ignore[union-attr]
        (tmp_path / "3").write_text("d\n")
        (tmp_path / "_DONE").touch()
        assert [block.rows for block in blocks if isinstance(block, Block)] == [[("d",)]]

    def test_a_name_that_comes_too_late_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "2").write_text("a\n")
        blocks = TextSource(str(tmp_path), follow=True).blocks(0, None)
        assert next(blocks) and isinstance(next(blocks), Later)
        (tmp_path / "1").write_text("b\n")
        with pytest.raises(
            SourceError, match=r"1 has appeared after .*2 was read: the names of new files must"
        ):
            next(blocks)

    def test_a_file_that_goes_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "2").write_text("a\n")
        blocks = TextSource(str(tmp_path), follow=True).blocks(0, None)
        assert next(blocks) and isinstance(next(blocks), Later)
        (tmp_path / "2").unlink()
        with pytest.raises(SourceError, match=r"2 has gone while the folder is read"):
            next(blocks)

    def test_a_run_goes_on_with_what_has_come_meanwhile(self, tmp_path: Path) -> None:
        folder = tmp_path / "data"
        folder.mkdir()
        for name in ("1", "2"):
            (folder / name).write_text(f"{name}\n" * 100)

        def follow() -> TextSource:
            return TextSource(str(folder), follow=True, end_marker="_DONE")

        first = run_built(stopped_at(follow(), 150), {"duration_s": 60})
        assert len(first.result("sink")) >= 150
        (folder / "3").write_text("3\n" * 50)
        (folder / "_DONE").touch()
        second = run_built(to_sink(follow(), 3), {"start": written(first, tmp_path)})
        expected = [(name,) for name, count in (("1", 100), ("2", 100), ("3", 50)) for _ in range(count)]
        assert first.result("sink") + second.result("sink") == expected

    def test_it_must_be_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "there.csv").touch()
        os.symlink("nowhere", tmp_path / "link")
        os.mkfifo(tmp_path / "pipe")
        for name, told in (
            (
                "other",
                "other: No such file or directory; follow=True watches a folder for new files, or a file",
            ),
            ("thre.csv", r"thre.csv: No such file or directory; did you mean 'there.csv'\?; follow=True"),
            ("link", "link: No such file or directory: it is a link to 'nowhere'; follow=True"),
            ("pipe", "pipe is a pipe: .*; follow=True"),
        ):
            with pytest.raises(SourceError, match=told):
                TextSource(str(tmp_path / name), follow=True)
        (tmp_path / "there.csv").unlink()
        for name in ("link", "pipe"):
            (tmp_path / name).unlink()
        with pytest.raises(SourceError, match=r"is empty, so nobody knows the columns: name them"):
            CsvSource(str(tmp_path), follow=True)


class StopsText(Stops):
    outputs = ["line"]


def stopped_at(rows: FileSource, nth: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", rows)
    builder.set_bolt("stops", StopsText(nth, os.getpid())).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("stops")
    return builder


FLUX = """
name: trips
spouts:
  - id: trips
    className: viperstorm.sources.CsvSource
    parallelism: 2
    constructorArgs:
      path: {path}
      types: {{n: int64}}
      timestamp: at
      unit: ms
      {more}
bolts:
  - id: sink
    className: viperstorm.sinks.CollectingSink
streams:
  - from: trips
    to: sink
    grouping: {{type: FIELDS, args: [file]}}
"""


class TestYaml:
    def run(self, folder: Path, path: Path, more: str = "") -> RunReport:
        file = folder / "trips.yaml"
        file.write_text(FLUX.format(path=path, more=more))
        return run(str(file))

    def test_it_runs(self, tmp_path: Path) -> None:
        source("csv", tmp_path / "data", 5)
        report = self.run(tmp_path, tmp_path / "data")
        assert report.result("sink") == [(str(at), file, n) for at, file, n in in_order(5)]

    def test_errors_come_before_anything_starts(self, tmp_path: Path) -> None:
        with pytest.raises(ViperError, match=r"none.csv: No such file or directory"):
            self.run(tmp_path, tmp_path / "none.csv")

    def test_a_malformed_row_ends_the_run(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("at,file,n\n1,a,x\n")
        with pytest.raises(
            ComponentError, match=r"'trips'.*in blocks: .*a.csv:2: 'n' is 'x': expected int64"
        ):
            self.run(tmp_path, tmp_path / "a.csv")
        report = self.run(tmp_path, tmp_path / "a.csv", "on_malformed: skip")
        assert report.result("sink") == [] and report.components["trips"].metrics == {"malformed rows": 1}


def test_typed_streams_carry_the_same_rows(tmp_path: Path) -> None:
    plain, expected = source("csv", tmp_path / "data", 4)
    options: dict[str, Any] = {"types": {"at": "int64", "n": "int64"}, "timestamp": "at", "unit": "ms"}
    typed = CsvSource(str(tmp_path / "data"), typed=True, **options)
    (stream,) = typed.outputs
    assert [str(kind) for kind in stream.schema.types] == ["int64", "string", "int64"]
    for made in (plain, typed):
        assert run_built(to_sink(made, 2)).result("sink") == expected
