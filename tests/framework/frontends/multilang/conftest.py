"""The rules for every test of programs: it ends in time, and leaves neither processes nor folders behind."""

from __future__ import annotations

import sys
import tempfile
import textwrap
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.framework.runtime.workers.conftest import gate
from tests.framework.runtime.workers.watching import bounded

FIXTURES = Path(__file__).parents[3] / "fixtures" / "multilang"
MARK = "MULTILANG_TEST"
__all__ = ["FIXTURES", "MARK", "Script", "gate", "marked", "script", "temporary"]

Script = Callable[[str], tuple[str, str]]


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, of which none is left; nor is a process that began in the test."""
    # Not below tmp_path: the paths of sockets in it would become longer than the system allows. The folder
    # stays until this test process ends, because its server of worker processes may keep a socket there.
    mark, folder = uuid.uuid4().hex, Path(tempfile.mkdtemp(prefix="t-"))
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with bounded():
        yield folder
    assert [path.name for path in folder.glob("viper-*")] == []
    assert list(marked(mark)) == []


def marked(mark: str) -> Iterator[str]:
    """The commands of all other processes that were started with a mark; none without a /proc."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment, command = (process / "environ").read_bytes(), (process / "cmdline").read_bytes()
        except OSError:
            continue  # it has just ended, or is somebody else's
        # The servers of multiprocessing go on until the end of this process.
        if f"{MARK}={mark}".encode() in environment and b"multiprocessing" not in command:
            yield command.replace(b"\0", b" ").decode()


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Makes a program of a text in Python that may import `speaking`; returns the words of its command."""
    monkeypatch.setenv("PYTHONPATH", str(FIXTURES))
    made: list[Path] = []

    def make(text: str) -> tuple[str, str]:
        file = tmp_path / f"program{len(made)}.py"
        file.write_text(textwrap.dedent(text), "utf-8")
        made.append(file)
        return sys.executable, str(file)

    return make
