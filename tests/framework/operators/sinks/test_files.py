"""Files of sinks: whole or growing, what is in them, and what cannot be written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.model.errors import SinkError
from framework.operators.sinks import CsvSink, JsonLinesSink, ParquetSink, SqliteSink, TextSink
from tests.framework.operators.sinks.driven import begun, rows_between, taken


class TestFiles:
    def eager(self, sink: Any) -> Any:
        begun(sink, eager=True).resume(None)
        return sink

    def test_a_file_appears_whole_and_replaces_the_old_one(self, tmp_path: Path) -> None:
        path = tmp_path / "out.txt"
        path.write_text("old\n")
        sink = self.eager(TextSink(str(path), " "))
        sink.consume(rows_between(0, 2))
        sink.apply_staged()
        assert path.read_text() == "old\n"
        sink.apply_and_finish()
        sink.close()
        assert path.read_text() == "w0 0\nw1 1\n" and os.listdir(tmp_path) == ["out.txt"]

    def test_a_failed_run_leaves_the_old_one(self, tmp_path: Path) -> None:
        path = tmp_path / "out.txt"
        path.write_text("old\n")
        sink = self.eager(TextSink(str(path)))
        sink.consume(rows_between(0, 2))
        sink.apply_staged()
        sink.consume(rows_between(2, 4))
        sink.close()
        assert path.read_text() == "old\n" and os.listdir(tmp_path) == ["out.txt"]

    def test_one_that_grows_keeps_what_is_in_it(self, tmp_path: Path) -> None:
        path = tmp_path / "out.csv"
        for first in (0, 1):
            sink = self.eager(CsvSink(str(path), grow=True))
            sink.consume(rows_between(first, first + 1))
            sink.apply_staged()
            assert path.read_text().endswith(f"w{first},{first}\n")
            sink.apply_and_finish()
            sink.close()
        assert path.read_text() == "word,n\nw0,0\nw1,1\n" and os.listdir(tmp_path) == ["out.csv"]

    def test_without_rows_there_is_an_empty_one(self, tmp_path: Path) -> None:
        for sink in (
            CsvSink(str(tmp_path / "a.csv")),
            TextSink(str(tmp_path / "a.txt")),
            ParquetSink(str(tmp_path / "a.parquet"), {"n": "int64"}),
        ):
            self.eager(sink).apply_and_finish()
            sink.close()
        assert (tmp_path / "a.csv").read_text() == "word,n\n" and (tmp_path / "a.txt").read_text() == ""
        import pyarrow.parquet as pq

        assert pq.read_table(tmp_path / "a.parquet").num_rows == 0

    def test_what_the_formats_write(self, tmp_path: Path) -> None:
        rows = [('a "b"\nc', None), ("ä, ö", 1.5)]
        for sink in (
            JsonLinesSink(str(tmp_path / "a.jsonl"), ["n", "word"]),
            CsvSink(str(tmp_path / "a.csv"), delimiter=";", header=False),
        ):
            self.eager(sink).consume(rows)
            sink.apply_and_finish()
            sink.close()
        lines = (tmp_path / "a.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in lines] == [
            {"n": None, "word": 'a "b"\nc'},
            {"n": 1.5, "word": "ä, ö"},
        ]
        assert (tmp_path / "a.csv").read_text() == '"a ""b""\nc";\nä, ö;1.5\n'

    def test_every_text_is_a_line_of_json(self, tmp_path: Path) -> None:
        texts = ["}", "}\n{", "\0", '"}, {"', "\u2028", "\\n", "", ", ", "}\0{", "a\r\n"]
        rows = [(text, other) for text in texts for other in (*texts, 1, None, True, 0.5)]
        for index, values in enumerate([rows, [(row[0], [row[1]]) for row in rows]]):
            sink = self.eager(JsonLinesSink(str(tmp_path / f"{index}.jsonl")))
            sink.consume(values)
            sink.apply_and_finish()
            sink.close()
            lines = (tmp_path / f"{index}.jsonl").read_bytes().decode().removesuffix("\n").split("\n")
            found = [json.loads(line) for line in lines]
            assert found == [{"word": word, "n": n} for word, n in values]

    def test_the_bytes_of_parquet_do_not_depend_on_when_rows_were_applied(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import pyarrow.parquet as pq

        monkeypatch.setattr("framework.operators.sinks.parquet_sink.GROUP_ROWS", 7)
        found = []
        for size in (1, 5, 7, 50):
            path = tmp_path / f"{size}.parquet"
            sink = self.eager(ParquetSink(str(path), {"n": "int64 not null", "word": "string"}))
            for first in range(0, 50, size):
                sink.consume(rows_between(first, min(first + size, 50)))
                sink.apply_staged()
            sink.apply_and_finish()
            sink.close()
            found.append(path.read_bytes())
        assert len(set(found)) == 1 and pq.ParquetFile(path).num_row_groups == 8
        assert pq.read_table(path).to_pylist()[49] == {"n": 49, "word": "w0"}

    @pytest.mark.parametrize(
        ("make", "row", "told"),
        [
            (lambda path: JsonLinesSink(path), ("a", {1}), "JSON cannot write a row: Object of type set"),
            (lambda path: JsonLinesSink(path), ("a", float("nan")), "JSON cannot write a row"),
            (lambda path: JsonLinesSink(path), ("a",), "a row has 1 values, expected 2"),
            (lambda path: ParquetSink(path, {"n": "int8"}), ("a", 300), "a row does not fit the schema"),
            (
                lambda path: ParquetSink(path, {"n": "int8 not null"}),
                ("a", None),
                "a row does not fit the schema",
            ),
            (
                lambda path: SqliteSink(path, "t"),
                ("a", [1]),
                "column 'n' has a value of class list, which SQLite",
            ),
            (
                lambda path: SqliteSink(path, "t"),
                ("a", 2**63),
                "column 'n' has a whole number of more than 64 bits",
            ),
        ],
    )
    def test_rows_that_cannot_be_written_are_refused_when_they_come(
        self, tmp_path: Path, make: Callable[[str], Any], row: Any, told: str
    ) -> None:
        sink = self.eager(make(str(tmp_path / "out")))
        sink.consume(rows_between(0, 1))
        with pytest.raises(SinkError, match=told):
            sink.consume([row])
        assert sink.staged_rows == 1

    def test_one_that_somebody_has_cut_off_is_not_gone_on_with(self, tmp_path: Path) -> None:
        taken("json that grows", tmp_path, None, 1).close()
        os.truncate(tmp_path / "out.jsonl", 5)
        with pytest.raises(
            SinkError, match=r"out.jsonl has 5 bytes, and 230 were written: somebody has cut it off"
        ):
            taken("json that grows", tmp_path, 1)
