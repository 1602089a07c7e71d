"""The folders of jobs: none is left, whatever becomes of the process that has made it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.peers.folders import job_folder

MAKES_ONE = """\
import sys
from pathlib import Path
from benchmarks.peers.folders import job_folder

with job_folder(Path(sys.argv[1])) as folder:
    Path(folder, "rows").write_text("1")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_removed_when_its_job_is_done(tmp_path: Path) -> None:
    with job_folder(tmp_path) as folder:
        Path(folder, "rows").write_text("1")
        assert list(tmp_path.iterdir()) == [Path(folder)]
    assert not list(tmp_path.iterdir())


def test_folders_of_killed_processes_are_removed_and_those_in_use_are_not(tmp_path: Path) -> None:
    killed, living = (
        subprocess.Popen(
            [sys.executable, "-c", MAKES_ONE, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    )
    with killed, living:
        assert killed.stdout is not None and living.stdout is not None
        left, used = (Path(process.stdout.readline().strip()) for process in (killed, living))
        killed.kill()
        killed.wait()
        assert sorted(tmp_path.iterdir()) == sorted([left, used])
        with job_folder(tmp_path) as folder:
            assert sorted(tmp_path.iterdir()) == sorted([used, Path(folder)])
        living.communicate("")
    assert not list(tmp_path.iterdir())
