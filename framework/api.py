"""Running a topology from a Python program: `run`, which ``framework`` exports.

Everything that a run needs is imported when the first one begins, so that a module which only defines
components loads quickly.
"""

from __future__ import annotations

import ast
import linecache
import logging
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from numbers import Integral, Real
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from framework.model.config import Settings
    from framework.model.topology import Problem, Topology
    from framework.planning import Plan
    from framework.runtime import Progress, RunReport, StopSignal

_log = logging.getLogger("viperstorm.run")


def run(
    topology: object,
    *,
    conf: Mapping[str, Any] | None = None,
    worker: str | None = None,
    workers: int | Literal["auto"] | None = None,
    duration_s: float | None = None,
    max_tuples: int | None = None,
    seed: int | None = None,
    environment: str | None = None,
    record: str | os.PathLike[str] | None = None,
    replay: str | os.PathLike[str] | None = None,
    start: str | os.PathLike[str] | None = None,
    checkpoints: str | os.PathLike[str] | None = None,
    control: str | os.PathLike[str] | None = None,
    rename: Mapping[str, str] | None = None,
    resume: bool = False,
    stop: StopSignal | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunReport:
    """Run a topology until its spouts have ended, and return the report of the run.

    It is configured as by ``viper run``: ``viper.yaml`` in the current folder and environment variables
    count, and the arguments of this function override both. In the main thread, the first Ctrl-C (or SIGTERM)
    drains: the spouts stop, what is in flight is processed, and the report says ``interrupted``. In other
    threads no signal is seen; `stop` ends such a run.

    Args:
        topology: a topology class, ours or streamparse's; a `TopologyBuilder` or `StreamBuilder`; or a
            topology that was built. Also a function without arguments that returns one of these, or a target
            as on the command line, such as ``"topologies/wordcount.yaml"``.
        conf: configuration by key, above everything else but the following arguments.
        worker: ``"inline"``, ``"thread"`` or ``"process"`` (``viper.worker``).
        workers: how many workers share the tasks, or ``auto`` (``topology.workers``).
        duration_s: seconds after which the run drains; None for no limit.
        max_tuples: tuples after which the spouts stop; None for no limit.
        seed: runs the tasks in a random order, which this number determines.
        environment: chooses from a ``par`` that is given per environment.
        record: the file to record the run in.
        replay: a recording whose input stands in for the spouts.
        start: a checkpoint, or a folder of which it is the last, to resume from. Or the report of a stopped
            run (``viper run --report``), to resume where its spouts had stopped.
        checkpoints: the folder where `suspend` finds the run, and where it writes its checkpoint; None for
            that of `start`, if that is one.
        control: a folder where `scale` finds the run; that of `checkpoints` does as well. A run with such a
            folder is listed by ``viper ps``, which takes some milliseconds.
        rename: new names by old ones, where components (``"old": "new"``) or their states
            (``"component.old": "component.new"``) had other names when the checkpoint `start` was made.
        resume: with `checkpoints`, resume from the last checkpoint in that folder, or begin if there is none.
            If the last run there has come to the end of its input, nothing is run, and the report's reason is
            ``ended-before``. Whatever drains other runs (Ctrl-C, SIGTERM, `stop`, `duration_s`) suspends this
            one, so that the same call resumes it.
        stop: ends the run from another thread by ``stop.request(StopReason.INTERRUPTED)``.
        on_progress: called with the progress of the run about ten times a second, and once at its end.

    Raises:
        TypeError: arguments are of wrong types; the error names all of them.
        LoadError: `topology` is nothing that stands for a topology.
        TopologyError: the topology or its configuration is wrong; the error has all problems.
        ComponentError: user code raised; every other component has been closed.
        WorkerError: worker processes could not start, or died more often than they may be restarted.
        RecordingError: nothing can be recorded there, or the recording is of another topology.
        PlaceError: the run cannot resume from that report.
        CheckpointError: it cannot resume from that checkpoint, or no checkpoint can be made of this topology.
        SuspendError: it was suspended, but its checkpoint cannot be written.
        KeyboardInterrupt: a second Ctrl-C.
    """
    _refuse_in_worker()
    _refuse_wrong_types(
        {
            "conf": (conf, _MAPPING),
            "worker": (worker, _TEXT),
            "workers": (workers, _WORKERS),
            "duration_s": (duration_s, _SECONDS),
            "max_tuples": (max_tuples, _INTEGER),
            "seed": (seed, _INTEGER),
            "environment": (environment, _TEXT),
            **{
                name: (path, _PATH)
                for name, path in {
                    "record": record,
                    "replay": replay,
                    "start": start,
                    "checkpoints": checkpoints,
                    "control": control,
                }.items()
            },
            "rename": (rename, _NAMES),
            "stop": (stop, _STOP),
            "on_progress": (on_progress, _FUNCTION),
        },
        resume,
    )
    from framework.recording import time_of

    options = {
        **time_of(_path(replay)),
        **(conf or {}),
        **({} if worker is None else {"viper.worker": worker}),
        **({} if workers is None else {"topology.workers": workers}),
        **({} if seed is None else {"viper.scheduling": "random", "viper.seed": seed}),
    }
    plan, settings, warnings = _planned(topology, options, environment)
    _refuse_unguarded(plan, settings)
    from framework.runtime import Run, RunOptions

    with _logging_somewhere(), _listed(plan.topology.name, _path(control)):
        for warning in warnings:
            _log.warning("%s: %s", warning.place, warning.message)
        told = RunOptions(
            duration_s=duration_s,
            max_tuples=max_tuples,
            record=_path(record),
            replay=_path(replay),
            start=_path(start),
            checkpoints=_path(checkpoints),
            control=_path(control),
            rename=rename or {},
            resume=resume,
        )
        return Run(plan, settings, told, stop=stop, on_progress=on_progress).execute()


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)


def _is_stop(value: object) -> bool:
    from framework.runtime import StopSignal

    return isinstance(value, StopSignal)


def _are_texts(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair)


_Kind = tuple[str, Callable[[object], bool]]
"""The expected form of an argument that is not None, in words, and the test for it."""
_MAPPING: _Kind = ("a mapping of configuration by key", lambda value: isinstance(value, Mapping))
_TEXT: _Kind = ("a str", lambda value: isinstance(value, str))
_INTEGER: _Kind = ("an int", _is_integer)
_WORKERS: _Kind = ("an int or 'auto'", lambda value: _is_integer(value) or isinstance(value, str))
_SECONDS: _Kind = ("a number of seconds", _is_number)
_PATH: _Kind = ("a path, as a str or os.PathLike", lambda value: isinstance(value, str | os.PathLike))
_NAMES: _Kind = ("a mapping of new names by old ones", _are_texts)
_STOP: _Kind = ("a viperstorm.runtime.StopSignal", _is_stop)
_FUNCTION: _Kind = ("a function of the progress", callable)


def _refuse_wrong_types(given: Mapping[str, tuple[object, _Kind]], resume: object) -> None:
    """Refuse arguments of `run` before anything starts.

    Raises:
        TypeError: some are of wrong types; the error names all of them.
    """
    wrong = [
        f"{name}={value!r:.200}, a {type(value).__qualname__}: expected {expected}, or None"
        for name, (value, (expected, is_right)) in given.items()
        if value is not None and not is_right(value)
    ]
    if not isinstance(resume, bool):
        wrong.append(f"resume={resume!r:.200}, a {type(resume).__qualname__}: expected True or False")
    if wrong:
        raise TypeError(f"run() got {'; '.join(wrong)}")


def suspend(folder: str | os.PathLike[str]) -> Path:
    """Suspend the run that has its checkpoints in a folder, in this process or in another one.

    All its sources stop at one event time, and everything before that is processed. No component hears that
    the input is over, and no last ticks fire: ``run(..., start=folder)`` resumes there.

    Args:
        folder: as it was given to `run` as ``checkpoints``.

    Returns:
        The path of the checkpoint, once it is on the disk.

    Raises:
        RunNotFoundError: no run with this folder is in progress; it is a SuspendError.
        SuspendError: the run continues, as a source has not come to the time that others had reached, or has
            come to its end.
    """
    from framework.runtime.coordination.commands import ask

    return Path(ask(Path(folder), "suspend")["path"])


def scale(folder: str | os.PathLike[str], tasks: Mapping[str, int | Sequence[int]]) -> Mapping[str, int]:
    """Have bolts of the run that is found by a folder get more tasks or fewer, in this or another process.

    Args:
        folder: as it was given to `run` as ``control`` or ``checkpoints``.
        tasks: by bolt the number of its tasks, from 1 to its ``viper.parallelism.max``. Or the tasks
            themselves, by index from 0 on, so that it goes from worker to worker.

    Returns:
        The number of tasks of each bolt that can be scaled, by id.

    Raises:
        RunNotFoundError: no run with this folder is in progress; it is a SuspendError.
        ScaleError: one of the bolts cannot have so many tasks; all stay as they were.
    """
    from framework.model.errors import ScaleError
    from framework.runtime.coordination.commands import ask

    found: Mapping[str, int] = ask(Path(folder), "scale", refused=ScaleError, tasks=tasks)["tasks"]
    return found


def stacks(folder: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Return the stacks of the tasks of a run that is found by a folder, in this or another process.

    Args:
        folder: as it was given to `run` as ``control`` or ``checkpoints``.

    Returns:
        ``tasks`` has a mapping for each task that is in a callback, with ``task``, ``process``, ``callback``
        and ``stack``, the user's frames in the form of a traceback. ``others`` has a mapping for each other
        task, with ``task``, ``process`` and ``doing``, the reason that it waits, in words. ``silent`` has the
        ids of processes that have not answered, as a library there keeps Python's lock.

    Raises:
        RunNotFoundError: no run with this folder is in progress; it is a SuspendError.
    """
    from framework.runtime.coordination.commands import ask

    return ask(Path(folder), "stacks")


def _planned(
    topology: object, options: Mapping[str, Any], environment: str | None
) -> tuple[Plan, Settings, list[Problem]]:
    """The plan of whatever stands for a topology, its settings, and what deserves a warning.

    Raises:
        LoadError: it stands for none.
        TopologyError: it cannot run here.
    """
    from framework.frontends.loading import load_any
    from framework.model.config import project_files, resolve
    from framework.model.errors import TopologyError
    from framework.optimizer.planned import planned

    loaded = load_any(topology, environment=environment)
    settings, problems = resolve(
        loaded.topology,
        options=options,
        options_from="argument of run()",
        environ=os.environ,
        files=project_files(Path.cwd()),
        environment=environment,
    )
    problems += loaded.problems
    if loaded.topology is not None:
        problems += _checked(loaded.topology, settings)
    problems = list(dict.fromkeys(problems))
    if loaded.topology is None or not all(problem.warning for problem in problems):
        raise TopologyError(problem for problem in problems if not problem.warning)
    return planned(loaded.topology, settings), settings, problems


def _checked(topology: Topology, settings: Settings) -> list[Problem]:
    from framework.planning.validation import check_isolation, check_runnable, validate

    return [
        *validate(topology, settings),
        *check_runnable(topology),
        *check_isolation(topology, settings),
    ]


def _listed(topology: str, control: Path | None) -> AbstractContextManager[object]:
    """For as long as the block runs, ``viper ps`` and others find a run, if it has a folder for that."""
    if control is None:
        return nullcontext()
    from framework.runtime.coordination.registry import registered

    return registered(topology, control)


def _path(path: str | os.PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)


@contextmanager
def _logging_somewhere() -> Iterator[None]:
    """Log to stderr during the block if the program has set up no logging, as ``viper run`` does.

    Otherwise the output that components print, which goes to the log, would be lost.
    """
    root = logging.getLogger()
    if root.hasHandlers():
        yield
        return
    from framework.operators.log import FORMS, LogForm

    handler, level = logging.StreamHandler(), root.level
    handler.setFormatter(FORMS[LogForm.TEXT]())
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


# -- scripts whose classes worker processes import

_GUARD = 'put the call under `if __name__ == "__main__":`'


def _refuse_in_worker() -> None:
    """Refuse to begin while a worker process loads the script that it was started by.

    Raises:
        WorkerError: the script calls `run` whoever loads it.
    """
    frame = _script_on_stack("__mp_main__")
    if frame is not None:
        from framework.model.errors import WorkerError

        raise WorkerError(f"{_line_of(frame)}: run() was called again by a worker process: {_GUARD}")


def _refuse_unguarded(plan: Plan, settings: Settings) -> None:
    """Refuse worker processes that would load a script which calls `run` again.

    Raises:
        WorkerError: they would have to, as components or functions are defined in it.
        TopologyError: as of `pack_plan`.
    """
    from framework.planning import WorkerKind

    frame = _script_on_stack("__main__")
    if frame is None or plan.placement.kind is not WorkerKind.PROCESS:
        return
    if _is_main_file(frame) and _is_unconditional(frame):
        from framework.model.errors import WorkerError
        from framework.runtime.workers.shipping import pack_plan

        if pack_plan(plan, settings).loads_main_module:
            raise WorkerError(
                f"{_line_of(frame)}: each worker process loads this script, as it defines components or "
                f"functions, and would call run() once more: {_GUARD}"
            )


def _script_on_stack(name: str) -> FrameType | None:
    """The top level of the main module, where it is what has called `run`, directly or not."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == name and frame.f_code.co_name == "<module>":
            return frame
        frame = frame.f_back
    return None


def _line_of(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_main_file(script: FrameType) -> bool:
    """True if the main module is a file that can be loaded again, and no session or notebook."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    return file is not None and Path(file).resolve() == Path(script.f_code.co_filename).resolve()


def _is_unconditional(script: FrameType) -> bool:
    """True if the present statement of a script is at its top level, under no condition."""
    lines = linecache.getlines(script.f_code.co_filename)
    statements = ast.parse("".join(lines)).body if lines else []
    here = [s for s in statements if s.lineno <= script.f_lineno <= (s.end_lineno or s.lineno)]
    return bool(here) and not isinstance(here[-1], ast.If | ast.Match)
