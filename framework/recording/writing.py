"""Writing a recording: each task writes its part, and the coordinator makes one file of all parts."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from framework.model.errors import RecordingError, recording_error
from framework.planning import Plan, TaskSpec
from framework.recording.header import Header, PartSummary, RecordedTask, header_of, to_json
from framework.recording.parts import (
    HEADER,
    Batch,
    is_ordered,
    last_packed,
    packed,
    part_name,
    summary_name,
    write_batches,
    write_ticks,
)
from framework.recording.timeline import SCALE_CHANGES, Tick, TickKind
from viper.jumbo import Emission
from viper.position import LEAST, Position

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
            """The folder in which every `TaskRecorder` writes, in whichever process it is."""
            self._write_header(self._header)

    def finish(self, reason: str, *, complete: bool = True) -> Header:
        """Put the parts together; every recorder has been closed, or will not write any more.

        Args:
            reason: why the run ended, as in its report, or what failed.
            complete: whether it came to its end.

        Returns:
            The header of the recording.

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
            fields = json.loads((self.folder / summary_name(task.id)).read_bytes())
        except (FileNotFoundError, ValueError):  # its process died, perhaps while it wrote this
            return task
        return replace(task, part=PartSummary(**fields))

    def _put_together(self) -> Path:
        whole = self.folder / "whole.zip"
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL) as archive:
            archive.write(self.folder / HEADER, HEADER)
            names = [SCALE_CHANGES, *(part_name(task.id) for task in self._header.tasks)]
            for part in map(self.folder.joinpath, names):
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


CHUNK_BYTES = 256 * 1024
"""The bytes that are gathered before they are written."""


class Recorder(Protocol):
    """Is shown what one task does; `TaskRecorder` says what the arguments are."""

    def record(self, emission: Emission) -> None:
        """Record rows that the task emitted."""

    def record_tick(self, at: Position, *, after: Position = LEAST, kind: TickKind = TickKind.TICK) -> None:
        """Record something that was due by the wall clock."""

    def close(self) -> None:
        """Write the rest, as the task has been closed."""


class TaskRecorder:
    """Writes one task's part, in the process that runs the task; not for use by several threads.

    Args:
        folder: `RecordingWriter.folder`.
        task: whose part it is.

    Raises:
        RecordingError: the part cannot be written; also from the methods.
    """

    def __init__(self, folder: Path, task: TaskSpec) -> None:
        self._task = task
        self._summary_path = folder / summary_name(task.id)
        self._batches: list[Batch] = []
        self._ticks: list[Tick] = []
        self._waiting = 0
        """Bytes of the batches that have not been written."""
        self._tuples = 0
        self._tick_count = 0
        self._ordered = True
        self._last = LEAST
        with self._writing():
            # Not over the part of another recorder: what a task writes after it was restarted is no sequel.
            self._file = (folder / part_name(task.id)).open("xb")

    def record(self, emission: Emission) -> None:
        """Record what the task emitted, before anybody who receives it can change its values."""
        rows, tags, positions = emission.payload.rows, emission.tags, emission.positions
        if not rows:
            return
        if len(rows) != len(positions):
            raise RecordingError(f"{self._name}: {len(positions)} positions for {len(rows)} rows")
        batch = Batch(packed(positions), tags, self._pickled(rows))
        self._batches.append(batch)
        self._tuples += len(rows)
        self._waiting += len(batch.positions) + len(batch.rows)
        if self._waiting >= CHUNK_BYTES:
            self.flush()

    def record_tick(self, at: Position, *, after: Position = LEAST, kind: TickKind = TickKind.TICK) -> None:
        """Record something that was due by the wall clock.

        Args:
            at: where its outputs are placed: the frontier, or the last input where that is later.
            after: the input processed last.
            kind: what was due.
        """
        self._ticks.append(Tick(at, at == after, kind))
        self._tick_count += 1
        if len(self._ticks) * 64 >= CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what has been gathered."""
        with self._writing():
            if self._batches:
                self._watch_order()
                write_batches(self._file, self._batches)
            if self._ticks:
                write_ticks(self._file, self._ticks)
            self._file.flush()
        self._batches, self._ticks, self._waiting = [], [], 0

    def close(self) -> None:
        """Write what is left, and that this is all; a second call does nothing."""
        if self._file.closed:
            return
        with self._writing():
            try:
                self.flush()
            finally:
                self._file.close()
            summary = PartSummary(self._tuples, self._tick_count, self._ordered)
            self._summary_path.write_text(json.dumps(asdict(summary)), encoding="utf-8")

    @property
    def _name(self) -> str:
        return f"component {self._task.component!r}, task {self._task.id}"

    def _watch_order(self) -> None:
        positions = b"".join(batch.positions for batch in self._batches)
        self._ordered = self._ordered and is_ordered(positions, self._last)
        self._last = last_packed(positions)

    def _pickled(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        try:
            return pickle.dumps(list(rows), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise RecordingError(
                f"{self._name}: cannot record {_culprit(rows)!r:.300}: {error}; "
                "emit values that pickle can carry"
            ) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            folder = self._summary_path.parent
            message = f"{self._name}: cannot record to {folder}: {error.strerror or error}"
            raise recording_error(message, error) from error


def _culprit(rows: Sequence[tuple[Any, ...]]) -> object:
    """The first of some rows that cannot be pickled."""
    for row in rows:
        try:
            pickle.dumps(row, pickle.HIGHEST_PROTOCOL)
        except Exception:
            return row
    return rows
