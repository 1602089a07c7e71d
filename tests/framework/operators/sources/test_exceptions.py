"""Exceptions of readers: each is a malformed row's, or becomes a SourceError that names the file."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framework.model.errors import ComponentError, SourceError
from framework.operators.components import Block
from framework.operators.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource, TextSource
from framework.operators.sources.json_records import MOST_LEVELS
from tests.framework.operators.sources.test_runs import to_sink
from tests.framework.runtime.workers.running import PROCESSES, Workers, every_kind

Told = list[tuple[str, tuple[Any, ...]]]


def told(source: FileSource) -> Told:
    """The rows of a source, each with its stream."""
    found: Told = []
    for partition in range(source.partitions):
        for block in source.blocks(partition, None):
            assert isinstance(block, Block)
            rows = block.rows
            if isinstance(rows, pa.RecordBatch):
                rows = [tuple(row.values()) for row in rows.to_pylist()]
            found += [(block.stream, row) for row in rows]
    return found


def good(source: FileSource) -> list[tuple[Any, ...]]:
    return [row for stream, row in told(source) if stream == "default"]


def bad(source: FileSource) -> list[tuple[int, str]]:
    """The line of each malformed row, and why it is one."""
    return [(row[1], row[3]) for stream, row in told(source) if stream == "malformed"]


def nested(levels: int) -> str:
    """A value within so many lists."""
    return "[" * levels + "1" + "]" * levels


class TestJson:
    @pytest.mark.parametrize(
        "deep",
        [
            nested(100_000),
            nested(MOST_LEVELS),
            '{"b":' * 100_000 + "1" + "}" * 100_000,
            '[{"b":' * 150 + "1" + "}]" * 150,
            "[" * 100_000,
        ],
    )
    @pytest.mark.parametrize("fields", [["a"], None])
    def test_nested_too_deeply(self, tmp_path: Path, deep: str, fields: list[str] | None) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(f'{{"a":1}}\n{{"a":{deep}}}\n{{"a":3}}\n')
        reason = f"objects and lists are nested more than {MOST_LEVELS} levels deep: {{"
        with pytest.raises(SourceError) as raised:
            told(JsonLinesSource(str(path), fields))
        assert str(raised.value).startswith(f"{path}:2: {reason}") and len(str(raised.value)) < 500
        rows = [(1,), (3,)] if fields else [({"a": 1},), ({"a": 3},)]
        assert good(JsonLinesSource(str(path), fields, on_malformed="skip")) == rows
        ((line, why),) = bad(JsonLinesSource(str(path), fields, on_malformed="stream"))
        assert line == 2 and why.startswith(reason)

    def test_as_deep_as_may_be(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        lines = [nested(MOST_LEVELS - 1), "[" + "[]," * 3 * MOST_LEVELS + "[]]", f'"{"[" * 500}"']
        path.write_text("".join(f'{{"a":{line}}}\n' for line in lines))
        assert good(JsonLinesSource(str(path), ["a"])) == [(json.loads(line),) for line in lines]

    @every_kind
    def test_a_run_carries_as_many_levels(self, tmp_path: Path, workers: Workers) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(f'{{"a":{nested(MOST_LEVELS - 1)}}}\n{{"a":{nested(MOST_LEVELS)}}}\n{{"a":3}}\n')
        report = workers.run(to_sink(JsonLinesSource(str(path), ["a"], on_malformed="skip"), 2))
        assert report.result("sink") == [(json.loads(nested(MOST_LEVELS - 1)),), (3,)]
        assert report.components["source"].metrics == {"malformed rows": 1}

    def test_as_python_reads_it(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        lines = ['{"a":1,"a":2}', '{"a":1e999}', '{"a":-Infinity}', '{"a":"\\ud83d"}', f'{{"a":{"9" * 100}}}']
        path.write_text("\n".join(lines))
        assert good(JsonLinesSource(str(path), ["a"])) == [(json.loads(line)["a"],) for line in lines]

    @pytest.mark.parametrize("kind", ["float64", "float32", "double", "float64 not null"])
    def test_numbers_too_large_for_a_float(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "a.jsonl"
        wrong = ["1e400", "-1e400", "1" * 400, "1" * 400 + ".5", "1e99999999999999999999", "2e308"]
        lines = ["1.5", "Infinity", *wrong, "-Infinity", "1e-400"]
        path.write_text("".join(f'{{"a":{line},"b":[1e400]}}\n' for line in lines))
        source = JsonLinesSource(str(path), ["a", "b"], types={"a": kind}, on_malformed="stream")
        inf = float("inf")
        assert good(source) == [(value, [inf]) for value in (1.5, inf, -inf, 0.0)]
        assert [line for line, _ in bad(source)] == [3, 4, 5, 6, 7, 8]
        with pytest.raises(SourceError, match=rf"a.jsonl:3: 'a' is 1e400: expected {kind} \(it is too large"):
            told(JsonLinesSource(str(path), ["a"], types={"a": kind}))
        path.write_text('{"b":1}\n{"a":-2.5}\n')
        kept = JsonLinesSource(str(path), ["a"], types={"a": kind}, defaults={"a": inf})
        assert good(kept) == [(inf,), (-2.5,)]

    @pytest.mark.parametrize("line", ["9" * 5000, '"\0"', "\ufeff1", "01", "'1'", '"\\x"', "[1,]", "1}{"])
    def test_no_json(self, tmp_path: Path, line: str) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(f'{{"a":1}}\n{{"a":{line}}}\n{{"a":3}}\n')
        source = JsonLinesSource(str(path), ["a"], on_malformed="stream")
        assert good(source) == [(1,), (3,)] and [line for line, _ in bad(source)] == [2]


class Odd(Exception):
    """An exception whose text is of no help."""


@pytest.mark.parametrize(
    "error", [StopIteration, RecursionError, MemoryError, KeyError, Odd, StopAsyncIteration]
)
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_whatever_a_function_of_a_value_raises(tmp_path: Path, kind: str, error: type[Exception]) -> None:
    def checked(value: str) -> str:
        if value == "x":
            raise error("no")
        return value

    path = tmp_path / f"a.{kind}"
    path.write_text("a\n1\nx\n2\n" if kind == "csv" else '{}\n{"a":"1"}\n{"a":"x"}\n{"a":"2"}\n')
    options: dict[str, Any] = {"types": {"a": checked}, "on_malformed": "stream"}
    made: FileSource
    if kind == "csv":
        made = CsvSource(str(path), **options)
    else:
        made = JsonLinesSource(str(path), ["a"], defaults={"a": "0"}, **options)
    assert good(made) == [("1",), ("2",)] if kind == "csv" else [("0",), ("1",), ("2",)]
    ((line, reason),) = bad(made)
    assert line == 3 and error.__name__ in reason


NS_TIMES = pa.array([1000, 1, None, 2000], pa.time64("ns"))
UTF_8 = pa.array([b"a", b"\xff"]).view(pa.string())
"""Texts of which the second one is none."""


WRONG_AMONG_MANY: dict[str, tuple[Any, Any, Callable[[list[Any]], pa.Array]]] = {
    "text": (b"a", b"\xff", lambda values: pa.array(values).view(pa.string())),
    "duration": (1, 2**62, lambda values: pa.array(values, pa.duration("s"))),
    "date": (1, 2_932_897, lambda values: pa.array(values, pa.date32())),
    "time": (1, 86_400_000_000, lambda values: pa.array(values, pa.int64()).view(pa.time64("us"))),
}
"""By kind a value, one that is none of the kind for Python, and what makes a column of them."""


def of_keys(items: pa.Array) -> pa.Array:
    """A map with one entry in each row, which has the item."""
    return pa.MapArray.from_arrays(range(len(items) + 1), pa.array(["k"] * len(items)), items)


def listed(items: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(range(len(items) + 1), items)


def in_struct(items: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([items], ["x"])


WITHIN: dict[str, Callable[[pa.Array], pa.Array]] = {
    "itself": lambda items: items,
    "list": listed,
    "struct": in_struct,
    "map": of_keys,
    "dictionary": lambda items: items.dictionary_encode(),
    "list of structs": lambda items: listed(in_struct(items)),
    "list of dictionary": lambda items: listed(items.dictionary_encode()),
    "struct of dictionary": lambda items: in_struct(items.dictionary_encode()),
}
"""The ways in which a value may lie in a column."""


class TestParquet:
    @pytest.mark.parametrize(
        ("column", "values", "wrong"),
        [
            (NS_TIMES, [time(0, 0, 0, 1), None, time(0, 0, 0, 2)], "00:00:00.000000001"),
            (
                pa.array([1000, 1, None, -3000], pa.duration("ns")),
                [timedelta(microseconds=1), None, timedelta(microseconds=-3)],
                "1",
            ),
            (pa.array([5, 2**62], pa.duration("s")), [timedelta(seconds=5)], "4611686018427387904"),
            (pa.array([5, 2**31 - 1], pa.date32()), [date(1970, 1, 6)], "<value out of range: 2147483647>"),
            (pa.array([-(2**31), 5], pa.date32()), [date(1970, 1, 6)], "<value out of range: -2147483648>"),
            (UTF_8, ["a"], b"\xff"),
            (pa.array([b"a", b"\xff"], pa.large_binary()).view(pa.large_string()), ["a"], b"\xff"),
            (pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), UTF_8), ["a", "a"], b"\xff"),
            (pa.ListArray.from_arrays([0, 1, 2], UTF_8), [("a",)], None),
            (
                pa.StructArray.from_arrays([NS_TIMES], ["t"]),
                [(time(0, 0, 0, 1),), (None,), (time(0, 0, 0, 2),)],
                None,
            ),
        ],
        ids=lambda found: str(getattr(found, "type", "")),
    )
    def test_values_that_python_has_no_room_for(
        self, tmp_path: Path, column: pa.Array, values: list[Any], wrong: Any
    ) -> None:
        path = tmp_path / "a.parquet"
        numbers = list(range(len(column)))
        pq.write_table(pa.table({"v": column, "n": numbers}), path)
        source = ParquetSource(str(path), on_malformed="stream")
        found = told(source)
        assert [row[0] for stream, row in found if stream == "default"] == values
        (row,) = [row for stream, row in found if stream == "malformed"]
        (number,) = {*numbers} - {row[1] for stream, row in found if stream == "default"}
        assert row[:2] == (str(path), number + 1) and row[3].startswith("'v' has no form as ")
        if wrong is not None:
            assert row[2] == str({"v": wrong, "n": number})
        with pytest.raises(SourceError, match=rf"a.parquet, row {number + 1}: 'v' has no form as "):
            told(ParquetSource(str(path)))
        assert len(good(ParquetSource(str(path), on_malformed="skip"))) == len(values)

    @pytest.mark.parametrize("column", [UTF_8, pa.array([0, 2**31 - 1], pa.date32())], ids=["text", "date"])
    def test_typed_ones_too(self, tmp_path: Path, column: pa.Array) -> None:
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"v": column, "n": [1, 2]}), path)
        source = ParquetSource(str(path), typed=True, on_malformed="stream")
        assert [row[1] for row in good(source)] == [1] and [line for line, _ in bad(source)] == [2]

    @pytest.mark.parametrize("typed", [False, True])
    @pytest.mark.parametrize(
        ("kind", "within"),
        [
            (kind, within)
            for kind in WRONG_AMONG_MANY
            for within in WITHIN
            if kind != "duration" or "dictionary" not in within  # of which pyarrow reads plain numbers
        ],
    )
    def test_only_wrong_rows_are_malformed(self, tmp_path: Path, kind: str, within: str, typed: bool) -> None:
        """5,000 rows are more than a block; the 18th, and the last one, hold a value that is none."""
        good_one, wrong_one, made = WRONG_AMONG_MANY[kind]
        values = [good_one] * 5_000
        values[17] = values[-1] = wrong_one
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"v": WITHIN[within](made(values)), "n": range(5_000)}), path)
        source = ParquetSource(str(path), typed=typed, on_malformed="stream")
        assert [row[1] for row in good(source)] == [n for n in range(5_000) if n not in (17, 4_999)]
        assert [line for line, _ in bad(source)] == [18, 5_000]

    @pytest.mark.parametrize("on_malformed", ["skip", "stream", "error"])
    def test_no_wrong_value_reaches_the_emit(self, tmp_path: Path, on_malformed: str) -> None:
        path = tmp_path / "a.parquet"
        spans = pa.array([1, 2**62, 3], pa.duration("s"))
        days = pa.array([[1], [2], [2_932_897]], pa.list_(pa.date32()))
        pq.write_table(pa.table({"a": spans, "b": days}), path)
        topology = to_sink(ParquetSource(str(path), typed=True, on_malformed=on_malformed))
        if on_malformed == "error":
            with pytest.raises(ComponentError, match=r"SourceError: .*a.parquet, row 2: .*'a' holds 4611"):
                PROCESSES.run(topology)
            return
        report = PROCESSES.run(topology)
        assert report.result("sink") == [(timedelta(seconds=1), (date(1970, 1, 2),))]
        assert report.components["source"].metrics == {"malformed rows": 2}

    def test_each_wrong_row_is_found_among_many(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        times = [n * 1000 + (n % 977 == 5) for n in range(20_000)]
        pq.write_table(pa.table({"t": pa.array(times, pa.time64("ns")), "n": list(range(20_000))}), path)
        source = ParquetSource(str(path), on_malformed="stream")
        assert [n for _, n in good(source)] == [n for n in range(20_000) if n % 977 != 5]
        assert [line - 1 for line, _ in bad(source)] == [n for n in range(20_000) if n % 977 == 5]

    @pytest.mark.parametrize(
        ("column", "options"),
        [
            (pa.array([None, 5], pa.timestamp("s")), {}),
            (pa.array(["x", "2024-01-01"]), {}),
            (pa.array([1e300, 5.0]), {"unit": "s"}),
            (pa.array([2**64 - 1, 5], pa.uint64()), {"unit": "s"}),
            (pa.array([2**31 - 1, 5], pa.date32()), {}),
        ],
        ids=lambda found: str(getattr(found, "type", "")),
    )
    def test_times(self, tmp_path: Path, column: pa.Array, options: dict[str, Any]) -> None:
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"t": column, "n": [1, 2]}), path)
        source = ParquetSource(str(path), timestamp="t", on_malformed="stream", **options)
        assert [row[1] for row in good(source)] == [2] and [line for line, _ in bad(source)] == [1]

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"typed": True},
            {"columns": ["a"]},
            {"columns": ["b"], "timestamp": "a", "unit": "s"},
            {"on_malformed": "skip"},
        ],
    )
    def test_two_columns_of_one_name(self, tmp_path: Path, options: dict[str, Any]) -> None:
        path = tmp_path / "a.parquet"
        table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "a", "b"])
        pq.write_table(table, path)
        with pytest.raises(
            SourceError, match=r"a.parquet: 2 columns are named 'a': expected different names"
        ):
            ParquetSource(str(path), **options)
        assert good(ParquetSource(str(path), ["b"])) == [(3,)]

    def test_two_columns_of_one_name_in_another_part(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"a": [1]}), tmp_path / "0.parquet")
        pq.write_table(
            pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), tmp_path / "1.parquet"
        )
        with pytest.raises(SourceError, match=r"1.parquet: 2 columns are named 'a'"):
            told(ParquetSource(str(tmp_path)))

    @pytest.mark.parametrize("typed", [False, True])
    @pytest.mark.parametrize(
        ("column", "values"),
        [
            (pa.array([1.5, None, 65504.0], pa.float16()), [1.5, None, 65504.0]),
            (pa.array([b"ab", None, b"\xff\0"], pa.binary(2)), [b"ab", None, b"\xff\0"]),
            (pa.array([[1, 2], None, [3, None]], pa.list_(pa.int64(), 2)), [(1, 2), None, (3, None)]),
            (pa.array([[1.5, 2]], pa.list_(pa.float16(), 2)), [(1.5, 2.0)]),
            (pa.array(["x", None], pa.string_view()), ["x", None]),
            (pa.array([b"x", None], pa.binary_view()), [b"x", None]),
            (pa.array([[b"ab"], None], pa.list_(pa.binary(2))), [(b"ab",), None]),
            (pa.array([b"ab", None, b"ab"], pa.binary(2)).dictionary_encode(), [b"ab", None, b"ab"]),
        ],
        ids=lambda found: str(getattr(found, "type", "")),
    )
    def test_types_that_others_stand_for(
        self, tmp_path: Path, column: pa.Array, values: list[Any], typed: bool
    ) -> None:
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"a": column}), path)
        found = [value for (value,) in good(ParquetSource(str(path), typed=typed))]
        assert [tuple(value) if isinstance(value, list) else value for value in found] == values

    @pytest.mark.skipif(not hasattr(pa, "uuid"), reason="this pyarrow knows neither UUIDs nor JSON")
    @pytest.mark.parametrize("typed", [False, True])
    def test_uuids_are_bytes_and_json_is_text(self, tmp_path: Path, typed: bool) -> None:
        path = tmp_path / "a.parquet"
        names = pa.ExtensionArray.from_storage(
            pa.uuid(), pa.array([b"0123456789abcdef", None], pa.binary(16))
        )
        texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}', None]))
        pq.write_table(pa.table({"a": names, "b": texts, "c": listed(names)}), path)
        first, second = good(ParquetSource(str(path), ["a", "b"], typed=typed))
        assert first == (b"0123456789abcdef", '{"a": 1}') and second == (None, None)
        nested = [list(value) for (value,) in good(ParquetSource(str(path), ["c"], typed=typed))]
        assert nested == [[b"0123456789abcdef"], [None]]

    @pytest.mark.parametrize("typed", [False, True])
    def test_a_type_without_values_is_refused_at_once(self, tmp_path: Path, typed: bool) -> None:
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"a": pa.array([[1]], pa.list_view(pa.int64())), "b": [1]}), path)
        told = (
            r"a.parquet: column 'a' is list_view<.*, which cannot be carried: cast it, or leave it out by "
            r"columns \(a file is cast where it is written, or once more: pq.write_table\("
        )
        with pytest.raises(SourceError, match=told):
            ParquetSource(str(path), typed=typed)
        assert good(ParquetSource(str(path), ["b"])) == [(1,)]

    def test_parts_that_may_hold_null(self, tmp_path: Path) -> None:
        never = pa.schema([pa.field("a", pa.int64(), nullable=False)])
        pq.write_table(pa.table({"a": [1, None]}), tmp_path / "0.parquet")
        pq.write_table(pa.table([pa.array([2])], never), tmp_path / "1.parquet")
        for typed in (False, True):
            assert good(ParquetSource(str(tmp_path), typed=typed)) == [(1,), (None,), (2,)]
        os.rename(tmp_path / "0.parquet", tmp_path / "2.parquet")
        assert good(ParquetSource(str(tmp_path))) == [(2,), (1,), (None,)]
        with pytest.raises(SourceError, match=r"2.parquet: .*: 'a' is int64, expected int64 not null"):
            told(ParquetSource(str(tmp_path), typed=True))

    def test_an_unreadable_group_of_rows(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"a": list(range(50_000))}), path, row_group_size=10_000)
        begin = pq.ParquetFile(path).metadata.row_group(3).column(0).data_page_offset
        data = bytearray(path.read_bytes())
        data[begin : begin + 40] = b"\xff" * 40
        path.write_bytes(data)
        for on_malformed in ("error", "skip", "stream"):
            with pytest.raises(
                SourceError, match=r"a.parquet: cannot be read as Parquet behind record 28,672 \("
            ):
                told(ParquetSource(str(path), on_malformed=on_malformed))
        with pytest.raises(
            ComponentError, match=r"SourceError: .*a.parquet: cannot be read as Parquet behind"
        ):
            PROCESSES.run(to_sink(ParquetSource(str(path))))


FORMATS: dict[str, tuple[Callable[[Path], Any], Callable[[str], FileSource]]] = {
    "csv": (lambda path: path.write_text("a\n1\n2\n"), CsvSource),
    "jsonl": (lambda path: path.write_text('{"a":1}\n{"a":2}\n'), lambda path: JsonLinesSource(path, ["a"])),
    "text": (lambda path: path.write_text("1\n2\n"), TextSource),
    "parquet": (lambda path: pq.write_table(pa.table({"a": [1, 2]}), path), ParquetSource),
}


@pytest.mark.parametrize("format", FORMATS)
class TestFiles:
    def test_that_go_or_change(self, tmp_path: Path, format: str) -> None:
        write, made = FORMATS[format]
        path = tmp_path / "a"

        def become_folder() -> None:
            path.unlink()
            path.mkdir()

        changes: list[tuple[Callable[[], Any], str]] = [
            (path.unlink, f"{path}: No such file or directory"),
            (lambda: os.truncate(path, 3), f"{path} was changed or replaced while the run read it"),
            (become_folder, f"{path}: Is a directory"),
        ]
        for change, expected in changes:
            write(path)
            source = made(str(path))
            change()
            with pytest.raises(SourceError) as raised:
                told(source)
            assert str(raised.value).startswith(expected)

    def test_that_cannot_be_read(self, tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Root may read all files, so the refusal is planted."""
        write, made = FORMATS[format]
        path = tmp_path / "a"
        write(path)
        source = made(str(path))

        def refused(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr("builtins.open", refused)
        with pytest.raises(SourceError, match=r"/a: Permission denied"):
            told(source)

    @pytest.mark.parametrize(
        "error", [RuntimeError("odd"), KeyError("a"), pa.ArrowInvalid("odd"), ValueError("odd")]
    )
    def test_whatever_a_reader_raises(self, tmp_path: Path, format: str, error: Exception) -> None:
        write, made = FORMATS[format]
        path = tmp_path / "a"
        write(path)
        source = made(str(path))

        def portions(*_: object) -> Any:
            yield from ()
            raise error

        source._portions = portions  # type: ignore[method-assign]
        with pytest.raises(SourceError) as raised:
            told(source)
        assert str(raised.value).startswith(f"{path}: cannot be read as ") and str(error) in str(raised.value)
        assert raised.value.__cause__ is error

    @pytest.mark.parametrize("path", ["a\0b", "\ud800"])
    def test_that_cannot_be(self, format: str, path: str) -> None:
        with pytest.raises(SourceError, match=r"is no path: "):
            FORMATS[format][1](path)

    def test_pipes_and_devices(self, tmp_path: Path, format: str) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(SourceError, match=r"pipe is a pipe: expected a file"):
            FORMATS[format][1](str(tmp_path / "pipe"))
        with pytest.raises(SourceError, match=r"/dev/null is a device: expected a file"):
            FORMATS[format][1]("/dev/null")


@pytest.mark.parametrize("rows", [10, 10_000])
def test_a_compressed_file_that_is_cut_off(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"1\n" * rows)[:-4])
    behind = "" if rows == 10 else r" behind record \d,\d\d\d"
    with pytest.raises(SourceError, match=rf"a.csv.gz: the compressed file is damaged or cut off{behind}: "):
        told(CsvSource(str(path)))


def test_a_damaged_byte_among_characters_of_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("a\nä\n".encode() + b"x\n" * 9 + b"\xe4\n")
    with pytest.raises(
        SourceError, match=r"a.csv:12: byte 0xe4 is not utf-8, and other characters before it"
    ):
        told(CsvSource(str(path)))
