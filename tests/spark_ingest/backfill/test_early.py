"""The refusals of a backfill before Spark starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from framework import TopologyBuilder
from framework.model.errors import TopologyError
from spark_ingest import SparkSpout
from spark_ingest.backfill import backfill_to, early, running
from spark_ingest.backfill.early import check_early
from spark_ingest.errors import DatasetError, JobError
from tests.spark_ingest.backfill.components import Sums
from tests.spark_ingest.backfill.topologies import Shop

JOB = {"timestamp": "at", "columns": ["user", "amount"]}


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is there, and none may be started."""

    def start(*arguments: Any) -> None:
        raise AssertionError("Spark would be started")

    monkeypatch.setattr(running, "make_session", start)
    monkeypatch.setattr(early, "_spark_runs", lambda: False)
    for name in early._ELSEWHERE:
        monkeypatch.delenv(name, raising=False)


def made(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("mine")
    return folder


class TestFolder:
    def test_what_is_free(self, tmp_path: Path) -> None:
        empty = made(tmp_path / "empty")
        for folder in (tmp_path / "new", tmp_path / "deep" / "er" / "new", empty, f"file:{empty}"):
            check_early(str(folder), None, False)
        check_early(str(made(tmp_path / "ours", "backfill.json")), None, True)

    def test_what_is_not(self, tmp_path: Path) -> None:
        ours, others = made(tmp_path / "ours", "backfill.json"), made(tmp_path / "a b", "letter")
        expected = {
            str(ours): "ours holds a backfill already: choose another folder, or replace it",
            f"{ours.as_uri()}/": "holds a backfill already",
            str(others): "a b holds something else than a backfill",
            f"file://{others}": "a b holds something else than a backfill",
            f"file:{others}": "a b holds something else than a backfill",
            str(others / "letter"): "letter is a file: expected a new folder",
            str(others / "letter" / "new"): "cannot write to .*letter/new: .*letter is a file",
            " ": "no folder is named",
        }
        for folder, message in expected.items():
            with pytest.raises(DatasetError, match=message):
                check_early(folder, {}, False)

    def test_nothing_of_somebody_else_is_replaced(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="holds something else than a backfill"):
            check_early(str(made(tmp_path / "others", "letter")), None, True)

    def test_one_that_cannot_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        with pytest.raises(DatasetError, match=f"{tmp_path} is not writable for this user"):
            check_early(str(tmp_path / "new"), None, False)

    @pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "I/O error")])
    def test_one_that_cannot_be_looked_at(
        self, tmp_path: Path, error: OSError, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def exists(path: Path) -> bool:
            raise error

        monkeypatch.setattr(Path, "exists", exists)
        with pytest.raises(DatasetError, match=f"^cannot write to .*/new: {error.strerror}$"):
            check_early(str(tmp_path / "new"), None, False)

    def test_a_url_that_is_not_a_plain_path_is_sparks_matter(self, tmp_path: Path) -> None:
        for name in ("a%20b", "a?b", "a#b"):
            check_early(f"file://{made(tmp_path / name, 'letter')}", None, False)
        check_early(f"file://host{made(tmp_path / 'others', 'letter')}", None, False)

    @pytest.mark.parametrize(
        ("conf", "variable"),
        [
            ({"spark.hadoop.fs.defaultFS": "hdfs://x"}, None),
            ({"spark.hadoop.fs.default.name": "hdfs://x"}, None),
            ({}, "HADOOP_CONF_DIR"),
        ],
    )
    def test_a_path_of_another_file_system_is_sparks_matter(
        self, tmp_path: Path, conf: dict[str, str], variable: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if variable is not None:
            monkeypatch.setenv(variable, "/etc/hadoop")
        others = made(tmp_path / "others", "letter")
        check_early(str(others), conf, False)
        check_early(f"hdfs://{others}", conf, False)
        with pytest.raises(DatasetError, match="something else"):
            check_early(others.as_uri(), conf, False)


def over(**job: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("events", SparkSpout, kwargs={**JOB, **job})
    builder.set_bolt("sums", Sums).fields_grouping("events", "user")
    return builder


@pytest.mark.parametrize(
    ("topology", "given", "error", "message"),
    [
        (Shop, {"outputs": ["smus"]}, TopologyError, "unknown component 'smus'.*did you mean 'sums'"),
        (Shop, {"outputs": ["sums/od"]}, TopologyError, "unknown stream 'od'"),
        (Shop, {"schemas": {"smus": "a int"}}, JobError, "schemas: 'smus' is no output.*did you mean 'sums'"),
        (Shop, {"shards": 0}, JobError, "shards is 0"),
        (Shop, {"rows": {"sums": None}}, JobError, "rows are given for 'sums', which is no spout"),
        (over(files="gone.csv"), {}, JobError, r"^spout 'events': files: there is no 'gone\.csv'"),
        (
            over(query="SELECT 1", views={"v": "gone.csv"}),
            {},
            JobError,
            "^spout 'events': view 'v': there is",
        ),
        (over(table="t", streaming=True), {}, JobError, "spout 'events' reads a stream: a backfill is for"),
    ],
)
def test_arguments(
    topology: Any, given: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        backfill_to(topology, tmp_path / "out", **{"outputs": ["sums"], **given})


def test_the_folder_comes_before_spark(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="something else"):
        backfill_to(Shop, made(tmp_path / "others", "letter"), ["sums"])
