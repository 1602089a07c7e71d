"""Commands in this process, and in a project of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framework.cli import main
from spark_ingest.datasets.sealing import seal

COUNTS = {
    "nulls": {"found": 3, "kept": 0, "dropped": 3},
    "duplicates": {"found": 1_200, "kept": 1_200, "dropped": 0},
    "unparsable": {"found": 0, "kept": 0, "dropped": 0},
}


def viper(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="viper")


def write_stream(path: Path, *times_us: int) -> None:
    """A Parquet file with rows of these times."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    times = pa.array(times_us, pa.int64())
    pq.write_table(pa.table({"_time_us": times, "name": ["x"] * len(times_us)}), path)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A dataset of three rows in two streams."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    write_stream(folder / "a.parquet", 0, 1_500_000)
    write_stream(folder / "b.parquet", 1_000_000)
    others: dict[str, Any] = {"counts": COUNTS, "source": {"query": "SELECT 1"}, "spark_version": "4.0.1"}
    seal(folder, [["a.parquet"], ["b.parquet"]], timestamp="at", types={"name": "string"}, **others)
    return folder
