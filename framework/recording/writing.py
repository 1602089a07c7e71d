"""The coordinator's share of recording: a folder for the tasks to write to, then one file of it all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from framework.errors import RecordingError, recording_error
from framework.planning import Plan
from framework.recording.header import Header, PartSummary, RecordedTask, header_of, to_json
from framework.recording.parts import HEADER, part_name, summary_name

_COMPRESSION_LEVEL = 1
"""Positions of neighbours are alike, so that the fastest level does most of what can be done."""


class RecordingWriter:
    """Makes one recording of one run.

    The folder lies beside the file, so that the file can be put there by a mere renaming. It holds
    the header and one part per task, and can itself be read as a recording, should this process
    be killed.

    Args:
        path: the file to make; what is there stays until the new one is complete.
        plan: what runs.

    Raises:
        RecordingError: it cannot be written there.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        self.path = Path(path)
        self._header = header_of(plan)
        if self.path.is_dir():
            raise RecordingError(f"cannot record to {self.path}: it is a folder, expected the name of a file")
        if self.path.exists() and not self.path.is_file():  # a device, a pipe: it would be replaced
            raise RecordingError(f"cannot record to {self.path}: it is no regular file")
        with self._writing():
            self.folder = Path(tempfile.mkdtemp(prefix=f"{self.path.name}.parts-", dir=self.path.parent))
            """Where every `TaskRecorder` writes, in whichever process it is."""
            self._write_header(self._header)

    def finish(self, reason: str, *, complete: bool = True) -> Header:
        """Put the parts together; every recorder has been closed, or will not write any more.

        Args:
            reason: why the run ended, as in its report, or what failed.
            complete: whether it came to its end.

        Returns:
            What the recording says about itself.

        Raises:
            RecordingError: the file cannot be written; the folder is kept then.
        """
        with self._writing(kept=True):
            tasks = tuple(map(self._summarized, self._header.tasks))
            whole = complete and all(task.part for task in tasks)
            header = replace(self._header, tasks=tasks, complete=whole, reason=reason)
            self._write_header(header)
            self._put_together().replace(self.path)
            shutil.rmtree(self.folder)
        return header

    def discard(self) -> None:
        """Keep nothing."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write_header(self, header: Header) -> None:
        (self.folder / HEADER).write_text(to_json(header), encoding="utf-8")

    def _summarized(self, task: RecordedTask) -> RecordedTask:
        try:
            said = json.loads((self.folder / summary_name(task.id)).read_bytes())
        except (FileNotFoundError, ValueError):  # its process died, perhaps while it wrote this
            return task
        return replace(task, part=PartSummary(**said))

    def _put_together(self) -> Path:
        whole = self.folder / "whole.zip"
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL) as archive:
            archive.write(self.folder / HEADER, HEADER)
            for task in self._header.tasks:
                part = self.folder / part_name(task.id)
                if part.exists():
                    archive.write(part, part.name)
        return whole

    @contextmanager
    def _writing(self, kept: bool = False) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            hint = f"; what was recorded so far is in {self.folder}, and can be read there" if kept else ""
            message = f"cannot record to {self.path}: {error.strerror or error}{hint}"
            raise recording_error(message, error) from error
