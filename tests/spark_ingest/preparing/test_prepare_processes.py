"""Preparing on several Javas, and in processes that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spark_ingest.datasets.dataset import Dataset

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("java")]

REPOSITORY = Path(__file__).parents[3]
PREPARE = """
import os, signal, sys
from pyspark import SparkContext
from spark_ingest import Source, SparkError, prepare

query = (
    "select id as n, timestamp_seconds(hash(id) % 1000) as at, concat('k', id % 11) as k, "
    "if(id % 5 = 0, null, id / 7) as x from range(0, 20000, 1, {slices})"
)

def told(progress):
    if progress.stage == "{at}":
        {then}

try:
    made = prepare(
        Source(query=query), {target!r}, timestamp="at", key=["k"], streams=3, master="{master}",
        conf={{"spark.driver.memory": "512m"}}, on_progress=told, force=True,
    )
    print(made.fingerprint)
except SparkError as error:
    print(error)
"""


def start(target: Path, **how: object) -> subprocess.Popen[str]:
    """A process that prepares, and does something at some stage."""
    given = {"slices": 4, "at": "", "then": "pass", "master": "local[2]", "target": str(target), **how}
    scratch = target.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", PREPARE.format(**given)],
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    with process:
        told, errors = process.communicate(timeout=300)
    assert errors == ""
    return told.strip()


def test_every_master_makes_the_same(tmp_path: Path) -> None:
    """All rows and their order, and so the fingerprints; the third has two executors with a Java each."""
    masters = {"local[1]": 1, "local[2]": 5, "local-cluster[2,1,1024]": 3}
    prints = [output(start(tmp_path / m, master=m, slices=slices)) for m, slices in masters.items()]
    made = [Dataset.open(tmp_path / master) for master in masters]
    assert prints == [made[0].fingerprint] * 3
    assert rows_of(made[0]) == rows_of(made[1]) == rows_of(made[2])


def rows_of(made: Dataset) -> list[list[Any]]:
    import pyarrow.parquet as pq

    return [[row for f in stream.files for row in pq.read_table(f).to_pylist()] for stream in made.streams]


def test_a_killed_java_is_told_and_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "made"
    first = output(start(target))
    kill = "os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL); SparkContext._gateway.proc.wait()"
    told = output(start(target, at="writing", then=kill))
    assert told.startswith("preparing failed: Spark's Java process was killed by signal 9")
    assert Dataset.open(target).fingerprint == first
    assert sorted(os.listdir(tmp_path)) == ["made", "tmp"]


def test_a_killed_python_leaves_the_old_one_and_its_remains_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "made"
    first = output(start(target))
    with start(target, at="writing", then="os.kill(os.getpid(), signal.SIGKILL)") as process:
        process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    assert Dataset.open(target).fingerprint == first
    assert (tmp_path / ".made.preparing").exists()
    assert output(start(target)) == first
    assert sorted(os.listdir(tmp_path)) == ["made", "tmp"]
