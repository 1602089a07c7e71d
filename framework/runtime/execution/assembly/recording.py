"""Recording and replaying within a run: where tasks record their output, and what they replay as input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from framework.planning import Plan, TaskSpec
from framework.recording import (
    RecordedInput,
    Recorder,
    Recording,
    RecordingError,
    RecordingWriter,
    ReplaySource,
    ReplayTicks,
    ScaleChange,
    TaskRecorder,
    check_replayable,
    replay_ticks,
)


@dataclass(frozen=True, slots=True)
class RecordingPaths:
    """The files that a run records to and replays; every process of the run gets this value."""

    folder: Path | None = None
    """The folder that the tasks record to; None if nothing is recorded."""
    replayed: Path | None = None
    """The recording that is replayed; None if the spouts are asked for tuples."""
    scale_changes: Sequence[ScaleChange] | None = None
    """The changes of numbers of tasks in the run that is replayed; None without one."""

    def absolute(self) -> RecordingPaths:
        """The same files, wherever they are opened."""
        folder, replayed = (path and path.absolute() for path in (self.folder, self.replayed))
        return replace(self, folder=folder, replayed=replayed)


NO_RECORDING = RecordingPaths()
"""A run with these paths neither records nor replays."""


class RecordingIO:
    """Opens recorders and recorded input for the tasks of one process.

    Args:
        paths: the files of the run.
        plan: what is run.
    """

    def __init__(self, paths: RecordingPaths, plan: Plan) -> None:
        self._paths = paths
        self._plan = plan
        self._opened: list[Recording] = []

    @property
    def records(self) -> bool:
        """True if everything that is emitted is recorded."""
        return self._paths.folder is not None

    @property
    def replays(self) -> bool:
        """True if the input is a recording."""
        return self._paths.replayed is not None

    def recorder(self, task: TaskSpec) -> Recorder | None:
        """The recorder of a task's output; None if nothing is recorded."""
        return None if self._paths.folder is None else TaskRecorder(self._paths.folder, task)

    def source(self, task: TaskSpec) -> RecordedInput:
        """The recorded tuples that a spout's task emits instead of its component's."""
        return ReplaySource(self._recording(), task.component, task.index, self._tasks(task))

    def ticks(self, task: TaskSpec) -> ReplayTicks | None:
        """The recorded ticks of the wall clock for a bolt's task; None if this run goes by the clock."""
        if not self.replays:
            return None
        return replay_ticks(self._recording(), task.component, task.index, self._tasks(task))

    def close(self) -> None:
        """Close all recordings that were opened."""
        for recording in self._opened:
            recording.close()

    def _tasks(self, task: TaskSpec) -> int:
        return len(self._plan.tasks_of(task.component))

    def _recording(self) -> Recording:
        # Each task opens a recording of its own, because tasks may run in several threads.
        assert self._paths.replayed is not None
        self._opened.append(Recording(self._paths.replayed))
        return self._opened[-1]


@contextmanager
def recording_paths(plan: Plan, record: Path | None, replay: Path | None) -> Iterator[RecordingPaths]:
    """Give the block the paths of a run; when the block ends, the recording is put together.

    A run that fails leaves a recording of what was emitted until then.

    Args:
        plan: what is run.
        record: the file to record to, if any.
        replay: the recording to replay, if any.

    Raises:
        RecordingError: the recording cannot be replayed into this plan, or nothing can be written there.
    """
    changes = None if replay is None else _checked(replay, plan)
    if record is None:
        yield RecordingPaths(None, replay, changes)
        return
    writer = RecordingWriter(record, plan)
    try:
        yield RecordingPaths(writer.folder, replay, changes)
    except BaseException as error:
        writer.finish(f"{type(error).__name__}: {error}", complete=False)
        raise
    writer.finish("ended")


def _checked(path: Path, plan: Plan) -> Sequence[ScaleChange]:
    """The changes of numbers of tasks in a recording that fits a plan."""
    with Recording(path) as recording:
        check_replayable(recording, plan)
        changes = recording.scale_changes()
    direct = [s.id for s in plan.topology.spouts if any(stream.direct for stream in s.outputs or ())]
    if direct:
        raise RecordingError(
            f"{path} cannot be replayed: spout {direct[0]!r} names the receiving tasks of its tuples, "
            "which are not recorded: expected no direct streams"
        )
    return changes
