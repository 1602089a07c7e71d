"""The driver of a job, as a process; without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_it_ends_well_while_its_input_is_open(tmp_path: Path) -> None:
    messages = tmp_path / "messages"
    said = {"messages": str(messages), "rendezvous": ["127.0.0.1", 1], "secret": "", "folder": str(tmp_path)}
    no_request = {"job": "{}", "span": {}, "listening": ["127.0.0.1", None], "stream": None}
    command = [sys.executable, "-m", "spark_ingest.direct.driver"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=Path(__file__).parents[3], **pipes) as driver:  # type: ignore[call-overload]
        assert driver.stdin is not None and driver.stderr is not None
        for line in (said, no_request):
            driver.stdin.write(json.dumps(line).encode() + b"\n")
        driver.stdin.flush()
        assert driver.wait(60) == 0, driver.stderr.read().decode()
    assert json.loads(messages.read_text())["failed"]["error"] == "JobError"
