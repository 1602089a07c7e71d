"""``viper prepare``: what its options mean, what it says, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spark_ingest.preparing.prepare
from framework.cli.exit_codes import ExitCode
from spark_ingest.datasets.dataset import Dataset
from spark_ingest.errors import RowsRefused
from spark_ingest.job.source import Source
from tests.spark_ingest.cli.conftest import viper

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPOSITORY = Path(__file__).parents[3]
ROWS = "at,name\n2013-01-01T10:00:00Z,a\n2013-01-01T10:00:02Z,b\n2013-01-01T10:00:01Z,c\n"

NEEDED = ("-O", "out", "--timestamp", "at")
HEADER = ("--read-option", "header=true")

ENDLESS = """
import time
from pathlib import Path

def endless(spark):
    def wait(batches):
        Path("running").touch()
        time.sleep(600)
        yield from batches
    return spark.range(10).mapInArrow(wait, "id long")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with some rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path


class TestOptions:
    """Each reaches the function that prepares, under the name that it has everywhere."""

    @pytest.fixture
    def asked(self, dataset: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        given: dict[str, Any] = {}

        def prepare(source: Source, path: Path, **others: Any) -> Dataset:
            given.update(source=source, path=path, **others)
            return Dataset.open(dataset)

        monkeypatch.setattr(spark_ingest.preparing.prepare, "prepare", prepare)
        return given

    def test_files_and_what_they_need(self, asked: dict[str, Any]) -> None:
        reader = ("--format", "csv", "--read-option", "header=true", "--read-option", "sep==")
        given = ("rows.csv", "*.csv", *reader, "--schema", "at string")
        assert viper("prepare", *given, "--timestamp", "at", "-O", "out").exit_code == 0
        options = {"header": "true", "sep": "="}
        expected = Source(files=("rows.csv", "*.csv"), format="csv", options=options, schema="at string")
        assert asked["source"] == expected
        assert asked["path"] == Path("out")

    @pytest.mark.parametrize(
        ("option", "source"),
        [
            (("--table", "t"), {"table": "t"}),
            (("--query", "SELECT 1", "--view", "a=b.csv"), {"query": "SELECT 1", "views": {"a": "b.csv"}}),
            (
                ("--query", "SELECT 1", "--view", "a={files: b.csv, options: {header: true}}"),
                {"query": "SELECT 1", "views": {"a": {"files": "b.csv", "options": {"header": True}}}},
            ),
            (("--function", "a.b:c"), {"function": "a.b:c"}),
        ],
    )
    def test_other_sources(
        self, option: tuple[str, ...], source: dict[str, Any], asked: dict[str, Any]
    ) -> None:
        assert viper("prepare", *option, "--timestamp", "at", "-O", "out").exit_code == 0
        assert asked["source"] == Source(**source)

    def test_streams_quality_and_session(self, asked: dict[str, Any]) -> None:
        streams = ("--unit", "ms", "-k", 7, "--key", "a,b", "--key", "c", "--order", "d", "--columns", "a, b")
        quality = ("--nulls", "drop", "--duplicates", "refuse", "--unparsable", "keep")
        session = ("--master", "local[2]", "--spark-conf", "spark.a=1", "--spark-conf", "spark.b=x=y")
        given = (*streams, *quality, *session, "--timestamp-format", "yyyy", "--stored-as", "arrow")
        given = (*given, "--force")
        assert viper("prepare", "rows.csv", "--timestamp", "at", "-O", "out", *given).exit_code == 0
        del asked["source"], asked["path"], asked["on_progress"]
        assert asked == {
            "timestamp": "at",
            "timestamp_format": "yyyy",
            "unit": "ms",
            "streams": 7,
            "key": ("a", "b", "c"),
            "order": ("d",),
            "columns": ("a", "b"),
            "nulls": "drop",
            "duplicates": "refuse",
            "unparsable": "keep",
            "stored_as": "arrow",
            "master": "local[2]",
            "conf": {"spark.a": "1", "spark.b": "x=y"},
            "force": True,
        }

    def test_what_is_not_said_is_left_to_the_function(self, asked: dict[str, Any]) -> None:
        assert viper("prepare", "rows.csv", "--timestamp", "at", "-O", "out").exit_code == 0
        assert {"columns", "key", "master", "conf", "timestamp_format"}.isdisjoint(asked)

    def test_the_summary_goes_to_stderr_and_json_to_stdout(
        self, asked: dict[str, Any], dataset: Path
    ) -> None:
        command = ("prepare", "rows.csv", "--timestamp", "at", "-O", "out")
        told = viper(*command)
        assert told.stdout == ""
        assert "3 rows in 2 streams" in told.stderr and "3 null (dropped)" in told.stderr
        printed = viper(*command, "-q", "--json")
        assert printed.stderr == ""
        assert json.loads(printed.stdout) == json.loads((dataset / "_manifest.json").read_text())

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (("rows.csv", "--timestamp", "at"), "Missing option '-O' / '--output'"),
            (("rows.csv", "-O", "out"), "Missing option '--timestamp'"),
            (("rows.csv", *NEEDED, "--read-option", "header"), "KEY=VALUE, found 'header'"),
            (("rows.csv", *NEEDED, "--nulls", "ignore"), "'ignore' is not one of"),
        ],
    )
    def test_what_cannot_be_used_is_a_usage_error(
        self, given: tuple[str, ...], told: str, asked: dict[str, Any]
    ) -> None:
        result = viper("prepare", *given)
        assert (result.exit_code, asked) == (ExitCode.USAGE, {})
        assert told in " ".join(result.stderr.split())

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ((), "a source is exactly one of FILES, --table, --query or --function: found none of them"),
            (("rows.x",), "'rows.x' does not say what it is: give --format ('csv', 'json', 'orc' or"),
            (("rows.csv", "--view", "a=b.csv"), "error: --view is for a query to use: found them with files"),
            (
                ("--table", "t", "--format", "csv"),
                "error: --format is for files and for the views of a query",
            ),
            (("--function", "x"), "error: --function is 'x': expected 'package.module:name'"),
            (("rows.csv", "--key", "a,a"), "error: --key names 'a' more than once"),
            (("rows.csv",), "if it has the names, read them with --read-option header=true"),
            (
                ("rows.csv", "--schema", "on date, name string"),
                "unknown column in --timestamp 'at': expected",
            ),
            (
                ("rows.csv", "--key", "nmae", *HEADER),
                "in --key 'nmae': expected 'at' or 'name'; did you mean",
            ),
            (("rows.csv", "--order", "nmae", *HEADER), "in --order 'nmae'"),
            (("rows.csv", "--columns", "at,nmae", *HEADER), "in --columns 'nmae'"),
        ],
    )
    def test_what_shows_without_spark_is_told_before_it_starts_and_in_the_words_of_the_command_line(
        self, given: tuple[str, ...], told: str, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def make_session(*arguments: object) -> None:
            raise AssertionError("Spark was started")

        monkeypatch.setattr(spark_ingest.preparing.prepare, "make_session", make_session)
        (folder / "rows.x").write_text(ROWS)
        result = viper("prepare", *given, *NEEDED)
        assert result.exit_code == ExitCode.INVALID
        assert told in result.stderr
        assert not (folder / "out").exists()

    def test_what_is_refused_while_spark_runs_is_told_in_options_too(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def prepare(*arguments: object, **others: object) -> None:
            message = (
                "'at' is null in 2 of 7 rows, and nulls='refuse': say nulls='drop' or nulls='keep' to go on."
            )
            raise RowsRefused(f"{message} For example\n    nulls='refuse'", "nulls", 2)

        monkeypatch.setattr(spark_ingest.preparing.prepare, "prepare", prepare)
        result = viper("prepare", "rows.csv", *NEEDED)
        assert result.exit_code == ExitCode.INVALID
        assert result.stderr.endswith(
            "error: 'at' is null in 2 of 7 rows, and --nulls refuse: "
            "say --nulls drop or --nulls keep to go on. For example\n    nulls='refuse'\n"
        )

    def test_two_sources_are_refused(self, asked: dict[str, Any]) -> None:
        result = viper("prepare", "rows.csv", "--table", "t", "--timestamp", "at", "-O", "out")
        assert (result.exit_code, asked) == (ExitCode.INVALID, {})
        assert "found files and table" in result.stderr


class TestPreparing:
    def prepare(self, *more: object) -> Any:
        reader = ("--read-option", "header=true", "--timestamp", "at", "--streams", 2, "--columns", "name")
        return viper("prepare", "rows.csv", *reader, "-O", "out", *more)

    def test_it_is_prepared_once(self, folder: Path, spark: SparkSession) -> None:
        how, *first = self.summary()
        assert how.startswith("out: prepared in ")
        assert "3 rows in 2 streams, from 2013-01-01T10:00:00+00:00 to 2013-01-01T10:00:02+00:00" in first[0]
        how, *again = self.summary()
        assert how.startswith("out: as it was prepared before, as nothing has changed")
        assert again == first
        assert self.summary("--force")[0].startswith("out: prepared in ")

    def summary(self, *more: object) -> list[str]:
        """The last lines; before them may stand how far it was, where the machine is slow."""
        result = self.prepare(*more)
        assert result.exit_code == ExitCode.OK, result.stderr
        return list(result.stderr.splitlines()[-3:])

    def test_rows_that_are_refused_leave_nothing(self, folder: Path, spark: SparkSession) -> None:
        (folder / "rows.csv").write_text(ROWS + ",d\n")
        refused = self.prepare()
        assert refused.exit_code == ExitCode.INVALID
        assert "error: " in refused.stderr
        assert sorted(path.name for path in folder.iterdir()) == ["rows.csv"]
        assert "1 null (dropped)" in self.prepare("--nulls", "drop").stderr

    def test_functions_are_found_as_components_are(self, folder: Path, spark: SparkSession) -> None:
        (folder / "src").mkdir()
        (folder / "src" / "rows_of_a_test.py").write_text("def rows(spark): return spark.range(3)\n")
        source = ("--function", "rows_of_a_test:rows", "--timestamp", "id", "--unit", "s")
        result = viper("prepare", *source, "-O", "out")
        assert result.exit_code == ExitCode.OK, result.stderr
        assert "3 rows in 4 streams, from 1970-01-01T00:00:00+00:00" in result.stderr


@pytest.mark.usefixtures("java")
class TestEnding:
    """In a process of its own, as Spark's signals are the process's."""

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "framework.cli", "prepare", *arguments, "-O", "out", "-q"]
        environ = {**os.environ, "PYTHONPATH": str(REPOSITORY), **environ}
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ)

    @pytest.mark.few(1)
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_stops_the_job_and_leaves_nothing(self, folder: Path, number: signal.Signals) -> None:
        (folder / "endless.py").write_text(ENDLESS)
        limits = ("--spark-conf", "spark.driver.memory=1g", "--master", "local[1]")
        running = self.start("--function", "endless:endless", "--timestamp", "id", *limits)
        try:
            while running.poll() is None and not (folder / "running").exists():
                time.sleep(0.05)
            running.send_signal(number)
            _, told = running.communicate(timeout=60)
        finally:
            running.kill()
        assert (running.returncode, told) == (ExitCode.STOPPED, "error: stopped; out is as it was\n")
        assert not (folder / "out").exists()

    def test_without_java_it_says_what_to_install(self, folder: Path) -> None:
        running = self.start("rows.csv", "--timestamp", "at", *HEADER, PATH=str(folder), JAVA_HOME="")
        _, told = running.communicate(timeout=60)
        assert running.returncode == ExitCode.FAILED
        assert "openjdk-17-jre-headless" in told
        assert not (folder / "out").exists()
