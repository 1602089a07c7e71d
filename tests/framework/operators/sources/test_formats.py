"""The output of each file source for a file: rows, times, and errors that name the line."""

from __future__ import annotations

import bz2
import datetime
import decimal
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framework.model.errors import SourceError
from framework.operators.components import Block
from framework.operators.sources import (
    CsvSource,
    FileSource,
    JsonLinesSource,
    ParquetSource,
    TextSource,
    file_source,
    opening,
)

Rows = list[tuple[Any, ...]]


def read(source: FileSource, partition: int = 0, start_us: int | None = None) -> Rows:
    return [row for _, row in timed(source, partition, start_us)]


def timed(source: FileSource, partition: int = 0, start_us: int | None = None) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    for block in source.blocks(partition, start_us):
        assert isinstance(block, Block)
        times, rows, *_ = block
        rows = rows.to_pylist() if isinstance(rows, pa.RecordBatch) else rows
        found += zip(times, rows, strict=True)
    return found


def written(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


class TestText:
    @pytest.mark.parametrize("size", [1, 2, 3, 1 << 18])
    @pytest.mark.parametrize("text", ["", "a", "a\n", "a\r\nb\n\nc", "\n", "x" * 50 + "\ny"])
    def test_lines_are_those_of_python(
        self, tmp_path: Path, text: str, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(opening, "CHUNK_CHARACTERS", size)
        path = written(tmp_path, "a.txt", text)
        with open(path) as lines:
            expected = [(line.removesuffix("\n"),) for line in lines]
        assert read(TextSource(path)) == expected

    def test_time_is_the_number_of_the_line(self, tmp_path: Path) -> None:
        source = TextSource(written(tmp_path, "a.txt", "a\nb\nc\n"))
        assert timed(source) == [(0, ("a",)), (1, ("b",)), (2, ("c",))]
        assert timed(source, start_us=2) == [(2, ("c",))]

    @pytest.mark.parametrize(
        ("suffix", "packed"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
    )
    def test_compressed_by_its_suffix(
        self, tmp_path: Path, suffix: str, packed: Callable[[bytes], bytes]
    ) -> None:
        whole = packed(b"one\ntwo\n" * 9000)
        assert len(read(TextSource(written(tmp_path, f"a.{suffix}", whole)))) == 18_000
        torn = written(tmp_path, f"torn.{suffix}", whole[: len(whole) // 2])
        with pytest.raises(SourceError, match=r"torn.*: the compressed file is damaged or cut off"):
            read(TextSource(torn))

    def test_encodings(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.txt", "ä\nß\n".encode("latin-1"))
        assert read(TextSource(path, encoding="latin-1")) == [("ä",), ("ß",)]
        with pytest.raises(SourceError, match=r"a.txt:1: byte 0xe4 is not utf-8: name the file's encoding"):
            read(TextSource(path))
        assert read(TextSource(written(tmp_path, "b.txt", b"\xef\xbb\xbfa\n"))) == [("a",)]
        assert read(TextSource(written(tmp_path, "c.txt", "ä\n".encode("utf-16")), encoding="utf-16")) == [
            ("ä",)
        ]
        with pytest.raises(SourceError, match=r"encoding is 'utf-9', which is none"):
            TextSource(path, encoding="utf-9")

    def test_the_line_of_a_wrong_byte_is_told_however_far_it_is(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.txt", b"fine\n" * 100_000 + b"\xff\n")
        with pytest.raises(SourceError, match=r"a.txt:100001: byte 0xff"):
            read(TextSource(path))


class TestCsv:
    TEXT = 'at,name,n,x\n1,"a, b",5,1.5\n2,c,,2\n3,"d\nd",7,\n'

    def test_text_unless_a_type_says_more(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.csv", self.TEXT)
        assert read(CsvSource(path)) == [
            ("1", "a, b", "5", "1.5"),
            ("2", "c", "", "2"),
            ("3", "d\nd", "7", ""),
        ]
        source = CsvSource(path, columns=["x", "n"], types={"n": "int64", "x": "float64"})
        assert read(source) == [(1.5, 5), (2.0, None), (None, 7)]
        assert source.outputs[0].fields == ("x", "n")

    @pytest.mark.parametrize(
        ("kind", "text", "value"),
        [
            ("int64", "-9223372036854775808", -(2**63)),
            ("uint8", "255", 255),
            ("float64", "1e3", 1000.0),
            ("bool", "TRUE", True),
            ("bool", "0", False),
            ("string not null", "x", "x"),
            ("timestamp[ms]", "1970-01-01T00:00:01.5Z", 1500),
            ("timestamp[ns]", "12", 12),
            ("date32", "2024-02-29", datetime.date(2024, 2, 29)),
            ("decimal128(5, 2)", "1.50", decimal.Decimal("1.50")),
            (len, "abc", 3),
            ("int32", "", None),
        ],
    )
    def test_types(self, tmp_path: Path, kind: Any, text: str, value: Any) -> None:
        path = written(tmp_path, "a.csv", f"k,v\n1,{text}\n")
        assert read(CsvSource(path, types={"v": kind})) == [("1", value)]

    @pytest.mark.parametrize(
        ("kind", "text", "told"),
        [
            ("int64", "9223372036854775808", "expected int64"),
            ("int8", "1_0", "expected int8"),
            ("int64", "1.0", "expected int64"),
            ("int64 not null", "", "expected int64 not null"),
            ("float64", "1_0.0", "expected float64"),
            ("bool", "yes", "expected bool"),
            ("string not null", "", "expected string not null"),
            ("timestamp[us]", "today", r"expected timestamp\[us\]"),
            ("date32", "31.5.2024", "expected date32"),
            ("decimal128(5, 2)", "x", r"expected decimal128\(5, 2\)"),
            (json.loads, "{", r"expected a value that loads takes \(JSONDecodeError"),
        ],
    )
    def test_values_of_no_type(self, tmp_path: Path, kind: Any, text: str, told: str) -> None:
        path = written(tmp_path, "a.csv", f"k,v\n1,{text}\n")
        with pytest.raises(SourceError, match=rf"a.csv:2: 'v' is .*: {told}"):
            read(CsvSource(path, types={"v": kind}))

    @pytest.mark.parametrize("wrong", ["4,c,x,1", "4,c", "4,c,1,1,1", '4,"c"d,1,1', "4,c,1,?"])
    def test_a_malformed_record_is_named_with_its_line(self, tmp_path: Path, wrong: str) -> None:
        path = written(tmp_path, "a.csv", f"{self.TEXT}\n{wrong}\n5,e,8,1\n")
        source = CsvSource(path, types={"n": "int64", "x": "float64"})
        with pytest.raises(SourceError, match=r"a.csv:7: "):
            read(source)

    @pytest.mark.parametrize("wrong", ["4,c,x,1", "4,c", "4,c,1,1,1", '4,"c"d,1,1'])
    def test_or_left_out_and_counted(
        self, tmp_path: Path, wrong: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = written(tmp_path, "a.csv", f"at,name,n,x\n1,a,5,1\n{wrong}\n5,e,8,1\n")
        source = CsvSource(path, types={"n": "int64"}, on_malformed="skip")
        assert timed(source) == [(0, ("1", "a", 5, "1")), (2, ("5", "e", 8, "1"))]
        assert "left out: " in caplog.text and "a.csv:3: " in caplog.text

    def test_a_quote_that_is_not_closed_does_not_swallow_the_file(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.csv", 'a,b\n1,2\n3,"4\n5,6\n')
        with pytest.raises(SourceError, match=r"a.csv:3: the quote that opens in line 3 is not closed"):
            read(CsvSource(path))

    def test_columns_are_found_by_name_in_each_file(self, tmp_path: Path) -> None:
        written(tmp_path, "a.csv", "a,b\n1,2\n")
        written(tmp_path, "b.csv", "b,c,a\n20,30,10\n")
        source = CsvSource(str(tmp_path))
        assert [read(source, partition) for partition in (0, 1)] == [[("1", "2")], [("10", "20")]]
        written(tmp_path, "c.csv", "b\n7\n")
        with pytest.raises(SourceError, match=r"c.csv:1: no column 'a': expected it as in the first file"):
            read(CsvSource(str(tmp_path)), 2)

    def test_without_a_line_of_names(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.csv", "1;'x'\n2;'y;z'\n")
        source = CsvSource(path, ["n", "s"], types={"n": "int64"}, delimiter=";", quote="'")
        assert read(source) == [(1, "x"), (2, "y;z")]

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"columns": ["nane"]}, r"columns: unknown column 'nane'.*did you mean 'name'"),
            ({"types": {"m": "int64"}}, r"types: unknown field 'm'"),
            ({"types": {"n": "integer"}}, r"types: 'n': 'integer' is no type: expected one of bool, int8 to"),
            (
                {"types": {"n": "int65"}},
                r"'int65' is no type: .*a function of a value; did you mean 'int6?4?",
            ),
            (
                {"types": {"n": "list<int64>"}},
                r"types: 'n': list<int64> cannot be made of text: expected one",
            ),
            (
                {"types": {"n": "time64[us]"}},
                r"types: 'n': time64\[us\] cannot be made of text: expected one",
            ),
            ({"types": {"n": int}, "typed": True}, r"typed=True cannot tell its type"),
            ({"timestamp": "att"}, r"timestamp: unknown field 'att'"),
            ({"timestamp": "at", "unit": "h"}, r"unit is 'h'"),
            ({"timestamp": "at", "unit": "s", "timestamp_format": "%Y"}, r"give one of them"),
            ({"unit": "s"}, r"name it, as in timestamp='at'"),
            ({"on_malformed": "ignore"}, r"on_malformed is 'ignore'"),
            ({"delimiter": ";;"}, r"delimiter ';;'"),
            ({"end_marker": "x"}, r"give follow=True as well"),
        ],
    )
    def test_arguments_that_cannot_be(self, tmp_path: Path, options: dict[str, Any], told: str) -> None:
        path = written(tmp_path, "a.csv", self.TEXT)
        with pytest.raises(SourceError, match=told):
            CsvSource(path, **options)

    @pytest.mark.parametrize("text", ["", "a,a\n", "a,,b\n"])
    def test_first_lines_that_name_no_columns(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(SourceError, match=r"a.csv:1: expected a line with the name of each column"):
            CsvSource(written(tmp_path, "a.csv", text))

    def test_large_files_come_in_blocks(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.csv", "n\n" + "".join(f"{n}\n" for n in range(5000)))
        blocks = list(CsvSource(path, types={"n": "int64"}).blocks(0, None))
        sizes = [len(block.rows) for block in blocks]  # type: ignore[union-attr]
        assert max(sizes) == 512 and sum(sizes) == 5000 and len(sizes) == 10
        assert [row for block in blocks for row in block.rows] == [(n,) for n in range(5000)]  # type: ignore[union-attr]

    @pytest.mark.parametrize("first", [0, 1, 511, 512, 513, 1500, 1999, 2000, 2500])
    def test_rows_before_an_offset_are_left_out(self, tmp_path: Path, first: int) -> None:
        path = written(tmp_path, "a.csv", "n\n" + "".join(f"{n}\n" for n in range(2000)))
        assert timed(CsvSource(path), start_us=first) == [(n, (str(n),)) for n in range(first, 2000)]


class TestTimes:
    @pytest.mark.parametrize(
        ("options", "texts", "micros"),
        [
            ({"unit": "s"}, ["1", "2", "2.5"], [1_000_000, 2_000_000, 2_500_000]),
            ({"unit": "ms"}, ["-1", "1"], [-1000, 1000]),
            ({"unit": "us"}, ["0", "7"], [0, 7]),
            ({"unit": "ns"}, ["-1", "1999"], [-1, 1]),
            ({}, ["1970-01-01", "1970-01-01T00:00:01Z", "1970-01-01 01:00:02+01:00"], [0, 10**6, 2 * 10**6]),
            ({}, ["1970-1-1", "1970-1-1 0:0:1 UTC"], [0, 10**6]),
            ({"timestamp_format": "%d/%m/%Y"}, ["01/01/1970", "02/01/1970"], [0, 86_400_000_000]),
        ],
    )
    def test_of_text(self, tmp_path: Path, options: Any, texts: list[str], micros: list[int]) -> None:
        path = written(tmp_path, "a.csv", "at,n\n" + "".join(f"{text},1\n" for text in texts))
        found = timed(CsvSource(path, columns=["n"], timestamp="at", **options))
        assert [time_us for time_us, _ in found] == micros

    @pytest.mark.parametrize(
        ("options", "text", "told"),
        [
            ({}, "17", r"expected a time in ISO 8601.*numbers want a unit"),
            ({"unit": "s"}, "1970-01-01", "expected a number, in s since 1970"),
            ({"timestamp_format": "%d/%m/%Y"}, "1970-01-01", "expected a time like '31/05/2024'"),
            ({"unit": "s"}, "", "expected a number"),
            ({"unit": "s"}, "inf", "expected a number"),
        ],
    )
    def test_no_times(self, tmp_path: Path, options: dict[str, Any], text: str, told: str) -> None:
        path = written(tmp_path, "a.csv", f"at,n\n{text},1\n")
        with pytest.raises(SourceError, match=rf"a.csv:2: 'at' is .*: {told}"):
            read(CsvSource(path, timestamp="at", **options))

    def test_beyond_all_calendars(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.csv", f"at,n\n{2**62},1\n")
        with pytest.raises(SourceError, match=r"a.csv:2: .*not of the years 1 to 9999: is the unit right"):
            read(CsvSource(path, timestamp="at", unit="s"))

    @pytest.mark.parametrize("far", [0, 600, 1023])
    def test_that_go_back_stay_where_they_are_and_their_lines_are_known(
        self, tmp_path: Path, far: int
    ) -> None:
        """The merger of the rows puts them in order, or refuses them by their lines."""
        times = [*range(far), 0, *range(far, far + 1000)]
        path = written(tmp_path, "a.csv", "at\n" + "".join(f"{at}\n" for at in times))
        source, found = CsvSource(path, timestamp="at", unit="s"), []
        for block in source.blocks(0, None):
            assert isinstance(block, Block)
            found += list(block.times)
            assert source.place_of(0, 0) == f"{path}:{len(found) - len(block.times) + 2}"
            assert source.place_of(0, len(block.times) - 1) == f"{path}:{len(found) + 1}"
        assert found == [at * 10**6 for at in times]


class TestJsonLines:
    def test_fields_defaults_and_whole_objects(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.jsonl", '{"a": 1, "b": "x"}\n\n{"b": null, "a": 2.5, "c": [1]}\n')
        assert read(JsonLinesSource(path, ["b", "a"])) == [("x", 1), (None, 2.5)]
        assert read(JsonLinesSource(path, ["a", "c"], defaults={"c": 0})) == [(1, 0), (2.5, [1])]
        assert read(JsonLinesSource(path)) == [({"a": 1, "b": "x"},), ({"a": 2.5, "b": None, "c": [1]},)]

    def test_only_what_can_be_changed_is_said_to_be(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.jsonl", '{"a": 1, "b": []}\n')
        for fields, mutable in ((["a"], False), (["b"], True), (None, True)):
            (block,) = JsonLinesSource(path, fields).blocks(0, None)
            assert block is not None and block.mutable is mutable  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        "line",
        [
            "[1]",
            "1",
            '{"a": 1}{"a": 2}',
            '{"a": 1},{"a": 2}',
            '{"a"',
            '{"b": 1}',
            '{"a": "x"}',
            '{"a": true}',
        ],
    )
    @pytest.mark.parametrize("before", [0, 5, 600])
    def test_malformed_lines(self, tmp_path: Path, line: str, before: int) -> None:
        text = '{"a": 1}\n' * before + line + '\n {"a": 2} \n'
        path = written(tmp_path, "a.jsonl", text)
        with pytest.raises(SourceError, match=rf"a.jsonl:{before + 1}: "):
            read(JsonLinesSource(path, ["a"], types={"a": "int64"}))
        found = timed(JsonLinesSource(path, ["a"], types={"a": "int64"}, on_malformed="skip"))
        assert found == [*((n, (1,)) for n in range(before)), (before + 1, (2,))]

    def test_a_value_that_lies_on_two_lines_is_none(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.jsonl", '{"a":\n1}\n{"a": 2},\n')
        assert read(JsonLinesSource(path, ["a"], on_malformed="skip")) == []

    def test_types_are_checked(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.jsonl", '{"f": 1, "t": "1970-01-01T00:00:01Z", "s": null}\n')
        types = {"f": "float64", "t": "timestamp[ms]", "s": "string"}
        ((f, t, s),) = read(JsonLinesSource(path, ["f", "t", "s"], types=types))
        assert (f, type(f), t, s) == (1.0, float, 1000, None)
        with pytest.raises(SourceError, match=r"a.jsonl:1: 's' is None: expected string not null"):
            read(JsonLinesSource(path, ["s"], types={"s": "string not null"}))

    def test_times(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.jsonl", '{"at": 1, "a": 1}\n{"at": 2.5, "a": 2}\n')
        found = timed(JsonLinesSource(path, ["a"], timestamp="at", unit="ms"))
        assert found == [(1000, (1,)), (2500, (2,))]
        with pytest.raises(SourceError, match=r"a.jsonl:1: 'at' is 1: expected a time in ISO 8601"):
            read(JsonLinesSource(path, ["a"], timestamp="at"))
        with pytest.raises(SourceError, match=r"a.jsonl:1: no 'when' in"):
            read(JsonLinesSource(path, ["a"], timestamp="when"))


class TestParquet:
    def table(self, count: int = 10) -> pa.Table:
        times = pa.array([n * 1000 for n in range(count)], pa.timestamp("ms"))
        return pa.table({"at": times, "n": pa.array(range(count)), "s": [f"s{n}" for n in range(count)]})

    def written(self, folder: Path, table: pa.Table, name: str = "a.parquet", **options: Any) -> str:
        pq.write_table(table, folder / name, **options)
        return str(folder / name)

    def test_values_and_times(self, tmp_path: Path) -> None:
        path = self.written(tmp_path, self.table(3))
        assert read(ParquetSource(path)) == [(0, 0, "s0"), (1000, 1, "s1"), (2000, 2, "s2")]
        found = timed(ParquetSource(path, ["s"], timestamp="at"))
        assert found == [(0, ("s0",)), (1_000_000, ("s1",)), (2_000_000, ("s2",))]
        assert timed(ParquetSource(path, ["s"], timestamp="n", unit="s"))[-1] == (2_000_000, ("s2",))

    def test_typed(self, tmp_path: Path) -> None:
        source = ParquetSource(self.written(tmp_path, self.table(3)), typed=True)
        (stream,) = source.outputs
        assert [str(kind) for kind in stream.schema.types] == ["timestamp[ms]", "int64", "string"]
        (block,) = source.blocks(0, None)
        assert isinstance(block.rows, pa.RecordBatch) and block.rows.num_rows == 3  # type: ignore[union-attr]

    @pytest.mark.parametrize("first", [0, 1, 9, 10, 11, 25, 29, 30, 40])
    def test_groups_before_an_offset_are_not_read(self, tmp_path: Path, first: int) -> None:
        path = self.written(tmp_path, self.table(30), row_group_size=10)
        expected = [(n, (n,)) for n in range(first, 30)]
        assert timed(ParquetSource(path, ["n"]), start_us=first) == expected

    def test_rows_without_a_time(self, tmp_path: Path) -> None:
        table = pa.table({"at": pa.array([0, None, 2], pa.timestamp("s")), "n": [1, 2, 3]})
        path = self.written(tmp_path, table)
        with pytest.raises(SourceError, match=r"a.parquet, row 2: 'at' is None: expected a time"):
            read(ParquetSource(path, timestamp="at"))
        for typed in (False, True):
            found = timed(ParquetSource(path, ["n"], timestamp="at", typed=typed, on_malformed="skip"))
            assert [time_us for time_us, _ in found] == [0, 2_000_000]

    def test_what_is_none(self, tmp_path: Path) -> None:
        path = self.written(tmp_path, self.table())
        with pytest.raises(SourceError, match=r"unknown column 'm'"):
            ParquetSource(path, ["m"])
        torn = written(tmp_path, "torn.parquet", Path(path).read_bytes()[:-10])
        with pytest.raises(SourceError, match=r"torn.parquet: cannot be read as Parquet"):
            ParquetSource(torn)

    def test_all_files_have_the_types_of_the_first(self, tmp_path: Path) -> None:
        self.written(tmp_path, self.table(), "a.parquet")
        self.written(tmp_path, pa.table({"n": ["x"]}), "b.parquet")
        with pytest.raises(SourceError, match=r"b.parquet: its columns .*'n' is string, expected int64"):
            read(ParquetSource(str(tmp_path), ["n"]), 1)


def test_more_files_make_smaller_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_source, "_ROWS_AT_HAND", 200)
    for name in "ab":
        written(tmp_path, name, "x\n" * 300)
    sizes = [len(block.rows) for block in TextSource(str(tmp_path)).blocks(0, None)]  # type: ignore[union-attr]
    assert sizes == [100, 100, 100]


@pytest.mark.parametrize(
    "kind", ["int65", "list<T>", "list<int64>", "struct<a: int64>", "time64[us]", "binary"]
)
@pytest.mark.parametrize("format", ["CSV", "JSON"])
def test_no_refused_type_is_said_to_be_expected(tmp_path: Path, format: str, kind: str) -> None:
    path = tmp_path / "a"
    path.write_text("n\n" if format == "CSV" else '{"n":1}\n')
    with pytest.raises(SourceError) as raised:
        if format == "CSV":
            CsvSource(str(path), types={"n": kind})
        else:
            JsonLinesSource(str(path), ["n"], types={"n": kind})
    found, _, expected = str(raised.value).partition("expected one of ")
    assert kind in found and expected
    assert "list<" not in expected and "time64" not in expected and "binary" not in expected
    assert ("of JSON" in found) == (format == "JSON" and " is no type" not in found)
    assert ("without a type a list" in expected) == (
        format == "JSON" and kind in ("list<int64>", "struct<a: int64>")
    )
