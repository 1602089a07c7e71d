"""What a run records, and what it replays instead of asking its spouts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from framework.planning import Plan, TaskSpec
from framework.recording import (
    Brought,
    Recorder,
    Recording,
    RecordingError,
    RecordingWriter,
    ReplaySource,
    ReplayTicks,
    TaskRecorder,
    check_replayable,
    replay_ticks,
)


@dataclass(frozen=True, slots=True)
class Tape:
    """A value that every process of a run gets."""

    folder: Path | None = None
    """Where the tasks record to; None if nothing is recorded."""
    replayed: Path | None = None
    """The recording that is replayed; None if the spouts are asked."""


NO_TAPE = Tape()
"""Neither records nor replays."""


class Deck:
    """A tape as one process plays and records it; each task writes and reads what is its own."""

    def __init__(self, tape: Tape, plan: Plan) -> None:
        self._tape = tape
        self._plan = plan
        self._opened: list[Recording] = []

    @property
    def records(self) -> bool:
        """Whether everything that is emitted is recorded."""
        return self._tape.folder is not None

    @property
    def replays(self) -> bool:
        """Whether the input is a recording."""
        return self._tape.replayed is not None

    def recorder(self, task: TaskSpec) -> Recorder | None:
        """What a task's output is recorded with, if it is."""
        return None if self._tape.folder is None else TaskRecorder(self._tape.folder, task)

    def source(self, task: TaskSpec) -> Brought:
        """What a spout's task replays."""
        return ReplaySource(self._recording(), task.component, task.index, self._tasks(task))

    def ticks(self, task: TaskSpec) -> ReplayTicks | None:
        """What a bolt's task replays of what was due by the wall clock; None if it is due by it now."""
        if not self.replays:
            return None
        return replay_ticks(self._recording(), task.component, task.index, self._tasks(task))

    def close(self) -> None:
        """Close what was opened."""
        for recording in self._opened:
            recording.close()

    def _tasks(self, task: TaskSpec) -> int:
        return len(self._plan.tasks_of(task.component))

    def _recording(self) -> Recording:
        # One for each task, as tasks may be on several threads.
        assert self._tape.replayed is not None
        self._opened.append(Recording(self._tape.replayed))
        return self._opened[-1]


@contextmanager
def taped(plan: Plan, record: Path | None, replay: Path | None) -> Iterator[Tape]:
    """The tape of a run; when the block ends, the recording is put together.

    A run that fails leaves a recording of what there was until then.

    Args:
        plan: what is run.
        record: the file to record to, if any.
        replay: the recording to replay, if any.

    Raises:
        RecordingError: the recording cannot be replayed into this plan, or nothing can be written there.
    """
    if replay is not None:
        _check(replay, plan)
    if record is None:
        yield Tape(None, replay)
        return
    writer = RecordingWriter(record, plan)
    try:
        yield Tape(writer.folder, replay)
    except BaseException as error:
        writer.finish(f"{type(error).__name__}: {error}", complete=False)
        raise
    writer.finish("ended")


def _check(path: Path, plan: Plan) -> None:
    with Recording(path) as recording:
        check_replayable(recording, plan)
    direct = [s.id for s in plan.topology.spouts if any(stream.direct for stream in s.outputs or ())]
    if direct:
        raise RecordingError(
            f"{path} cannot be replayed: spout {direct[0]!r} names the receiving tasks of its tuples, "
            "which are not recorded: expected no direct streams"
        )
