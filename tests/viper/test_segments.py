"""Named segments leave nothing behind, whoever dies when."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from viper import segments
from viper._backend import ffi, lib
from viper.arena import Arena
from viper.errors import ArenaError
from viper.quota import Quota

DIE = """
import os
from viper import segments
from viper._backend import lib

def die_before_the_name_is_free(name, size):
    open(segments._records() / "made", "wb").write(name)
    os.close(os.open(f"/dev/shm{name.decode()}", os.O_CREAT | os.O_EXCL))
    os.kill(os.getpid(), 9)

class Lib:
    vp_segment_named = staticmethod(die_before_the_name_is_free)
    vp_segment_remove = lib.vp_segment_remove

segments.lib = Lib
segments.make(4096, named=True)
"""

needs_dev_shm = pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs segments that are files")


@pytest.fixture(autouse=True)
def records(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(segments.tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"viperstorm-{os.getuid()}"


def test_a_named_arena_is_like_any_other(records: Path) -> None:
    arena = Arena.shared(10_000, named=True)
    other = Arena.attach(arena.handle())
    assert Quota.attach(other, Quota.create(arena, 7).offset).left == 7
    assert list(records.iterdir()) == []


@needs_dev_shm
def test_no_name_is_left() -> None:
    arenas = [Arena.shared(10_000, named=named) for named in (True, False)]
    assert arenas
    assert [name for name in os.listdir("/dev/shm") if name.startswith(f"vp-{os.getpid()}-")] == []


@needs_dev_shm
def test_what_the_dead_left_is_removed_at_the_next_start(records: Path) -> None:
    died = subprocess.run(
        [sys.executable, "-c", DIE], env={**os.environ, "TMPDIR": str(records.parent)}, timeout=60
    )
    assert died.returncode == -9
    left = Path("/dev/shm" + (records / "made").read_text())
    (records / "made").unlink()
    assert left.exists()
    assert [record.name for record in records.iterdir()] == [left.name]
    assert segments.remove_abandoned() == [left.name]
    assert not left.exists()
    assert list(records.iterdir()) == []


@pytest.mark.parametrize("reason", [errno.ENOSYS, errno.EPERM, errno.EACCES])
def test_where_segments_without_a_name_are_refused_they_are_made_with_one(
    reason: int, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "lib", Sandbox(reason))
    arena = Arena.shared(10_000, named=False)
    assert Quota.attach(Arena.attach(arena.handle()), Quota.create(arena, 7).offset).left == 7
    assert list(records.iterdir()) == []


def test_other_reasons_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "lib", Sandbox(errno.EMFILE))
    with pytest.raises(ArenaError, match=os.strerror(errno.EMFILE)):
        Arena.shared(10_000, named=False)


class Sandbox:
    """The C layer where memory without a name is refused."""

    vp_segment_named = lib.vp_segment_named
    vp_segment_remove = lib.vp_segment_remove

    def __init__(self, reason: int) -> None:
        self.reason = reason

    def vp_segment_anonymous(self, size_bytes: int) -> int:
        ffi.errno = self.reason
        return -1


class Tidied:
    """The C layer where somebody tidies the folder of the records up meanwhile."""

    def vp_segment_named(self, name: bytes, size_bytes: int) -> int:
        (segments._records() / name.decode().strip("/")).unlink()
        made: int = lib.vp_segment_named(name, size_bytes)
        return made


def test_a_record_that_somebody_else_removed(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "lib", Tidied())
    os.close(segments.make(4096, named=True))
    assert list(records.iterdir()) == []


def test_who_lives_keeps_what_it_makes(records: Path) -> None:
    Arena.shared(1000, named=True)
    mine = records / f"vp-{os.getpid()}-{segments._start_of(os.getpid())}-99"
    mine.touch()
    reused = records / f"vp-{os.getpid()}-1-0"  # the number of a process that is no more
    reused.touch()
    others = [records / name for name in ("something else", "vp-1-2-3-4", "vp-1-2-3-4-5")]
    for other in others:
        other.touch()
    assert segments.remove_abandoned() == []
    assert sorted(records.iterdir()) == sorted([mine, *others])


def test_the_start_of_a_process_is_known_by_ps_too() -> None:
    start = segments._start_by_ps(os.getpid())
    assert start is not None and start == segments._start_by_ps(os.getpid())
    assert segments._start_by_ps(2**22 + 1) is None


def test_a_name_that_is_taken_is_an_error_of_the_arena(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "make", _refuse)
    with pytest.raises(ArenaError, match=r"no shared memory of 1000 bytes for an arena: .*File exists"):
        Arena.shared(1000)


def _refuse(size_bytes: int, named: bool) -> int:
    raise FileExistsError(errno.EEXIST, "File exists")
