"""Sources: what they may be, what they read, and how they are written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_ingest.errors import JobError
from spark_ingest.job.source import Source


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(f"id,name\n1,{name}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "given_source.py").write_text(
        "def numbers(spark):\n    return spark.range(3)\n\n\n"
        "def nothing(spark):\n    return None\n\n\nthree = 3\n\n\n"
        "def gone(spark):\n    raise OSError('the data base is down')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return "given_source"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "a source is exactly one of 'files', 'table', 'query' or 'function': found none of them"),
        ({"table": "t", "query": "select 1"}, "found table and query"),
        ({"files": []}, "files is empty"),
        ({"table": "t", "views": {"a": "b"}}, "views are for a query to use: found them with table"),
        ({"table": "t", "format": "csv"}, "format is for files and for the views of"),
        ({"query": "select 1", "options": {"a": 1}}, "options is for files"),
        ({"function": "a.b.c"}, r"function is 'a\.b\.c': expected 'package\.module:name'"),
    ],
)
def test_what_is_no_source(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError, match=message):
        Source(**arguments)


class TestFiles:
    def test_globs_are_resolved_here_and_sorted(self, folder: Path) -> None:
        expected = (str(folder / "one.csv"), str(folder / "two.csv"))
        assert Source(files="*.csv").paths() == expected
        assert Source(files=["one.csv", folder / "two.csv"]).paths() == expected  # type: ignore[arg-type]

    def test_urls_are_spark_s_matter(self) -> None:
        assert Source(files="s3a://bucket/*.csv").paths() == ("s3a://bucket/*.csv",)

    @pytest.mark.parametrize("name", ["three.csv", "three/*.csv"])
    def test_what_does_not_exist(self, folder: Path, name: str) -> None:
        with pytest.raises(JobError, match=r"(there is no|no file matches) 'three.*' in "):
            Source(files=name).paths()

    def test_reading(self, spark: SparkSession, folder: Path) -> None:
        df = Source(files="*.csv", options={"header": True}, schema="id int, name string").read(spark)
        assert sorted(map(tuple, df.collect())) == [(1, "one"), (1, "two")]

    def test_a_name_with_a_glob_s_letters(self, spark: SparkSession, folder: Path) -> None:
        (folder / "[x]*.csv").write_text("9\n")
        assert [row[0] for row in Source(files="[x]*.csv").read(spark).collect()] == ["9"]

    def test_a_suffix_that_says_nothing(self, spark: SparkSession, folder: Path) -> None:
        (folder / "data").touch()
        with pytest.raises(JobError, match="'data' does not say what it is: give format="):
            Source(files="data").read(spark)


class TestQuery:
    def test_views_are_there_for_the_query_only(self, spark: SparkSession, folder: Path) -> None:
        source = Source(
            query="select twos.name from ones join twos using (id)",
            views={"ones": "one.csv", "twos": "two.csv"},
            options={"header": True},
        )
        assert [row[0] for row in source.read(spark).collect()] == ["two"]
        assert spark.catalog.listTables() == []

    def test_a_view_of_the_session_is_not_replaced(self, spark: SparkSession, folder: Path) -> None:
        spark.range(1).createTempView("ones")
        try:
            with pytest.raises(JobError, match="view 'ones': the session has a view"):
                Source(query="select 1", views={"ones": "one.csv"}).read(spark)
            assert [table.name for table in spark.catalog.listTables()] == ["ones"]
        finally:
            spark.catalog.dropTempView("ones")


class TestFunction:
    def test_it_is_given_the_session(self, spark: SparkSession, module: str) -> None:
        assert Source(function=f"{module}:numbers").read(spark).count() == 3

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("given_source:numbrs", "did you mean 'numbers'"),
            ("no_such_module:numbers", "function 'no_such_module:numbers': "),
            ("given_source:three", "function 'given_source:three' is a int, expected a function"),
            ("given_source:nothing", "returned NoneType, expected a Spark DataFrame"),
            ("given_source:gone", r"given_source\.py:13: function 'given_source:gone' raised OSError: "),
        ],
    )
    def test_what_is_no_function(self, spark: SparkSession, module: str, name: str, message: str) -> None:
        with pytest.raises(JobError, match=message):
            Source(function=name).read(spark)


def test_plain_values_and_back() -> None:
    source = Source(files=["a.csv", "b.csv"], options={"header": True}, schema="id int")
    said = json.loads(json.dumps(source.to_plain()))
    assert said == {"files": ["a.csv", "b.csv"], "options": {"header": True}, "schema": "id int"}
    assert Source.from_plain(said) == source
    with pytest.raises(JobError, match=r"unknown keyword of a source 'file': .*did you mean 'files'"):
        Source.from_plain({"file": "a.csv"})


def test_a_frame_of_this_process_cannot_be_written_down(spark: SparkSession) -> None:
    source = Source.of(spark.range(2))
    assert source.read(spark).count() == 2
    with pytest.raises(JobError, match="put what makes it into a function"):
        source.to_plain()
