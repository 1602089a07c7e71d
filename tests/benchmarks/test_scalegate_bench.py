"""The two designs of ScaleGate that are measured against each other deliver the same sequence.

That decision has been made. These tests keep its evidence true, and run with all else that is exhaustive.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "scalegate"

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(not (shutil.which("make") and shutil.which("gcc")), reason="needs make and gcc"),
]


def check(build: Path, skiplist: Path = FOLDER / "skiplist") -> subprocess.CompletedProcess[str]:
    """Builds the benchmark and compares what each reader gets with the sorted sequence."""
    settings = [f"BUILD={build}", f"SKIPLIST={skiplist}", "OPTIONS=--tuples 4000 --room 256"]
    command = ["make", "--no-print-directory", "-C", str(FOLDER), "check", *settings]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_both_designs_deliver_the_sorted_sequence_in_all_configurations(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|")[1:5] for line in done.stdout.splitlines() if line.startswith(("| dis", "| int"))]
    measured = {tuple(cell.strip() for cell in row) for row in rows}
    assert measured == {
        (load, workers, str(sources), str(readers))
        for load in ("disjoint", "interleaved")
        for workers in ("threads", "processes")
        for sources in (1, 2, 4, 8, 16)
        for readers in (1, 2, 4)
    }


def test_a_design_that_delivers_another_sequence_is_found_out(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(FOLDER / "skiplist", tmp_path / "skiplist"))
    key = copy / "key.h"
    text = key.read_text(encoding="utf-8")
    by_source = "order == 0 && a.tie < b.tie"
    assert by_source in text
    key.write_text(text.replace(by_source, "order == 0 && a.tie > b.tie"), encoding="utf-8")
    done = check(tmp_path, copy)
    assert done.returncode != 0
    assert "skip list, interleaved, 2 sources: reader 0 got 4000 tuples with checksum" in done.stderr
