"""Files as others read and write them: Python's csv and json, pandas and pyarrow read what sinks write, and
sources read what these write."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from framework.model.errors import SinkError
from framework.operators.components import Block
from framework.operators.sinks import CsvSink, FileSink, JsonLinesSink, ParquetSink
from framework.operators.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource
from tests.framework.operators.sinks.driven import begun

Row = tuple[Any, ...]
DELIMITERS = [",", ";", "\t", "|", " ", "'", "\x01", "ä"]
PARTS = [
    "a",
    "b",
    '"',
    '""',
    ",",
    ";",
    "\t",
    "|",
    " ",
    "'",
    "\x01",
    "ä",
    "\n",
    "\r",
    "\r\n",
    "",
    "\x85",
    "\u2028",
]


def rows_of(source: FileSource) -> list[Row]:
    found: list[Row] = []
    for block in source.blocks(0, None):
        assert isinstance(block, Block)
        found += block.rows
    return found


def write(sink: FileSink, rows: list[Row]) -> None:
    made = begun(sink, eager=True)
    made.consume(rows)
    made.apply_and_finish()
    made.close()


def texts(seed: int, *, none: bool = False) -> list[Row]:
    chance = random.Random(seed)

    def value() -> str | None:
        return (
            None if none and chance.random() < 0.1 else "".join(chance.choices(PARTS, k=chance.randrange(6)))
        )

    return [(value(), value()) for _ in range(60)]


class TestCsv:
    @pytest.mark.parametrize("delimiter", DELIMITERS)
    @pytest.mark.parametrize("seed", range(3))
    def test_others_read_what_the_sink_writes(self, tmp_path: Path, delimiter: str, seed: int) -> None:
        path, rows = tmp_path / "a.csv", texts(seed, none=True)
        write(CsvSink(str(path), delimiter=delimiter), rows)
        expected = [("word", "n"), *(tuple("" if value is None else value for value in row) for row in rows)]
        with path.open(newline="") as file:
            assert list(map(tuple, csv.reader(file, delimiter=delimiter, strict=True))) == expected
        found = pd.read_csv(
            path,
            sep=delimiter,
            dtype=str,
            keep_default_na=False,
            encoding="utf-8",
            engine="c" if delimiter.isascii() else "python",
        )
        assert [tuple(found.columns), *found.itertuples(index=False, name=None)] == expected
        assert rows_of(CsvSource(str(path), delimiter=delimiter)) == expected[1:]

    def test_a_carriage_return_is_quoted(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        write(CsvSink(str(path)), [("1\r2", "x"), ("\r", "y"), ("a\r\nb", "c\n")])
        assert path.read_bytes() == b'word,n\n"1\r2",x\n"\r",y\n"a\r\nb","c\n"\n'

    @pytest.mark.parametrize("value", ["", None, "\r", "\n", '"', " "])
    def test_one_column(self, tmp_path: Path, value: str | None) -> None:
        path = tmp_path / "a.csv"
        write(CsvSink(str(path), ["word"]), [(value, 1), ("x", 2)])
        assert rows_of(CsvSource(str(path))) == [(value or "",), ("x",)]

    @pytest.mark.parametrize("delimiter", ['"', "\n", "\r", "", ";;"])
    def test_what_stands_between_no_values(self, tmp_path: Path, delimiter: str) -> None:
        with pytest.raises(SinkError, match="delimiter "):
            CsvSink(str(tmp_path / "a.csv"), delimiter=delimiter)

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    @pytest.mark.parametrize("delimiter", [",", "\t", "|"])
    def test_the_source_reads_what_csv_writes(
        self, tmp_path: Path, delimiter: str, quoting: int, end: str
    ) -> None:
        path, rows = tmp_path / "a.csv", texts(7)
        if (
            quoting == csv.QUOTE_MINIMAL
        ):  # of which Python before 3.13 quotes other ends of lines only by chance
            rows = [tuple(value.replace("\r", "").replace("\n", "") for value in row) for row in rows]
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(
            [("a", "b"), *rows]
        )
        path.write_bytes(text.getvalue().encode())
        assert rows_of(CsvSource(str(path), delimiter=delimiter)) == rows

    def test_the_source_reads_what_pandas_and_pyarrow_write(self, tmp_path: Path) -> None:
        rows = texts(11)
        pd.DataFrame(rows, columns=["a", "b"]).to_csv(tmp_path / "p.csv", index=False, quoting=csv.QUOTE_ALL)
        assert rows_of(CsvSource(str(tmp_path / "p.csv"))) == rows
        pa.csv.write_csv(pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]}), tmp_path / "a.csv")
        assert rows_of(CsvSource(str(tmp_path / "a.csv"))) == rows


@pytest.mark.parametrize("seed", range(3))
def test_lines_of_json(tmp_path: Path, seed: int) -> None:
    path, rows = tmp_path / "a.jsonl", texts(seed, none=True)
    write(JsonLinesSink(str(path)), rows)
    objects = [{"word": word, "n": n} for word, n in rows]
    assert [json.loads(line) for line in path.read_text().split("\n") if line] == objects
    frame = pd.read_json(path, lines=True, dtype=False).astype(object)
    assert frame.where(frame.notna(), None).to_dict("records") == objects
    assert rows_of(JsonLinesSource(str(path), ["word", "n"])) == rows
    plain = [row for row in rows if None not in row]
    pd.DataFrame(plain, columns=["a", "b"]).to_json(tmp_path / "p.jsonl", orient="records", lines=True)
    assert rows_of(JsonLinesSource(str(tmp_path / "p.jsonl"), ["a", "b"])) == plain


def test_parquet(tmp_path: Path) -> None:
    path, rows = tmp_path / "a.parquet", texts(5, none=True)
    write(ParquetSink(str(path), {"word": "string", "n": "string"}), rows)
    assert [tuple(row.values()) for row in pq.read_table(path).to_pylist()] == rows
    assert rows_of(ParquetSource(str(path))) == rows
