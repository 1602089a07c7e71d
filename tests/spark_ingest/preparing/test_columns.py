"""The columns of files are read without Spark if they are certain, and left to Spark if not."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from spark_ingest.errors import JobError
from spark_ingest.job.source import Source
from spark_ingest.job.streams import StreamSpec
from spark_ingest.preparing.columns import check_columns_of_files

HEADER = {"header": "true"}


def complaint(source: Source, column: str = "nope") -> str | None:
    """Check a job that asks for a column, and return the message; None if that is left to Spark."""
    try:
        check_columns_of_files(source, StreamSpec(column))
    except JobError as error:
        return str(error).partition(";")[0]
    return None


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("at,name\n1,a\n", HEADER, "'at' or 'name'"),
        ("at,name\n1,a\n", {"Header": True}, "'at' or 'name'"),
        ("\n\nat,name\n", HEADER, "'at' or 'name'"),
        ('"a,t";"na ""me"\n', {**HEADER, "sep": ";"}, "'a,t' or 'na \"me'"),
        ("1\t2\t3\n", {"delimiter": "\t"}, "'_c0', '_c1' or '_c2'"),
    ],
)
def test_the_first_line_of_a_csv_file(text: str, options: dict[str, Any], names: str) -> None:
    Path("rows.csv").write_text(text)
    said = complaint(Source(files=("rows.csv",), options=options))
    assert said == f"unknown column in timestamp 'nope': expected {names}"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("at,name\n", {**HEADER, "encoding": "utf-16"}),
        ("# at\nname\n", {**HEADER, "comment": "#"}),
        ("a::b\n", {**HEADER, "sep": "::"}),
        ("at,at\n", HEADER),
        ("at,\n", HEADER),
        ('"two\nlines",b\n', HEADER),
        ("\ufeffat\n", HEADER),
        ("", HEADER),
    ],
)
def test_what_only_spark_can_tell_of_a_csv_file(text: str, options: dict[str, Any]) -> None:
    Path("rows.csv").write_text(text)
    assert complaint(Source(files=("rows.csv",), options=options)) is None


def test_compressed_files_and_other_formats_are_left_to_spark() -> None:
    Path("rows.csv.gz").write_bytes(gzip.compress(b"at\n1\n"))
    Path("rows.json").write_text('{"at": 1}\n')
    assert complaint(Source(files=("rows.csv.gz",), options=HEADER)) is None
    assert complaint(Source(files=("rows.json",))) is None


def test_a_column_that_one_of_several_files_has_is_none_to_refuse() -> None:
    Path("data").mkdir()
    Path("data/a.csv").write_text("at,a\n")
    Path("data/b.csv").write_text("at,b\n")
    Path("data/_SUCCESS").write_text("")
    source = Source(files=("data",), format="csv", options=HEADER)
    assert complaint(source, "b") is None
    assert complaint(source) == "unknown column in timestamp 'nope': expected 'a', 'at' or 'b'"


def test_folders_that_stand_for_a_column_are_left_to_spark() -> None:
    Path("data/day=1").mkdir(parents=True)
    Path("data/day=1/a.csv").write_text("at\n")
    assert complaint(Source(files=("data",), format="csv", options=HEADER), "day") is None


def test_parquet_files_say_their_columns() -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"at": [1], "name": ["a"]}), "rows.parquet")
    assert complaint(Source(files=("rows.parquet",))) == (
        "unknown column in timestamp 'nope': expected 'at' or 'name'"
    )
    assert complaint(Source(files=("rows.parquet",)), "at") is None
    Path("broken.parquet").write_text("no parquet")
    assert complaint(Source(files=("broken.parquet",))) is None


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ("id long, at timestamp", "'at' or 'id'"),
        ("d decimal(10,2), m map<string,array<int>>, s struct<a:int,b:int>", "'d', 'm' or 's'"),
        ("`odd name` int NOT NULL COMMENT 'x', b: string", "'b' or 'odd name'"),
    ],
)
def test_a_schema_says_its_columns(schema: str, names: str) -> None:
    Path("rows.json").write_text("")
    said = complaint(Source(files=("rows.json",), schema=schema))
    assert said == f"unknown column in timestamp 'nope': expected {names}"


def test_a_schema_that_only_spark_can_read_is_left_to_it() -> None:
    Path("rows.json").write_text("")
    assert complaint(Source(files=("rows.json",), schema="`a,b` int, c int")) is None
    assert complaint(Source(files=("rows.json",), schema="id")) is None


def test_what_is_no_file_is_left_to_spark() -> None:
    assert complaint(Source(query="SELECT 1 AS at")) is None
    assert complaint(Source(files=("s3a://bucket/rows.csv",), options=HEADER)) is None
