"""Ctrl-C while a job that feeds a spout looks at its source, which may take minutes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from framework.cli.exit_codes import ExitCode
from tests.spark_ingest.direct.processes import descendants, named

REPOSITORY = Path(__file__).parents[3]

TOPOLOGY = """
name: endless
spouts:
  - id: rows
    className: spark_ingest.SparkSpout
    constructorArgs:
      function: endless_source:endless
      timestamp: id
      unit: s
      streams: 1
      columns: [id]
      master: local[1]
      conf: {spark.driver.memory: 600m}
bolts:
  - id: sink
    className: framework.operators.sinks.CountingSink
streams:
  - {from: rows, to: sink, grouping: {type: GLOBAL}}
"""

SOURCE = """
import time
from pathlib import Path

def endless(spark):
    def wait(batches):
        Path(RUNNING).touch()
        time.sleep(600)
        yield from batches
    return spark.range(10).mapInArrow(wait, "id long")
"""


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_the_run_and_all_of_the_job_at_once(java: None, number: int, tmp_path: Path) -> None:
    running, scratch, report = tmp_path / "running", tmp_path / "scratch", tmp_path / "report.json"
    for folder in ("src", "topologies", "scratch"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / "endless_source.py").write_text(f"RUNNING = {str(running)!r}\n{SOURCE}")
    (tmp_path / "topologies" / "endless.yaml").write_text(TOPOLOGY)
    command = [sys.executable, "-m", "framework.cli", "run", "endless", "--report", str(report)]
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(scratch)}
    viper = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environ)
    try:
        while viper.poll() is None and not running.exists():
            time.sleep(0.05)
        started = descendants(viper.pid)
        viper.send_signal(number)
        _, told = viper.communicate(timeout=60)
    finally:
        viper.kill()
    assert (viper.returncode, told) == (ExitCode.STOPPED, "error: stopped before it began\n")
    assert json.loads(report.read_text()) == {"error": "stopped before it began"}
    assert started and not named("spark_ingest.direct", "pyspark", "java", among=started)
    assert os.listdir(scratch) == []
