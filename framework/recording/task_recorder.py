"""What one running task writes down of itself."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from framework.errors import RecordingError, recording_error
from framework.planning import Task
from framework.recording.chunks import Batch, write_batches, write_ticks
from framework.recording.header import PartSummary
from framework.recording.packing import is_ordered, last_packed, packed
from framework.recording.parts import part_name, summary_name
from framework.recording.ticks import Tick, TickKind
from viper.position import LEAST, Position, Positions

CHUNK_BYTES = 256 * 1024
"""How much is gathered before it is written."""


class Recorder(Protocol):
    """Is shown what one task does; `TaskRecorder` says what the arguments are."""

    def record(self, rows: Sequence[tuple[Any, ...]], tags: bytes | None, positions: Positions) -> None:
        """What the task emitted."""

    def record_tick(self, at: Position, *, after: Position = LEAST, kind: TickKind = TickKind.TICK) -> None:
        """Something that was due by the wall clock."""

    def close(self) -> None:
        """The task has been closed."""


class TaskRecorder:
    """Writes one task's part, in the process that runs the task; not for use by several threads.

    Args:
        folder: `RecordingWriter.folder`.
        task: whose part it is.

    Raises:
        RecordingError: the part cannot be written; also from the methods.
    """

    def __init__(self, folder: Path, task: Task) -> None:
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

    def record(self, rows: Sequence[tuple[Any, ...]], tags: bytes | None, positions: Positions) -> None:
        """Record what the task emitted, before anybody who receives it can change its values.

        Args:
            rows: in the order of their emission.
            tags: for each row the index of its stream, as native uint16; None for a single stream.
            positions: one per row.
        """
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
