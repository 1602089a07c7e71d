"""``viper backfill``: what its options mean, which configuration counts, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.cli.exit_codes import ExitCode
from framework.model.topology import Topology
from spark_ingest.backfill import storing
from tests.spark_ingest.cli.conftest import viper

TOPOLOGY = """
from framework import Bolt, Grouping, Spout, Topology


class Numbers(Spout):
    outputs = ["number"]

    def tuples(self):
        yield [1]


class Same(Bolt):
    outputs = ["number"]

    def process(self, tup):
        self.emit(tup.values)


class Both(Topology):
    config = {"its.own": "topology", "of.all": "topology"}
    numbers = Numbers.spec()
    same = Same.spec(inputs={numbers: Grouping.fields("number")})
"""
NEEDED = ("--stream", "same", "-O", "out")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments of the function that does it, in a project with one topology."""
    given: dict[str, Any] = {}

    def backfill_to(topology: Topology, folder: str, outputs: Any, **others: Any) -> dict[str, int]:
        given.update(topology=topology, folder=folder, outputs=list(outputs), **others)
        return dict.fromkeys(outputs, 1_234)

    monkeypatch.setattr(storing, "backfill_to", backfill_to)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topologies").mkdir()
    (tmp_path / "topologies" / "numbers_of_a_backfill.py").write_text(TOPOLOGY)
    return given


def test_options_reach_the_function(asked: dict[str, Any]) -> None:
    streams = ("--stream", "same/default", "--schema", "same=number bigint", "--shards", 3)
    session = ("--master", "local[2]", "--spark-conf", "spark.a=1", "--force", "-e", "prod")
    result = viper("backfill", *NEEDED, *streams, *session)
    assert result.exit_code == ExitCode.OK, result.stderr
    assert asked["topology"].name == "numbers_of_a_backfill"
    del asked["topology"], asked["on_progress"], asked["settings"]
    assert asked == {
        "folder": "out",
        "outputs": ["same", "same/default"],
        "schemas": {"same": "number bigint"},
        "shards": 3,
        "master": "local[2]",
        "conf": {"spark.a": "1"},
        "force": True,
        "environment": "prod",
    }


def test_configuration_counts_as_in_a_run(
    asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files lie below the topology's own configuration, variables and options above it."""
    (tmp_path / "viper.yaml").write_text("its.own: file\nof.all: file\nof.file: file\n")
    monkeypatch.setenv("VIPER_JUMBO_SIZE", "7")
    assert viper("backfill", *NEEDED, "-o", "of.all=option").exit_code == ExitCode.OK
    assert asked["topology"].config == {"its.own": "topology", "of.all": "topology", "of.file": "file"}
    assert asked["settings"] == {"viper.jumbo.size": 7, "of.all": "option"}


def test_rows_are_told(asked: dict[str, Any]) -> None:
    told = viper("backfill", *NEEDED)
    assert told.stdout == ""
    assert told.stderr.startswith("out: 1 stream in ")
    assert told.stderr.endswith("\n  same: 1,234 rows\n")
    assert json.loads(viper("backfill", *NEEDED, "-q", "--json").stdout) == {"same": 1_234}


@pytest.mark.parametrize(("given", "told"), [(NEEDED[:2], "'--output'"), (NEEDED[2:], "'--stream'")])
def test_what_is_missing_is_a_usage_error(given: tuple[str, ...], told: str, asked: dict[str, Any]) -> None:
    result = viper("backfill", *given)
    assert (result.exit_code, asked) == (ExitCode.USAGE, {})
    assert told in result.stderr


def test_a_wrong_topology_is_refused_before_anything_starts(asked: dict[str, Any], tmp_path: Path) -> None:
    text = TOPOLOGY.replace('fields("number")', 'fields("nubmer")')
    (tmp_path / "topologies" / "numbers_of_a_backfill.py").write_text(text)
    result = viper("backfill", *NEEDED)
    assert (result.exit_code, asked) == (ExitCode.INVALID, {})
    assert "nubmer" in result.stderr
