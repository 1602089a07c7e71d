"""Sources: what they may be, what they read, and how they are written down."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_ingest.engine.failing import unlogged
from spark_ingest.errors import JobError
from spark_ingest.job.source import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
        ({"function": "a.b:"}, r"function is 'a\.b:': expected 'package\.module:name'"),
        ({"files": 3}, "files is 3: expected a path, a glob or a list of them"),
        ({"files": "a.csv", "options": "header"}, "options is 'header': expected names and values"),
        ({"query": "select 1", "views": ["a.csv"]}, "views is .*: expected names with paths"),
        (
            {"query": "select 1", "views": {"a": {"path": "b"}}},
            "view 'a': unknown keyword 'path': expected 'fi",
        ),
        ({"query": "select 1", "views": {"a": {"format": "csv"}}}, "view 'a': files is empty"),
        ({"query": "select 1", "views": {"a": {"files": "b", "options": 1}}}, "view 'a': options is 1"),
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
        assert Source(files=folder.glob("*.csv")).paths() in (expected, expected[::-1])  # type: ignore[arg-type]

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

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"format": "cvs"}, "format is 'cvs', which Spark does not have: expected .*did you mean 'csv'"),
            ({"schema": "id integr"}, r"schema is 'id integr', which Spark cannot read .*INTEGR"),
        ],
    )
    def test_what_spark_cannot_read(
        self, spark: SparkSession, folder: Path, given: dict[str, str], message: str
    ) -> None:
        with unlogged(), pytest.raises(JobError, match=message):
            Source(files="one.csv", **given).read(spark)

    def test_an_empty_file_has_no_columns(self, spark: SparkSession, folder: Path) -> None:
        (folder / "empty.csv").touch()
        with pytest.raises(JobError, match=r"^files: 'empty\.csv' has no columns: it is empty"):
            Source(files="empty.csv", options={"header": True}).read(spark)
        assert Source(files="empty.csv", schema="id int").read(spark).count() == 0

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

    def test_a_view_may_be_read_in_its_own_way(self, spark: SparkSession, folder: Path) -> None:
        (folder / "three.txt").write_text("1;three\n")
        source = Source(
            query="select threes.name from ones join threes using (id)",
            views={
                "ones": folder / "one.csv",
                "threes": {
                    "files": ["three.txt"],
                    "format": "csv",
                    "schema": "id int, name string",
                    "options": {"sep": ";", "header": False},
                },
            },
            options={"header": True},
        )
        assert [row[0] for row in source.read(spark).collect()] == ["three"]
        assert Source.from_plain(json.loads(json.dumps(source.to_plain()))) == source

    def test_columns_without_names(self, spark: SparkSession, folder: Path) -> None:
        source = Source(query="select id from ones", views={"ones": "one.csv"})
        message = r"query: .*`_c0`.*if it has the names, .* option header=true"
        with unlogged(), pytest.raises(JobError, match=message):
            source.read(spark)
        assert spark.catalog.listTables() == []

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("empty.csv", r"^view 'given': 'empty\.csv' has no columns"),
            ("three.csv", r"^view 'given': there is no 'three\.csv' in "),
        ],
    )
    def test_a_view_of_nothing(self, spark: SparkSession, folder: Path, path: str, message: str) -> None:
        (folder / "empty.csv").touch()
        with pytest.raises(JobError, match=message):
            Source(query="select 1", views={"given": path}).read(spark)


class TestFunction:
    def test_it_is_given_the_session(self, spark: SparkSession, module: str) -> None:
        assert Source(function=f"{module}:numbers").read(spark).count() == 3

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("given_source:numbrs", "did you mean 'numbers'"),
            (
                "no_such_module:numbers",
                "^function 'no_such_module:numbers': importing 'no_such_module' raised",
            ),
            ("given_source:three", "function 'given_source:three' is no function, but of type int"),
            ("given_source:nothing", "returned NoneType, expected a Spark DataFrame"),
            ("given_source:gone", r"given_source\.py:13: function 'given_source:gone' raised OSError: "),
        ],
    )
    def test_what_is_no_function(self, spark: SparkSession, module: str, name: str, message: str) -> None:
        with pytest.raises(JobError, match=message):
            Source(function=name).read(spark)


@pytest.mark.parametrize(
    "given",
    [
        {"files": "three.csv"},
        {"files": "data"},
        {"query": "select 1", "views": {"a": "three.csv"}},
        {"query": "select 1", "views": {"a": {"files": ["three.csv"]}}},
    ],
)
def test_what_shows_without_spark(folder: Path, module: str, given: dict[str, Any]) -> None:
    (folder / "data").touch()
    with pytest.raises(JobError):
        Source(**given).check()


def test_what_does_not_show_without_spark(folder: Path, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    for given in ({"files": "*.csv"}, {"table": "t"}, {"function": "given_source:gone"}):
        Source(**given).check()  # type: ignore[arg-type]
    assert module not in sys.modules, "it may make a session"


def test_plain_values_and_back() -> None:
    source = Source(files=["a.csv", "b.csv"], options={"header": True}, schema="id int")
    said = json.loads(json.dumps(source.to_plain()))
    assert said == {"files": ["a.csv", "b.csv"], "options": {"header": True}, "schema": "id int"}
    assert Source.from_plain(said) == source
    with pytest.raises(JobError, match=r"unknown keyword of a source 'file': .*did you mean 'files'"):
        Source.from_plain({"file": "a.csv"})


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (Path("a.csv"), "a.csv"),
        ([Path("a.csv"), "b.csv"], ["a.csv", "b.csv"]),
        ({"files": Path("a.csv"), "format": "csv"}, {"files": "a.csv", "format": "csv"}),
        ({"files": (Path("a.csv"),)}, {"files": ["a.csv"]}),
    ],
)
def test_paths_of_views_are_plain_too(given: Any, plain: Any) -> None:
    source = Source(query="select 1", views={"t": given})
    said = json.loads(json.dumps(source.to_plain()))
    assert said == {"query": "select 1", "views": {"t": plain}}
    assert Source.from_plain(said) == source


def test_a_frame_of_this_process_cannot_be_written_down(spark: SparkSession) -> None:
    source = Source.of(spark.range(2))
    assert source.read(spark).count() == 2
    with pytest.raises(JobError, match="put what makes it into a function"):
        source.to_plain()
