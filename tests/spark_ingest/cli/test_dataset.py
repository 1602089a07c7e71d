"""``viper dataset``: what is in a prepared dataset."""

from __future__ import annotations

import json
from pathlib import Path

from framework.cli.exit_codes import ExitCode
from spark_ingest.datasets.sealing import seal
from tests.spark_ingest.cli.conftest import viper, write_stream


def test_it_is_shown(dataset: Path) -> None:
    result = viper("dataset", dataset)
    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    lines = result.stdout.splitlines()
    span = "from 1970-01-01T00:00:00+00:00 to 1970-01-01T00:00:01.500000+00:00"
    assert lines[0] == f"3 rows in 2 streams, {span}"
    assert lines[1] == "timestamps: 3 null (dropped), none unparsable, 1,200 duplicate (kept)"
    assert lines[2] == "made of: query SELECT 1; event time is at"
    assert lines[3].startswith("made by: Spark 4.0.1, ViperStorm ")
    assert "name    string" in lines
    assert lines[-1].split() == ["1", "1", *["1970-01-01T00:00:01+00:00"] * 2]


def test_as_json_it_is_the_manifest(dataset: Path) -> None:
    result = viper("dataset", dataset, "--json")
    assert json.loads(result.stdout) == json.loads((dataset / "_manifest.json").read_text())


def test_a_damaged_one_is_refused(dataset: Path) -> None:
    (dataset / "b.parquet").unlink()
    result = viper("dataset", dataset)
    assert result.exit_code == ExitCode.INVALID
    assert "b.parquet is missing: prepare the dataset again" in result.stderr


def test_what_is_none_is_refused(tmp_path: Path) -> None:
    result = viper("dataset", tmp_path / "nothing")
    assert result.exit_code == ExitCode.INVALID
    assert "expected a folder that `viper prepare` made" in result.stderr


def test_one_without_rows_has_no_times(tmp_path: Path) -> None:
    write_stream(tmp_path / "a.parquet")
    seal(tmp_path, [["a.parquet"], []], timestamp="at", types={"name": "string"})
    assert viper("dataset", tmp_path).stdout.startswith("0 rows in 2 streams\n")
