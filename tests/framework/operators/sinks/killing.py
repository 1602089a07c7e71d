"""Kills a sink at every step: ``python -m tests...sinks.killing KIND FOLDER [EVERY [PLANTED]]``.

Each life of the sink is a process of its own. It resumes from the last checkpoint whose manifest was written,
and is killed at its next step: before a write, in the middle of it, before something is put on disk, renamed,
truncated or removed, and around each statement of a database. What was not put on disk may be lost then.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from framework.operators.sinks import FileSink, TransactionalSink
from framework.operators.sinks.staging import Stage, write_whole
from tests.framework.operators.sinks.driven import SINKS, begun, held, rows_between

EPOCHS, EPOCH_ROWS = 4, 10


class Reaper:
    """Kills this process at its nth step."""

    def __init__(self, nth: int, seed: int, folder: Path) -> None:
        self._left = nth
        self._chance = random.Random(seed)
        found = [path.stat() for path in folder.rglob("*")]
        self._synced = {stat.st_ino: stat.st_size for stat in found}
        """The bytes of each file that are on disk for certain: all of them, when a life begins."""

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def is_next(self) -> bool:
        return self._left == 1

    def write(self, file: int, data: Any) -> int:
        if self.is_next():
            _write(file, bytes(data)[: self._chance.randrange(len(data) + 1)])
        self.step()
        return _write(file, data)

    def fsync(self, file: int) -> None:
        found = os.fstat(file)
        if self.is_next():
            least = min(self._synced.get(found.st_ino, 0), found.st_size)
            with contextlib.suppress(OSError):  # of a folder, or a file for reading only
                _ftruncate(file, self._chance.randint(least, found.st_size))
        self.step()
        _fsync(file)
        self._synced[found.st_ino] = found.st_size

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepping(*args: Any, **options: Any) -> Any:
            self.step()
            made = call(*args, **options)
            self.step()
            return made

        return stepping

    def install(self) -> None:
        reaper = self
        os.write, os.fsync = self.write, self.fsync
        for name in ("rename", "replace", "truncate", "ftruncate", "unlink"):
            setattr(os, name, self.around(getattr(os, name)))

        class Connection(sqlite3.Connection):
            def execute(self, *args: Any) -> Any:
                return reaper.around(super().execute)(*args)

            def executemany(self, *args: Any) -> Any:
                return reaper.around(super().executemany)(*args)

            def commit(self) -> None:
                reaper.around(super().commit)()

        connect = sqlite3.connect
        sqlite3.connect = lambda *args, **options: connect(*args, **{**options, "factory": Connection})


_write, _fsync, _ftruncate = os.write, os.fsync, os.ftruncate


def live(kind: str, folder: Path, reaper: Reaper | None) -> None:
    """One life: from the last checkpoint on, to the end."""
    manifest = folder / "manifest"
    last = int(manifest.read_text()) if manifest.exists() else None
    if reaper is not None:
        reaper.install()
    sink = begun(SINKS[kind](folder))
    sink.resume(last)
    for epoch in range((last or 0) + 1, EPOCHS + 1):
        first = (epoch - 1) * EPOCH_ROWS
        for start in range(first, first + EPOCH_ROWS, 4):
            sink.consume(rows_between(start, min(start + 4, first + EPOCH_ROWS)))
        sink.cut(epoch)
        write_whole(manifest, str(epoch).encode())
        sink.complete(epoch)
        if epoch % 2:
            sink.complete(epoch)
    sink.finish()
    sink.close()


def killed_at(kind: str, folder: Path, nth: int, seed: int) -> bool:
    """Live until the nth step; whether that came."""
    child = os.fork()
    if child == 0:
        try:
            live(kind, folder, Reaper(nth, seed, folder))
        except BaseException as error:
            print(f"{kind}, step {nth}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(1)
    return os.WIFSIGNALED(status)


def plant(name: str) -> None:
    """Make a mistake that must be found."""
    if name == "applies twice":
        resumed = TransactionalSink._apply_cut
        TransactionalSink._apply_cut = lambda self, part, stage, number, applied: resumed(  # type: ignore
            self, part, stage, number, None
        )
    elif name == "keeps what no checkpoint covers":
        Stage.drop_open = lambda self: 0  # type: ignore
    elif name == "drops what is staged":
        Stage.cuts = property(lambda self: [])  # type: ignore
        TransactionalSink.complete = lambda self, id: None  # type: ignore
    elif name == "forgets the journal":
        FileSink._note = lambda self, numbers: None  # type: ignore
    elif name:
        raise SystemExit(f"unknown mistake {name!r}")


def main(kind: str, folder: str, every: str = "1", planted: str = "") -> None:
    """Kill at every n-th step, and then again at random ones; print how many kills there were."""
    seed = int(os.environ.get("KILL_SEED", "1"))
    print(f"KILL_SEED={seed}")
    expected_folder = Path(folder, "undisturbed")
    expected_folder.mkdir()
    live(kind, expected_folder, None)
    expected = held(expected_folder, kind)
    plant(planted)
    chance, nth, kills = random.Random(seed), 1, 0
    while True:
        target = Path(folder, f"killed{nth}")
        target.mkdir()
        if not killed_at(kind, target, nth, seed):
            break
        kills += 1
        while killed_at(kind, target, chance.randrange(1, 120), nth):  # and again, and again
            kills += 1
        found = held(target, kind)
        if found != expected:
            raise SystemExit(f"{kind}, killed at step {nth}: {found!r:.600} instead of {expected!r:.600}")
        shutil.rmtree(target)
        nth += int(every)
    print(f"{kills} kills")


if __name__ == "__main__":
    main(*sys.argv[1:])
