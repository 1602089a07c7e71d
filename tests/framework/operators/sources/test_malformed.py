"""Malformed rows on a stream of their own: where they stand, what they tell, and that none comes twice."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import SourceError
from framework.operators.components import Block, Later
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource
from framework.runtime import Run, RunOptions
from tests.framework.runtime.durability.checkpoints.suspended import SIGNAL, suspending
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.killed import Mortal, Written
from tests.framework.runtime.workers.running import PROCESSES, Workers, every_kind
from tests.portions import at_every_change

KINDS = ["csv", "csv by time", "csv typed", "jsonl", "jsonl by time"]
Row = tuple[Any, ...]


def source(kind: str, path: Path, **options: Any) -> FileSource:
    timed = {"timestamp": "at", "unit": "us"} if "time" in kind or "typed" in kind else {}
    options = {"types": {"at": "int64"}, "typed": "typed" in kind, **timed, **options}
    made = JsonLinesSource if kind.startswith("jsonl") else CsvSource
    fields = ["at", "text"]
    return made(str(path), fields, on_malformed="stream", **options)


def content(kind: str, seed: int, name: str) -> tuple[str, list[tuple[int, str, Row]]]:
    """The text of a file, and its rows in order with their times: (time, stream, row)."""
    chance = random.Random(f"{seed} {name}")
    text, rows, line = "", [], 1
    by_number, time_us = "time" not in kind and "typed" not in kind, 0
    for number in range(60):
        is_wrong = number and chance.random() < 0.2
        time_us = time_us if is_wrong else time_us + chance.choice([0, 0, 1, 5])
        at = number if by_number else time_us
        if kind.startswith("jsonl"):
            raw = f'{{"at": "x", "text": "{number}"}}' if is_wrong else f'{{"at": {time_us}, "text": "t"}}'
        elif is_wrong:
            raw = chance.choice([f"x,{number}", f"{time_us},a,b", f'x,"{number}\nmore"', f'{time_us},"a"b'])
        else:
            raw = f'{time_us},"{number}\nt"' if chance.random() < 0.3 else f"{time_us},t"
        if is_wrong:
            rows.append((at, "malformed", (line, raw)))
        else:
            value = "t" if kind.startswith("jsonl") or '"' not in raw else f"{number}\nt"
            rows.append((at, "default", (time_us, value)))
        text += raw + "\n"
        line += 1 + raw.count("\n")
    return text, rows


def files(kind: str, folder: Path, seed: int) -> list[tuple[str, Row]]:
    """Writes the files of a source; returns its rows with their streams, as the guarantee orders them."""
    folder.mkdir(exist_ok=True)
    found = []
    for index, name in enumerate("ab"):
        text, rows = content(kind, seed, name)
        path = folder / name
        path.write_text(text)
        for at, stream, row in rows:
            whole = (str(path), *row) if stream == "malformed" else row
            found.append((at, index, stream, whole))
    found.sort(key=lambda entry: entry[:2])
    return [(stream, row) for *_, stream, row in found]


class Both(Mortal, Bolt):
    """Tells of each tuple its stream, and of malformed ones all but the reason."""

    outputs = ["stream", "row"]
    config = {"viper.stateless": True}

    def __init__(self, leader: int = 0, at: int = -1) -> None:
        super().__init__()
        self._leader = leader
        self._left = at

    def process(self, tup: Any) -> None:
        row = tuple(tup.values)
        self._left -= 1
        if self._left == 0:
            os.kill(self._leader, SIGNAL)
        self.emit([tup.stream, row[:3] if tup.stream == "malformed" else row])


def built(rows: FileSource, par: int = 2, sink: Any = CollectingSink, *suspended: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", rows, par)
    both = builder.set_bolt("both", Both(*suspended))
    both.global_grouping("source")
    both.global_grouping("source", stream="malformed")
    builder.set_bolt("sink", sink).global_grouping("both")
    return builder


CALM = {"kills": 0, "kill__seed": 0, "topology__acker__executors": 0}


class TestRuns:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("seed", at_every_change(range(6)))
    def test_they_stand_where_they_stood(self, tmp_path: Path, kind: str, seed: int) -> None:
        expected = files(kind, tmp_path / "data", seed)
        assert 10 < sum(stream == "malformed" for stream, _ in expected) < 50
        for par in (2, 1):
            report = run_built(built(source(kind, tmp_path / "data"), par), **CALM, marks=str(tmp_path))
            assert report.result("sink") == expected
        count = sum(stream == "malformed" for stream, _ in expected)
        assert report.components["source"].metrics == {"malformed rows": count}

    @every_kind
    def test_on_every_kind_of_worker(self, tmp_path: Path, workers: Workers) -> None:
        expected = files("csv typed", tmp_path / "data", 2)
        report = workers.run(built(source("csv typed", tmp_path / "data")), **CALM, marks=str(tmp_path))
        assert report.result("sink") == expected

    @pytest.mark.few(1)
    @pytest.mark.parametrize("kind", at_every_change(KINDS, 2))
    def test_under_exact_recovery(self, tmp_path: Path, kind: str) -> None:
        expected = files(kind, tmp_path / "data", 3)
        (tmp_path / "marks").mkdir()
        options = {"marks": str(tmp_path / "marks"), "written": str(tmp_path / "written")}
        deaths = {"kills": 4, "kill__bits": 7, "viper__worker__restart__tries": 20}
        options |= {"viper__recovery": "exact", "viper__slice__tuples": 4}
        report = PROCESSES.run(
            built(source(kind, tmp_path / "data"), 2, Written), **{**CALM, **options, **deaths}
        )
        assert report.incidents
        assert (tmp_path / "written").read_text() == "".join(f"{found}\n" for found in expected)

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_run_goes_on_from_a_checkpoint(self, tmp_path: Path, kind: str) -> None:
        expected = files(kind, tmp_path / "data", 4)
        small = {"viper__slice__tuples": 4, "viper__channel__tuples": 8, "viper__jumbo__size": 4}
        options = {**CALM, **small, "marks": str(tmp_path)}
        builder = built(source(kind, tmp_path / "data"), 2, CollectingSink, os.getpid(), 30)
        run = Run(*plan_of(builder, **options), RunOptions(checkpoints=tmp_path / "kept"))
        with suspending(run) as refused:
            first = run.execute().result("sink")
        assert not refused and 30 <= len(first) < len(expected)
        again = built(source(kind, tmp_path / "data"), 1)
        rest = Run(*plan_of(again, **options), RunOptions(start=tmp_path / "kept")).execute().result("sink")
        assert first + rest == expected


def blocks(rows: FileSource) -> list[tuple[str, list[int], list[Row]]]:
    found = []
    for block in rows.blocks(0, None):
        if block is None:
            break
        assert isinstance(block, Block)
        found.append((block.stream, list(block.times), list(block.rows)))
    return found


class TestWhatIsTold:
    def test_file_line_text_and_reason(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text('at,text\r\n1,a\r\nx,"b\r\nc"\r\n2,"d"e\r\n3,f\r\n')
        made = CsvSource(str(path), types={"at": "int64"}, on_malformed="stream")
        assert [str(stream) for stream in made.outputs] == [str(s) for s in source("csv", path).outputs]
        assert blocks(made) == [
            ("default", [0], [(1, "a")]),
            ("malformed", [1], [(str(path), 3, 'x,"b\r\nc"', "'at' is 'x': expected int64")]),
            (
                "malformed",
                [2],
                [
                    (
                        str(path),
                        5,
                        '2,"d"e',
                        "expected ',' or the end of the line behind a closing quote, found 'e'",
                    )
                ],
            ),
            ("default", [3], [(3, "f")]),
        ]

    def test_of_json(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text('{"at": 1}\n\n[2]\n')
        made = JsonLinesSource(str(path), ["at"], on_malformed="stream")
        assert blocks(made)[-1] == (
            "malformed",
            [2],
            [(str(path), 3, "[2]", "expected an object of JSON ({...}), found [2]")],
        )

    def test_of_parquet(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"at": ["1970-01-01T00:00:01", "never"], "n": [1, 2]}), path)
        made = ParquetSource(str(path), ["n"], timestamp="at", on_malformed="stream")
        first, (stream, times, ((name, line, raw, reason),)) = blocks(made)
        assert first == ("default", [10**6], [(1,)]) and (stream, times) == ("malformed", [10**6])
        assert (name, line, raw) == (str(path), 2, str({"n": 2, "at": "never"}))
        assert reason.startswith("'at' is 'never': expected")

    def test_those_before_any_time_get_the_first_one(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("x,1\nx,2\n70,3\nx,4\n")
        found = blocks(source("csv by time", path))
        assert [(stream, times) for stream, times, _ in found] == [
            ("malformed", [70, 70]),
            ("default", [70]),
            ("malformed", [70]),
        ]

    def test_where_no_row_has_a_time(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("x,1\nx,2\n")
        with pytest.raises(SourceError, match=r"a.csv:1: no row has a time, so malformed ones have none"):
            blocks(source("csv by time", path))

    def test_in_a_file_that_grows(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text('1,"a\nb"\n')
        made = source("csv", path, follow=True)
        rows = made.blocks(0, None)
        assert isinstance(next(rows), Block) and isinstance(next(rows), Later)
        with path.open("a") as file:
            file.write("x,c\n")
        block = next(rows)
        assert isinstance(block, Block) and block.stream == "malformed"
        assert block.rows[0][1:3] == (3, "x,c")

    def test_what_is_no_choice(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("at,text\n")
        with pytest.raises(SourceError, match=r"on_malformed is 'steam': expected .*did you mean 'stream'"):
            CsvSource(str(path), on_malformed="steam")
