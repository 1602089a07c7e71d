"""The messages that a parent and its worker processes exchange, over one pipe for each worker.

Errors and log records are changed into a form that pickle can carry, and are as they were on the other side.
"""

from __future__ import annotations

import copy
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from logging.handlers import QueueHandler

from framework.model.errors import ComponentError, LoadError, ViperError, WorkerError
from framework.model.tracebacks import RemoteTraceback, of_user_code
from framework.operators.log import Counting, Limits, key_of
from framework.operators.log.forms import error_name, traceback_text
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints.states import SavedTasks, TaskReport
from framework.runtime.observation.stacks import Stacks
from framework.runtime.observation.statistics import WorkerReport
from viper.arena import ArenaHandle

# -- to a worker


@dataclass(frozen=True, slots=True)
class Handles:
    """The memory that a worker process shares with its parent; handed over when the process is started."""

    network: ArenaHandle
    state: ArenaHandle | None
    """None where no component declares state."""


@dataclass(frozen=True, slots=True)
class Begin:
    """All workers are ready: run."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Drain."""

    reason: StopReason


@dataclass(frozen=True, slots=True)
class SetActive:
    """Have the spouts asked for tuples, or not."""

    active: bool


@dataclass(frozen=True, slots=True)
class Abort:
    """Something has failed elsewhere: stop without draining."""


@dataclass(frozen=True, slots=True)
class Dump:
    """Log where all tasks are that are in a callback."""


@dataclass(frozen=True, slots=True)
class TellStacks:
    """Report the stacks of all tasks."""


@dataclass(frozen=True, slots=True)
class Close:
    """All workers have run: close the components, report, and end."""

    written: int | None = None
    """The id of the checkpoint that was written meanwhile; None for none."""
    is_complete: bool = False
    """True if the run has come to its end, and all input of its tasks was processed."""


@dataclass(frozen=True, slots=True)
class TakePlace:
    """To a process that stands by: a worker process has died, run its share."""

    process: int
    """Index of the worker in the plan's placement."""
    attempt: int
    """The number of times that its process was restarted, with this one."""
    has_run: bool
    """True if a process before it was asked to run its tasks."""
    levels: Mapping[str, int]
    """Of the loggers, by name, as they are now."""
    environment: Mapping[str, str]
    """As it is now."""


ToWorker = Begin | SetActive | Stop | Abort | Dump | TellStacks | Close | TakePlace

# -- from a worker


@dataclass(frozen=True, slots=True)
class Ready:
    """All components have been initialized."""

    files: frozenset[str] = frozenset()
    """The files that the process had open before any was made, as of `open_files`."""


@dataclass(frozen=True, slots=True)
class StandsBy:
    """A process that stands by has made its imports, and waits for a place to take."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A component, or the worker itself, has logged something."""

    record: logging.LogRecord


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker cannot continue; it still closes its components when it is asked to."""

    error: ViperError
    traceback: str
    """Of what user code raised; empty if it did not."""
    kind: str = ""
    """The name of the type of what user code raised; empty if it did not."""

    @classmethod
    def of(cls, error: BaseException) -> Failed:
        """An error, with the traceback of what user code raised as text."""
        cause = error.__cause__ if isinstance(error, ComponentError) else error
        text = "".join(of_user_code(cause))
        if isinstance(error, ComponentError | LoadError):
            return cls(error, text, "" if cause is None else type(cause).__name__)
        if isinstance(error, ViperError):
            return cls(error, "")
        name = type(error).__name__
        return cls(WorkerError(f"worker process {os.getpid()} failed: {name}: {error}"), text, name)

    def raised(self) -> ViperError:
        """The error, to be raised in the parent, with a cause that has the traceback."""
        if self.kind:
            self.error.__cause__ = RemoteTraceback(self.traceback, self.kind)
        return self.error


@dataclass(frozen=True, slots=True)
class Ran:
    """All tasks of the worker have ended."""

    saved: SavedTasks | None = None
    """The states that they have saved, where checkpoints are made and all that came to them was processed."""
    drained: bool = True
    """True if all input of these tasks was processed."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The worker's components are closed, and it ends."""

    report: WorkerReport
    failures: Sequence[Failed]


@dataclass(frozen=True, slots=True)
class Reported:
    """A task has come to the time of a checkpoint, or to its end."""

    report: TaskReport


@dataclass(frozen=True, slots=True)
class Wanted:
    """A task asks for a checkpoint before its time."""


@dataclass(frozen=True, slots=True)
class StacksTold:
    """The stacks of all tasks of the worker."""

    stacks: Stacks


FromWorker = Ready | StandsBy | Logged | Failed | Ran | Closed | Reported | Wanted | StacksTold

# -- log records


class Forwarding(QueueHandler):
    """Sends every record away, with its message and traceback as text, so that it can be carried."""

    def __init__(self, send: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self._send = send

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """A record that can be carried, with what could not be found out from it on the other side."""
        carried = copy.copy(record)
        carried.viper_key, carried.viper_error = key_of(record), error_name(record)
        carried.msg = carried.message = record.getMessage()
        carried.exc_text = traceback_text(record)
        carried.args = carried.exc_info = None
        return carried

    def enqueue(self, record: logging.LogRecord) -> None:
        """Send a record that can be carried."""
        self._send(record)


def current_levels() -> Mapping[str, int]:
    """The levels of the root logger, named ``""``, and of all loggers that have one of their own."""
    loggers = logging.root.manager.loggerDict.items()
    named = {
        name: found.level for name, found in loggers if isinstance(found, logging.Logger) and found.level
    }
    return {**named, "": logging.root.level}


def forward_logs(
    levels: Mapping[str, int], limits: Limits | None, send: Callable[[logging.LogRecord], None]
) -> Callable[[], None]:
    """Send all records that are logged in this process from now on to another one.

    Args:
        levels: as the parent has them.
        limits: the limits from which on repeated records are counted instead. They are counted in this
            process, so that a flood of errors does not fill the pipe.
        send: takes each record.

    Returns:
        A function to call at the end, which sends the records that have only been counted until then.
    """
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    forwarding = Forwarding(send)
    if limits is None:
        logging.getLogger().handlers[:] = [forwarding]
        return lambda: None
    counting = Counting(forwarding, limits)
    logging.getLogger().handlers[:] = [counting]
    return counting.finish


def log_here(record: logging.LogRecord) -> None:
    """Log a record of another process as if it came from this one."""
    logger = logging.getLogger(record.name)
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)
