"""Recordings to read: tuples in the order of their positions, in constant memory."""

from __future__ import annotations

import heapq
import os
import pickle
from array import array
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from framework.model.errors import RecordingError
from framework.model.topology import Stream, unknown
from framework.recording.header import RecordedComponent, RecordedTask, from_json
from framework.recording.parts import (
    HEADER,
    SIZE,
    Batch,
    Members,
    last_packed,
    part_name,
    read_batches,
    read_ticks,
    unpacked,
)
from framework.recording.timeline import SCALE_CHANGES, ScaleChange, Tick, changes_in
from viper.position import LEAST, Position

_position = itemgetter(0)


class Recorded(NamedTuple):
    """A tuple that a task emitted."""

    position: Position
    task: int
    """Id of the task."""
    tag: int
    """Index of its stream among the component's."""
    values: tuple[Any, ...]


class Recording:
    """A recorded run. Reading values runs code that the file chooses: trust it like a program.

    Args:
        path: a file, or the folder that a run which was killed left behind.

    Raises:
        RecordingError: it is no recording, or is damaged; also while it is read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._members = Members(path)
        self.path = self._members.path
        try:
            self.header = from_json(self._members.read(HEADER), str(self.path))
        except BaseException:
            self._members.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._members.close()

    def streams_of(self, component: str) -> tuple[Stream, ...]:
        """The streams that a component declares, by tag."""
        return self._component(component).streams

    def tuples(
        self, component: str, stream: str | None = None, *, since: Position = LEAST
    ) -> Iterator[Recorded]:
        """The tuples of all tasks of a component by position; equal positions by task, then as emitted.

        Args:
            component: its id.
            stream: only this one.
            since: leave out what lies before.
        """
        parts = [self._part(task, since) for task in self._tasks(component)]
        merged = heapq.merge(*parts, key=_position)
        if stream is None:
            return merged
        tag = self._tag(component, stream)
        return (recorded for recorded in merged if recorded.tag == tag)

    def input_of(self, spout: str, partitions: Sequence[int]) -> Iterator[Recorded]:
        """The tuples of some source partitions of a spout, by position."""
        tasks = [task for task in self._tasks(spout) if task.index in partitions]
        return heapq.merge(*(self._part(task, LEAST) for task in tasks), key=_position)

    def at(self, component: str, position: Position) -> Iterator[Recorded]:
        """The tuples of a component at a position; one, unless its path had no room left."""
        for recorded in self.tuples(component, since=position):
            if recorded.position > position:
                return
            yield recorded

    def ticks(self, component: str, index: int) -> Iterator[Tick]:
        """The wall-clock ticks of one of a component's tasks."""
        task = self._tasks(component)[index]
        if not self._members.has(part_name(task.id)):
            return
        with self._members.opened(part_name(task.id)) as file:
            yield from read_ticks(file)

    def scale_changes(self) -> list[ScaleChange]:
        """The changes of numbers of tasks in the run, in their order."""
        if not self._members.has(SCALE_CHANGES):
            return []
        return changes_in(self._members.read(SCALE_CHANGES), str(self.path))

    def _component(self, component: str) -> RecordedComponent:
        found = self.header.component(component)
        if found is None:
            names = [known.id for known in self.header.components]
            raise RecordingError(f"{self.path}: {unknown('component', component, names)}")
        return found

    def _tasks(self, component: str) -> tuple[RecordedTask, ...]:
        return self.header.tasks_of(self._component(component).id)

    def _tag(self, component: str, stream: str) -> int:
        names = [known.name for known in self.streams_of(component)]
        if stream not in names:
            what = f"stream of {component!r}"
            raise RecordingError(f"{self.path}: {unknown(what, stream, names)}")
        return names.index(stream)

    # -- one task's part

    def _part(self, task: RecordedTask, since: Position) -> Iterator[Recorded]:
        found = self._read(task, since)
        if task.part is None or task.part.ordered:
            return found
        # Never seen but where a cycle brings tuples back; such a part has to fit into memory.
        return iter(sorted(found, key=_position))

    def _read(self, task: RecordedTask, since: Position) -> Iterator[Recorded]:
        """A task's tuples as they were written, but for what lies before a position."""
        count = 0
        ordered = task.part is None or task.part.ordered
        if self._members.has(part_name(task.id)):
            with self._members.opened(part_name(task.id)) as file:
                for batch in read_batches(file):
                    count += len(batch.positions) // SIZE
                    if ordered and last_packed(batch.positions) < since:
                        continue  # without a look at the rows
                    yield from self._of_batch(task, batch, since)
        if task.part is not None and count != task.part.tuples:
            raise RecordingError(
                f"{self.path} is damaged: found {count:,} tuples of component {task.component!r}, "
                f"task {task.id}, expected {task.part.tuples:,}"
            )

    def _of_batch(self, task: RecordedTask, batch: Batch, since: Position) -> Iterator[Recorded]:
        rows = self._rows(task, batch)
        tags: Sequence[int] = [0] * len(rows) if batch.tags is None else array("H", batch.tags)
        for position, tag, values in zip(unpacked(batch.positions), tags, rows, strict=True):
            if position >= since:
                yield Recorded(position, task.id, tag, values)

    def _rows(self, task: RecordedTask, batch: Batch) -> list[tuple[Any, ...]]:
        try:
            rows: list[tuple[Any, ...]] = pickle.loads(batch.rows)
        except Exception as error:
            raise RecordingError(
                f"{self.path}: cannot read what component {task.component!r} emitted: "
                f"{type(error).__name__}: {error}; the classes of its values must be importable as they were "
                f"in the run, from {', '.join(self.header.import_paths) or 'the installed packages'}"
            ) from error
        return rows


def time_of(recording: Path | None) -> Mapping[str, Any]:
    """The configuration of the time of a recording, which is that of a run that replays it; empty for None.

    Raises:
        RecordingError: it is no recording, or is damaged.
    """
    if recording is None:
        return {}
    with Recording(recording) as read:
        return {"viper.time": str(read.header.time)}
