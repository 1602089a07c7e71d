"""Every error that the framework raises on purpose.

ViperError
├── TopologyError (ValueError)     a topology that must not start; carries all its problems
├── ConfigError (ValueError)       a configuration file, variable or option that cannot be used
├── LoadError (ValueError)         a target that names no topology
├── ProfileError (ValueError)      a file of costs that cannot be used; carries all its problems
├── RecordingError (ValueError)    a recording that cannot be written, read or replayed
├── PlaceError (ValueError)        a report of a run that another run cannot resume from
│   └── CheckpointError            a checkpoint that cannot be read, or resumed from
├── SourceError (ValueError)       files that a source cannot read, or rows in them that it refuses
├── SinkError (RuntimeError)       a sink that cannot write, or must not write where it should
│   ├── TransientError             its target is away for a moment: the runtime tries again
│   └── RefusedRowError            its target refuses a row
├── EmitError (ValueError)         an emit that the stream it goes to does not allow
├── StateError (RuntimeError)      declared state that is used where none is declared, or that cannot be kept
├── AnswerError (ValueError)       a second ack or fail of a tuple, where that is an error
├── ComponentError (RuntimeError)  user code raised while a topology ran
├── ProgramError (RuntimeError)    a program that cannot be started or does not speak the protocol
├── WorkerError (RuntimeError)     a worker process that could not start, or ended before its time
├── ScaleError (ValueError)        a component that cannot have that many tasks during the run
├── SuspendError (RuntimeError)    a run that was to be suspended, but continues or has ended otherwise
│   └── RunNotFoundError           a command to a run that does not exist
└── InternalError (RuntimeError)   a bug of ours, never the user's mistake
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from framework.model.topology.problems import Problem

AnyError = TypeVar("AnyError", bound=BaseException)


class ViperError(Exception):
    """Root of all errors that the framework raises on purpose."""


class TopologyError(ViperError, ValueError):
    """A topology that was refused before anything started.

    Attributes:
        problems: every problem that was found, sorted by place; never empty.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = tuple(sorted(problems, key=lambda p: p.sort_key))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ConfigError(ViperError, ValueError):
    """A configuration file, environment variable or option that cannot be used."""


class LoadError(ViperError, ValueError):
    """A target (file or module) that names no topology."""


class ProfileError(ViperError, ValueError):
    """A file of costs that cannot be used.

    Attributes:
        problems: every problem that was found, sorted by place; never empty.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = tuple(sorted(problems, key=lambda p: p.sort_key))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class RecordingError(ViperError, ValueError):
    """A recording that cannot be written, cannot be read, or is of another topology."""


class NoRoomError(RecordingError):
    """A recording for which there is no room left: on the disk, within a quota, or in a file."""


class PlaceError(ViperError, ValueError):
    """A report of a run that another run cannot resume from."""


class CheckpointError(PlaceError):
    """A checkpoint that cannot be read, cannot be made of a topology, or that a run cannot resume from."""


class SourceError(ViperError, ValueError):
    """Files that a source cannot read, or a row in one that it refuses."""


class SinkError(ViperError, RuntimeError):
    """A sink that cannot write, or that must not write where it should."""


class TransientError(SinkError):
    """A target that is away for a moment: it restarts, or the network is gone. The runtime tries again."""


class RefusedRowError(SinkError):
    """A row that the target of a sink refuses.

    Attributes:
        row: its values.
    """

    def __init__(self, message: str, row: tuple[object, ...]) -> None:
        super().__init__(message, row)
        self.row = row

    def __str__(self) -> str:
        return str(self.args[0])


class EmitError(ViperError, ValueError):
    """An emit that its stream does not allow: unknown stream, wrong arity, wrong kind of stream."""


class StateError(ViperError, RuntimeError):
    """Declared state that is used where there is none, that was overwritten, or that cannot be kept."""


class AnswerError(ViperError, ValueError):
    """An ack, a fail or an anchor for a tuple that was answered before, where answers are strict."""


class ComponentError(ViperError, RuntimeError):
    """User code raised while a topology ran.

    Attributes:
        component: id of the component.
        task: id of the task, 1 upwards.
        during: the callback that raised, e.g. ``"process"`` or ``"initialize"``.
    """

    def __init__(self, component: str, task: int, during: str, detail: str) -> None:
        self.component = component
        self.task = task
        self.during = during
        self._detail = detail
        super().__init__(f"component {component!r}, task {task}, in {during}: {detail}")

    def __reduce__(self) -> tuple[type[ComponentError], tuple[str, int, str, str]]:
        return type(self), (self.component, self.task, self.during, self._detail)


class ProgramError(ViperError, RuntimeError):
    """A program that cannot be started, has ended too early, or does not follow the multilang protocol."""


class WorkerError(ViperError, RuntimeError):
    """A worker process that could not start, or ended before its time."""


class SuspendError(ViperError, RuntimeError):
    """A run that was to be suspended and continues, or that has ended without its checkpoint."""


class RunNotFoundError(SuspendError):
    """No run in progress is found by a folder, or it ends without an answer to a command."""


class ScaleError(ViperError, ValueError):
    """A number of tasks that a component of a run cannot have; the run continues as it was."""


class InternalError(ViperError, RuntimeError):
    """Something that cannot happen did: please report it with its traceback."""


def has_no_room(error: BaseException | None) -> bool:
    """True if an error says that a disk is full, a quota is used up, or a file may not become longer."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def recording_error(message: str, error: OSError) -> RecordingError:
    """Return the error of a recording for an error of the system.

    Args:
        message: the operation that failed.
        error: the reason.
    """
    return (NoRoomError if has_no_room(error) else RecordingError)(message)


def first_of(failures: Sequence[ViperError]) -> ViperError:
    """The first of several errors, to be raised, with a note for each of the others."""
    first, *others = failures
    return with_notes(first, others)


def with_notes(error: AnyError, others: Iterable[ViperError]) -> AnyError:
    """An error with a note of one line for each of some others that it has led to, or that came after it."""
    for other in others:
        error.add_note(f"and then: {str(other).splitlines()[0]}")
    return error
