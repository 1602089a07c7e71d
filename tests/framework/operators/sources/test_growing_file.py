"""A file that grows: its rows as they come, in runs that are killed, suspended and resumed."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import CheckpointError, ComponentError, SourceError, WorkerError
from framework.operators.components import Block
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource, TextSource
from framework.runtime import Run, RunOptions, RunReport
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.runtime.durability.checkpoints.suspended import SIGNAL, suspending
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.killed import PLANT, Mortal, Written
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers, every_kind
from tests.portions import at_every_change

MARKER = "whole"
COUNT = 120
KINDS = ["text", "csv", "jsonl", "csv by time"]


def source(kind: str, path: Path, **options: Any) -> FileSource:
    """A source of a number and a text of each row; text has the whole line."""
    options = {"follow": True, "end_marker": MARKER, **options}
    if kind == "text":
        return TextSource(str(path), **options)
    timed = {"timestamp": "n", "unit": "ms"} if "time" in kind else {}
    types = {"n": "int64"}
    if kind == "jsonl":
        return JsonLinesSource(str(path), ["n", "text"], types=types, **timed, **options)
    return CsvSource(str(path), ["n", "text"], types=types, **timed, **options)


def record(kind: str, number: int) -> bytes:
    """Write a row as the file has it: letters of several bytes, and lines of several ends."""
    text = f"é{number:04}"
    if kind == "text":
        return f"{text}\r\n".encode()
    if kind == "jsonl":
        return f'{{"text": "{text}", "n": {number:4}}}\n'.encode()
    return f'{number:04},"{text}\n""€"\n'.encode()


def row(kind: str, number: int) -> tuple[Any, ...]:
    text = f"é{number:04}"
    return (text,) if kind == "text" else (number, text if kind == "jsonl" else f'{text}\n"€')


def rows_of(blocks: Any) -> list[tuple[int, tuple[Any, ...]]]:
    """The rows of blocks with their times, up to the next look in vain."""
    found = []
    for block in blocks:
        if not isinstance(block, Block):
            break
        found += list(zip(block.times, block.rows, strict=True))
    return found


class TestPieces:
    """However the bytes of a file come, the rows and their times are those of the whole file."""

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("seed", at_every_change(range(8), 2))
    def test_any_pieces(self, tmp_path: Path, kind: str, seed: int) -> None:
        chance = random.Random(seed)
        parts = [record(kind, number) for number in range(40)]
        if kind != "text":
            for _ in range(3):
                parts.insert(chance.randrange(len(parts)), b"none\n")
        content = b"".join(parts)
        whole = tmp_path / "whole.txt"
        whole.write_bytes(content)
        skip = {} if kind == "text" else {"on_malformed": "skip"}
        expected = rows_of(source(kind, whole, follow=False, end_marker=None, **skip).blocks(0, None))
        path = tmp_path / "grows.txt"
        path.touch()
        blocks = source(kind, path, **skip).blocks(0, None)
        found, at = [], 0
        while at < len(content):
            size = chance.choice([1, 2, 3, 10, 100])
            with path.open("ab") as file:
                file.write(content[at : at + size])
            at += size
            found += rows_of(blocks)
        (tmp_path / MARKER).touch()
        found += rows_of(blocks)
        assert found == expected and len(found) == 40

    def test_a_line_without_its_end_waits(self, tmp_path: Path) -> None:
        path = tmp_path / "grows"
        path.write_text("\ufeffa\nb")
        blocks = source("text", path).blocks(0, None)
        assert rows_of(blocks) == [(0, ("a",))]
        assert rows_of(blocks) == []
        with path.open("a") as file:
            file.write("c\nd")
        assert rows_of(blocks) == [(1, ("bc",))]
        (tmp_path / MARKER).touch()
        assert rows_of(blocks) == [(2, ("d",))]
        assert next(blocks, "over") == "over"

    def test_a_record_waits_for_its_quote(self, tmp_path: Path) -> None:
        path = tmp_path / "grows"
        path.write_text('1,"a\n')
        blocks = source("csv", path).blocks(0, None)
        assert rows_of(blocks) == []
        with path.open("a") as file:
            file.write('b"\n2,c\n')
        assert rows_of(blocks) == [(0, (1, "a\nb")), (1, (2, "c"))]

    def test_an_unclosed_quote_is_malformed_at_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "grows"
        path.write_text('1,a\n2,"b\n')
        blocks = source("csv", path).blocks(0, None)
        assert rows_of(blocks) == [(0, (1, "a"))]
        (tmp_path / MARKER).touch()
        with pytest.raises(SourceError, match="grows:2: the quote that opens in line 2 is not closed"):
            rows_of(blocks)

    def test_a_malformed_line_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "grows"
        path.write_text("1,a\n")
        blocks = source("csv", path).blocks(0, None)
        assert len(rows_of(blocks)) == 1
        with path.open("a") as file:
            file.write("x,b\n")
        with pytest.raises(SourceError, match=r"grows:2: 'n' is 'x': expected int64"):
            rows_of(blocks)

    def test_names_of_columns_are_those_of_the_first_line(self, tmp_path: Path) -> None:
        path = tmp_path / "grows"
        path.write_text("n,te")
        with pytest.raises(SourceError, match="has no whole line, so nobody knows the columns"):
            CsvSource(str(path), follow=True)
        path.write_text("n,text\n1,a\n")
        blocks = CsvSource(str(path), columns=["text"], follow=True).blocks(0, None)
        assert rows_of(blocks) == [(0, ("a",))]


class TestRefusals:
    def followed(self, folder: Path) -> tuple[Path, Any]:
        path = folder / "grows"
        path.write_text("a\nb\n")
        blocks = source("text", path).blocks(0, None)
        assert len(rows_of(blocks)) == 2
        return path, blocks

    def test_a_file_that_is_cut_off(self, tmp_path: Path) -> None:
        path, blocks = self.followed(tmp_path)
        path.write_text("a\n")
        with pytest.raises(SourceError, match=r"grows was cut off while it is followed: .* put it back"):
            next(blocks)

    def test_a_file_that_is_rotated(self, tmp_path: Path) -> None:
        path, blocks = self.followed(tmp_path)
        path.rename(tmp_path / "grows.1")
        path.write_text("c\n")
        with pytest.raises(SourceError, match=r"grows was removed or rotated while it is followed"):
            next(blocks)

    def test_a_file_that_is_gone(self, tmp_path: Path) -> None:
        path, blocks = self.followed(tmp_path)
        path.unlink()
        with pytest.raises(SourceError, match=r"grows was removed or rotated while it is followed"):
            next(blocks)

    def test_a_successor_finds_the_file_that_the_run_began_with(self, tmp_path: Path) -> None:
        path = tmp_path / "grows"
        path.write_text("a\nb\n")
        made = source("text", path)
        path.write_text("a\n")
        with pytest.raises(SourceError, match=r"was cut off or replaced while it is followed \(4 bytes"):
            next(made.blocks(0, None))

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_file_without_what_was_brought_of_it(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "grows"
        path.write_bytes(record(kind, 0) + record(kind, 1))
        for is_whole in (False, True):
            (tmp_path / MARKER).touch() if is_whole else None
            with pytest.raises(SourceError, match="ends before what was brought of it"):
                rows_of(source(kind, path).blocks(0, 2000))

    def test_what_cannot_grow(self, tmp_path: Path) -> None:
        (tmp_path / "a.gz").touch()
        with pytest.raises(SourceError, match=r"a.gz is compressed: follow=True wants a file"):
            TextSource(str(tmp_path / "a.gz"), follow=True)
        (tmp_path / "a.parquet").touch()
        with pytest.raises(SourceError, match="a Parquet file does not grow"):
            ParquetSource(str(tmp_path / "a.parquet"), follow=True)


class Appends(Mortal, Bolt):
    """Appends the next row when one comes, and a part of the one after; in the place where they belong, as
    a row may be processed twice."""

    outputs = ["row"]
    config = {"viper.stateless": True}

    def __init__(self, kind: str, path: str, leader: int = 0, at: int = -1) -> None:
        super().__init__()
        self._kind = kind
        self._path = path
        self._leader = leader
        self._at = at
        self._seen = 0

    def process(self, tup: Any) -> None:
        values = tuple(tup.values)
        number = int(values[0][1:]) if self._kind == "text" else values[0]
        width = len(record(self._kind, 0))
        if number + 1 < COUNT:
            cut = number % width if number + 2 < COUNT else 0
            more = record(self._kind, number + 1) + record(self._kind, number + 2)[:cut]
            descriptor = os.open(self._path, os.O_WRONLY)
            os.pwrite(descriptor, more, (number + 1) * width)
            os.close(descriptor)
        else:
            Path(self._path).with_name(MARKER).touch()
        if number == self._at:
            os.kill(self._leader, SIGNAL)
        self.emit([values])


def growing(kind: str, folder: Path, sink: Any = CollectingSink, *more: Any) -> TopologyBuilder:
    """A source whose file grows because of its rows."""
    path = folder / "grows"
    if not path.exists():
        path.write_bytes(record(kind, 0))
    builder = TopologyBuilder()
    builder.set_spout("source", source(kind, path), 2)
    builder.set_bolt("appends", Appends(kind, str(path), *more)).global_grouping("source")
    builder.set_bolt("sink", sink).global_grouping("appends")
    return builder


def expected(kind: str, first: int = 0) -> list[tuple[Any, ...]]:
    return [(row(kind, number),) for number in range(first, COUNT)]


MORTAL = {"kills": 0, "kill__seed": 0, "topology__acker__executors": 0}


class TestRuns:
    @pytest.mark.few(7)
    @pytest.mark.parametrize("kind", KINDS)
    @every_kind
    def test_rows_come_as_they_are_written(self, tmp_path: Path, kind: str, workers: Workers) -> None:
        report = workers.run(growing(kind, tmp_path), **MORTAL, marks=str(tmp_path))
        assert report.result("sink") == expected(kind) and report.drained

    @pytest.mark.few(1)
    @pytest.mark.parametrize(("kind", "seed"), at_every_change([(k, s) for s in range(3) for k in KINDS], 2))
    def test_under_exact_recovery(self, tmp_path: Path, kind: str, seed: int) -> None:
        report = self.killed(tmp_path, kind, seed, PROCESSES)
        assert report.incidents and not report.lost
        assert (tmp_path / "written").read_text() == "".join(f"{found}\n" for found in expected(kind))

    @pytest.mark.parametrize(("seed", "kind"), at_every_change([(s, k) for s in range(4) for k in KINDS]))
    def test_checkpoints_of_a_run_whose_workers_die(self, tmp_path: Path, kind: str, seed: int) -> None:
        kept, often = tmp_path / "kept", {"viper__checkpoint__secs": 0.02, "viper__checkpoint__keep": 1000}
        self.killed(tmp_path, kind, seed, PROCESSES, {"checkpoints": kept}, **often)
        whole = "".join(f"{found}\n" for found in expected(kind))
        assert (tmp_path / "written").read_text() == whole
        options = {**MORTAL, "marks": str(tmp_path), "written": str(tmp_path / "written")}
        for number in CheckpointFolder(kept).ids[:3]:
            start = {"start": kept / f"checkpoint-{number:06}", "checkpoints": tmp_path / f"kept-{number}"}
            INLINE.run(growing(kind, tmp_path, Written), start, **options, viper__recovery="exact")
            assert (tmp_path / "written").read_text() == whole, number

    def test_a_successor_that_begins_anew_shows(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(PLANT, "forget_offsets")
        with pytest.raises((ComponentError, WorkerError), match=r"OrderError|DivergedError"):
            for seed in range(8):
                self.killed(tmp_path / str(seed), "text", seed, Workers("process", 1))

    def killed(
        self,
        folder: Path,
        kind: str,
        seed: int,
        workers: Workers,
        limits: dict[str, Any] | None = None,
        **more: Any,
    ) -> RunReport:
        marks = folder / "marks"
        marks.mkdir(parents=True)
        options = {"marks": str(marks), "written": str(folder / "written"), "viper__recovery": "exact"}
        deaths = {"kills": 4, "kill__seed": seed, "kill__bits": 9, "viper__worker__restart__tries": 20}
        builder = growing(kind, folder, Written)
        return workers.run(builder, limits, **{**MORTAL, **options, **deaths, **more})

    @pytest.mark.few(1)
    @pytest.mark.parametrize("kind", at_every_change(KINDS, 2))
    def test_it_is_suspended_and_gone_on_with(self, tmp_path: Path, kind: str) -> None:
        first = self.suspended(tmp_path, kind)
        brought = first.result("sink")
        assert brought == expected(kind)[: len(brought)] and 50 < len(brought) < COUNT
        for workers in (INLINE, PROCESSES):
            (tmp_path / MARKER).unlink(missing_ok=True)
            options = {**workers.options, **MORTAL, "marks": str(tmp_path)}
            run = Run(*plan_of(growing(kind, tmp_path), **options), RunOptions(start=tmp_path / "kept"))
            report = run.execute()
            assert report.result("sink") == expected(kind, len(brought))

    def test_it_does_not_go_on_with_a_file_that_was_rotated(self, tmp_path: Path) -> None:
        self.suspended(tmp_path, "text")
        path = tmp_path / "grows"
        path.rename(tmp_path / "grows.1")
        path.write_bytes((tmp_path / "grows.1").read_bytes())
        told = (
            r"had other data, 'TextSource: file .*grows that grows .*; give it the same: a file that grows"
            r" is known by its path and inode, which a copy does not share: move the file itself back"
        )
        with pytest.raises(CheckpointError, match=told):
            Run(
                *plan_of(growing("text", tmp_path), **MORTAL, marks=str(tmp_path)),
                RunOptions(start=tmp_path / "kept"),
            ).execute()

    def suspended(self, folder: Path, kind: str) -> RunReport:
        """A run that is suspended when row 50 comes; the file ends where nobody appends any more."""
        builder = growing(kind, folder, CollectingSink, os.getpid(), 50)
        run = Run(*plan_of(builder, **MORTAL, marks=str(folder)), RunOptions(checkpoints=folder / "kept"))
        with suspending(run) as refused:
            report = run.execute()
        assert not refused, refused
        return report
