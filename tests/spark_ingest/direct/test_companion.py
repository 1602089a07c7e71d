"""The keeper's life, as the leading process sees it; without Spark."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework.runtime import StopSignal
from framework.runtime.coordination.signals import draining_by_signals
from spark_ingest.direct import companion
from spark_ingest.direct.feed import DirectFeed
from spark_ingest.direct.request import Request
from spark_ingest.errors import SparkError
from spark_ingest.job.source import Source
from spark_ingest.job.spec import JobSpec
from spark_ingest.job.stream_spec import StreamSpec

KEEPER = """
import os, signal, sys
sys.stdin.readline()
os.kill(os.getppid(), {first})
sys.stdin.read()
os.kill(os.getppid(), {second})
open({ended!r}, "w").close()
"""
"""It never gets ready, and its parent is interrupted while it starts, and again while it ends."""


@pytest.fixture
def request_() -> Request:
    job = JobSpec(Source(files=("rows.csv",)), StreamSpec("at", streams=1, columns=("n",)), master="local[1]")
    return DirectFeed(job).request


@pytest.fixture
def stop() -> Iterator[StopSignal]:
    stop = StopSignal()
    with draining_by_signals(stop):
        yield stop


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_start_ends_it_before_anything_else(
    number: int, request_: Request, stop: StopSignal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = tmp_path / "ended"
    code = KEEPER.format(first=int(number), second=int(signal.SIGINT), ended=str(ended))

    def started() -> subprocess.Popen[bytes]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen([sys.executable, "-c", code], **pipes)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(companion, "_started", started)
    with pytest.raises(KeyboardInterrupt), stop.at_once(), companion.kept(request_):
        pass
    assert ended.exists()


def test_one_that_ends_without_a_word_is_an_error(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    def started() -> subprocess.Popen[bytes]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"], **pipes)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(companion, "_started", started)
    told = pytest.raises(SparkError, match="ended with status 7 before it began")
    with told, companion.kept(request_):
        pass
