from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402

from spark_ingest.datasets.formats import ARROW, STORED_AS, format_of  # noqa: E402
from spark_ingest.datasets.opening import open_rows  # noqa: E402
from spark_ingest.errors import DatasetError  # noqa: E402
from spark_ingest.replaying import reading  # noqa: E402
from spark_ingest.replaying.reading import first_time, read_stream, rows_of, schema_of  # noqa: E402
from spark_ingest.replaying.span import Span  # noqa: E402
from tests.spark_ingest.stages import numbered, table, write_rows  # noqa: E402

EVERYTHING = Span()


ENDINGS = [found.suffix for found in STORED_AS.values()]


def write_parquet(path: Path, rows: Any, group_rows: int = 10, **options: Any) -> Path:
    pq.write_table(rows, path, row_group_size=group_rows, **options)
    return path


@pytest.fixture(params=ENDINGS)
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def read(files: list[Path], columns: tuple[str, ...] = ("n",), span: Span = EVERYTHING) -> list[Any]:
    batches = list(read_stream(files, columns, span))
    assert all(batch.num_rows for batch in batches)
    assert all(batch.schema.names == ["_time_us", *columns] for batch in batches)
    return [row for batch in batches for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)]


@pytest.fixture
def files(tmp_path: Path, ending: str) -> list[Path]:
    """Rows 0 to 99 of times 0, 0, 1, 1, ... in two files."""
    times = [n // 2 for n in range(100)]
    return [
        write_rows(tmp_path / f"a{ending}", numbered(times[:45])),
        write_rows(tmp_path / f"b{ending}", numbered(times[45:], 45)),
    ]


class TestReading:
    def test_all_rows_in_order(self, files: list[Path]) -> None:
        assert read(files) == [(n // 2, n) for n in range(100)]

    def test_columns_in_the_order_that_is_asked_for(self, tmp_path: Path, ending: str) -> None:
        path = write_rows(tmp_path / f"x{ending}", table([1, 2], a=["x", "y"], b=[1.0, 2.0], c=[True, False]))
        assert read([path], ("c", "a")) == [(1, True, "x"), (2, False, "y")]

    def test_names_with_dots(self, tmp_path: Path, ending: str) -> None:
        rows = table([1], **{"a.b": [5], "a": [6], "s": [{"b": 7, "c": 8}]})
        path = write_rows(tmp_path / f"x{ending}", rows)
        assert read([path], ("a", "s", "a.b")) == [(1, 6, {"b": 7, "c": 8}, 5)]

    def test_a_large_row_group_is_read_in_parts(
        self, files: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "BATCH_ROWS", 3)
        assert max(batch.num_rows for batch in read_stream(files, ("n",), EVERYTHING)) == 3
        assert read(files) == [(n // 2, n) for n in range(100)]

    @pytest.mark.parametrize("start", [None, 0, 7, 22, 49, 50])
    @pytest.mark.parametrize("until", [None, 0, 8, 23, 50])
    def test_spans(self, files: list[Path], start: int | None, until: int | None) -> None:
        expected = [
            (n // 2, n)
            for n in range(100)
            if (start is None or n // 2 >= start) and (until is None or n // 2 < until)
        ]
        assert read(files, span=Span(start, until)) == expected

    def test_no_files(self) -> None:
        assert read([]) == []

    def test_a_file_without_rows(self, tmp_path: Path, files: list[Path], ending: str) -> None:
        empty = write_rows(tmp_path / f"empty{ending}", numbered([]))
        assert read([empty, *files]) == read(files)

    def test_first_time(self, files: list[Path]) -> None:
        assert first_time(files, EVERYTHING) == 0
        assert first_time(files, Span(33)) == 33
        assert first_time(files, Span(50)) is None

    def test_few_distinct_texts_are_read_as_a_dictionary(self, tmp_path: Path) -> None:
        count = 2000
        rows = table(range(count), few=["a", "b"] * (count // 2), many=[f"x{n}" for n in range(count)])
        path = write_parquet(tmp_path / "x", rows, group_rows=count)
        (batch,) = read_stream([path], ("few", "many"), EVERYTHING)
        assert pa.types.is_dictionary(batch.schema.field("few").type)
        assert batch.schema.field("many").type == pa.string()
        assert (schema_of(path, ("few", "many")), rows_of(path)) == (batch.schema, count)

    def test_timestamps_in_sparks_old_form(self, tmp_path: Path) -> None:
        times = pa.array([1_356_998_400_000_001], pa.timestamp("us"))
        path = write_parquet(tmp_path / "x", table([1], at=times), use_deprecated_int96_timestamps=True)
        (batch,) = read_stream([path], ("at",), EVERYTHING)
        assert batch.column(1).type == pa.timestamp("us") and batch.column(1).cast(
            pa.int64()
        ).to_pylist() == [1_356_998_400_000_001]


class TestSeeking:
    def test_row_groups_of_which_nothing_is_wanted_are_not_read(self, tmp_path: Path, ending: str) -> None:
        path = write_rows(tmp_path / f"x{ending}", numbered(list(range(100))))
        spoil(path, groups=[0, 1, 2, 3, 4, 6, 7, 8, 9])
        assert read([path], span=Span(50, 60)) == [(n, n) for n in range(50, 60)]
        with pytest.raises(DatasetError, match=r"cannot be read as (Parquet|Arrow)"):
            read([path], span=Span(50, 61))

    def test_without_statistics_everything_is_read(self, tmp_path: Path) -> None:
        path = write_parquet(tmp_path / "x", numbered(list(range(100))), write_statistics=False)
        assert read([path], span=Span(50, 55)) == [(n, n) for n in range(50, 55)]


class TestErrors:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"gone: the file is missing: prepare the dataset again"):
            read([tmp_path / "gone"])

    @pytest.mark.parametrize("keep", [0, 3, 100, -1])
    def test_a_truncated_file(self, files: list[Path], keep: int) -> None:
        files[1].write_bytes(files[1].read_bytes()[:keep])
        for use in (read, lambda given: schema_of(given[1], ("n",))):
            with pytest.raises(DatasetError, match=r"b\.\w+: cannot be read as (Parquet|Arrow) \("):
                use(files)

    def test_a_damaged_group(self, tmp_path: Path, ending: str) -> None:
        path = write_rows(tmp_path / f"x{ending}", numbered(list(range(100))))
        spoil(path, groups=[5])
        with pytest.raises(DatasetError, match=rf"x{ending}: cannot be read as"):
            read([path])

    def test_a_page_with_other_values(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        plain = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
        pq.write_table(numbered(list(range(1000))), path, **plain)
        data = bytearray(path.read_bytes())
        data[5000] ^= 1
        path.write_bytes(data)
        with pytest.raises(DatasetError, match=r"x: cannot be read as Parquet .*CRC"):
            read([path])

    def test_a_foreign_file(self, tmp_path: Path, ending: str) -> None:
        path = write_rows(tmp_path / f"x{ending}", pa.table({"n": [1]}))
        for use in (read, lambda given: schema_of(given[0], ("n",))):
            with pytest.raises(
                DatasetError, match=r"x\.\w+: the file has no column '_time_us', so it is of something else"
            ):
                use([path])

    def test_a_missing_column(self, files: list[Path]) -> None:
        with pytest.raises(DatasetError, match=r"a\.\w+: the file has no column 'm'"):
            read(files, ("m",))

    def test_a_time_of_another_type(self, tmp_path: Path, ending: str) -> None:
        path = write_rows(
            tmp_path / f"x{ending}", pa.table({"_time_us": pa.array([1], pa.int32()), "n": [1]})
        )
        with pytest.raises(DatasetError, match="column '_time_us' is int32, expected int64"):
            read([path])

    def test_a_time_that_is_null(self, tmp_path: Path, ending: str) -> None:
        path = write_rows(
            tmp_path / f"x{ending}", pa.table({"_time_us": pa.array([1, None], pa.int64()), "n": [1, 2]})
        )
        with pytest.raises(DatasetError, match="column '_time_us' has nulls"):
            read([path])

    @pytest.mark.parametrize("batch_rows", [2, 10, 65_536])
    @pytest.mark.parametrize("row", [1, 9, 10, 17, 44])
    def test_time_that_goes_back(
        self, tmp_path: Path, ending: str, row: int, batch_rows: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "BATCH_ROWS", batch_rows)
        times = [n if n != row else row - 2 for n in range(45)]
        path = write_rows(tmp_path / f"x{ending}", numbered(times))
        before = "1970-01-01T00:00:00"
        with pytest.raises(
            DatasetError,
            match=rf"x{ending}: row {row} is of .*, after one of {before}.*has to be in the order",
        ):
            read([path])

    def test_time_that_goes_back_in_a_later_file(self, files: list[Path]) -> None:
        with pytest.raises(
            DatasetError, match=r"a\.\w+: row 0 is of 1970-01-01T00:00:00\+00:00, after one of"
        ):
            read(files[::-1])

    def test_fewer_rows_than_the_file_says(self, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
        kind = type(open_rows(files[0]))
        whole = kind.batches

        def shortened(self: Any, *args: Any) -> Any:
            return (batch.slice(1) for batch in whole(self, *args))

        monkeypatch.setattr(kind, "batches", shortened)
        with pytest.raises(
            DatasetError, match=r"a\.\w+: row group 1 has 9 rows, and not the 10 that it says"
        ):
            read(files, span=Span(5, 9))

    def test_the_row_is_right_where_others_were_skipped(self, tmp_path: Path, ending: str) -> None:
        times = [n if n != 57 else 50 for n in range(100)]
        path = write_rows(tmp_path / f"x{ending}", numbered(times))
        with pytest.raises(DatasetError, match=rf"x{ending}: row 57 is of"):
            read([path], span=Span(50, 60))


def spoil(path: Path, groups: list[int]) -> None:
    """Overwrite the column ``n`` of some groups of ten rows that count up, and leave the rest of the file."""
    if format_of(path) is ARROW:
        spoil_numbers(path, groups)
    else:
        spoil_pages(path, groups)


def spoil_numbers(path: Path, groups: list[int]) -> None:
    data = path.read_bytes()
    for group in groups:
        column = array("q", range(10 * group, 10 * group + 10)).tobytes()
        at = data.rindex(column)  # behind the times, which are the same numbers
        data = data[:at] + bytes(len(column)) + data[at + len(column) :]
    path.write_bytes(data)


def spoil_pages(path: Path, groups: list[int]) -> None:
    metadata = pq.read_metadata(path)
    data = bytearray(path.read_bytes())
    for group in groups:
        for index in range(metadata.num_columns):
            column = metadata.row_group(group).column(index)
            start = column.dictionary_page_offset or column.data_page_offset
            data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(data)
