"""Spark's own files, after the end of whoever had them; without Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from spark_ingest.engine.scratch import scratch

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_gone_with_the_block(parent: Path) -> None:
    with scratch() as folder:
        (folder / "blocks").mkdir()
        assert [folder] == list(parent.iterdir())
    assert list(parent.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(parent: Path) -> None:
    code = (
        "import time\nfrom spark_ingest.engine.scratch import scratch\n"
        "with scratch() as folder:\n    (folder / 'blocks').mkdir()\n    print(folder, flush=True)\n"
        "    time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(parent)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        with scratch():
            assert (theirs / "blocks").is_dir(), "it is in use"
        process.send_signal(signal.SIGKILL)
        process.wait()
    with scratch() as ours:
        assert list(parent.iterdir()) == [ours]


def test_what_others_have_there_is_left(parent: Path) -> None:
    """Without a lock in it, it is none of ours, or was made this moment."""
    others = {parent / "viper-spark-x", parent / "something"}
    for other in others:
        other.mkdir()
    with scratch() as folder:
        assert set(parent.iterdir()) == {*others, folder}
