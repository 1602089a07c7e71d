"""Where the members of a recording stand: in one zip file, or in the folder of a run that goes on."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from framework.errors import RecordingError

HEADER = "header.json"
"""The member that comes first, and that every recording has."""
BUFFER_BYTES = 64 * 1024


def part_name(task_id: int) -> str:
    """The member with what a task recorded."""
    return f"task-{task_id}.pickles"


def summary_name(task_id: int) -> str:
    """The file with a part's summary, beside it until the recording is put together."""
    return f"task-{task_id}.json"


class Members:
    """The members of a recording, to be read; close it in the end.

    Args:
        path: a recording, or the folder that a run which was killed left behind.

    Raises:
        RecordingError: it is neither; also where a member turns out to be damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._zip: zipfile.ZipFile | None = None
        self._open: set[ExitStack] = set()
        """What is being read; a reader may be left in the middle, and is then nobody's to close."""
        with self._understood():
            if not self.path.is_dir():
                self._zip = zipfile.ZipFile(self.path)
        if not self.has(HEADER):
            self.close()
            raise RecordingError(f"{self.path} is no recording: there is no {HEADER} in it")

    def has(self, name: str) -> bool:
        """Whether there is a member of that name."""
        return name in self._zip.namelist() if self._zip else (self.path / name).is_file()

    def read(self, name: str) -> bytes:
        """All of a small member."""
        with self.opened(name) as file:
            return file.read()

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A member, to be read from its beginning; several may be open at a time."""
        with self._understood(), ExitStack() as stack:
            self._open.add(stack)
            stack.callback(self._open.discard, stack)
            if self._zip is None:
                yield stack.enter_context((self.path / name).open("rb", BUFFER_BYTES))
                return
            member = stack.enter_context(self._zip.open(name))
            # Many small reads of a compressed member are slow.
            yield io.BufferedReader(member, BUFFER_BYTES)  # type: ignore[type-var]

    def close(self) -> None:
        """Close the file, and all members that are still open."""
        for stack in tuple(self._open):
            stack.close()
        if self._zip:
            self._zip.close()

    @contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecordingError(f"cannot read {self.path}: {error.strerror or error}") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, pickle.UnpicklingError) as error:
            raise RecordingError(
                f"{self.path} is no recording, or a damaged one: {error or type(error).__name__}"
            ) from error
