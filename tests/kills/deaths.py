"""The deaths of a run's processes: drawn from a seed, by what they do, never by the clock.

A process draws how many named points it passes before it dies: before or after a call of what the runtime
does for recovery and checkpoints. At that point it kills itself, or has the system kill it microseconds
later, wherever it is then. Each next process draws again; some die right after a death, before they have
done anything, or before the run has begun. One whose tasks have ended draws again: half of them die
while they tell of it, close their components, and report.

Worker processes arm themselves when they import this module, as the modules of components do, in a run whose
environment has a plan (`planned`).
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, Final

PLAN: Final = "KILL_PLAN"
"""The environment variable with the plan, as JSON."""
LAST: Final = 6
"""The most deaths beyond the planned ones of processes whose tasks have ended."""
_OF_TASKS: Final = (
    ("viper.source", "Source", ("add", "heartbeat", "recover")),
    ("viper.reader", "Reader", ("get_ready", "get_interleaved", "release", "hold")),
    ("viper.page", "TaskPage", ("note", "read", "feed")),
    ("viper.state", "Writer", ("__init__", "commit", "back_to_commit")),
    ("framework.runtime.durability.recovery", "Commits", ()),
    ("framework.runtime.durability.recovery", "RecoveryMemory", ("commits",)),
    ("framework.runtime.tasks.slot", "ComponentSlot", ("commit", "flush")),
    ("framework.runtime.tasks.sink_commits", "SinkCommits", ()),
    ("framework.operators.sinks", "TransactionalSink", ("cut", "complete", "recover", "unstage", "resume")),
    ("framework.operators.sinks", "SqliteSink", ("apply",)),
    ("framework.operators.sinks", "JsonLinesSink", ("apply", "finish")),
    ("framework.operators.sinks.staging", "Stage", ()),
    ("framework.runtime.coordination.cut_record", "CutRecord", ()),
    ("framework.runtime.coordination.scale_record", "ScaleRecord", ("hand_over", "take_over", "divide_anew")),
    ("framework.runtime.durability.state", "TaskState", ("hand_over", "own")),
    ("framework.runtime.tasks.checkpoints", "TaskCheckpoints", ()),
    ("framework.runtime.tasks.membership", "Membership", ()),
    ("framework.runtime.durability.state.snapshot", "Snapshot", ()),
)
"""Modules, classes and methods, no methods for all public ones: what a task does."""
_OF_WORKERS: Final = (
    ("framework.runtime.workers.worker", "Worker", ("prepare", "saved", "close", "reports")),
    ("framework.runtime.workers.main", "_Line", ("send",)),
    ("framework.runtime.workers.status", "StatusWriter", ("write",)),
)
"""Likewise: what a worker process does before its tasks run, and after their end."""
_OF_LEADER: Final = (
    ("framework.runtime.durability.checkpoints.folder", "SystemFiles", ()),
    ("framework.runtime.durability.checkpoints.folder", "CheckpointFolder", ()),
    ("framework.runtime.leading.checkpointing", "Checkpointing", ()),
    ("framework.runtime.coordination.cut_leader", "CutLeader", ()),
    ("framework.runtime.workers.supervisor", "Supervisor", ("run",)),
    ("framework.runtime.workers.handle", "WorkerHandle", ("send", "end", "reached")),
)
"""Likewise: what the process does that leads a run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of the deaths in a run."""

    folder: str
    """The folder in which each death leaves a mark."""
    seed: int
    kills: int
    """The most deaths."""
    gap: float
    """The number of points that a process passes before it dies, on average."""
    whole: Sequence[str] = ()
    """The kinds of process, "leader" and "worker", with whose death the whole process group dies, and so the
    process that leads the run; empty if each worker process dies for itself."""
    alone: bool = False
    """True if the leader alone dies then; the others have to end by themselves."""
    suspends: bool = False
    """True if the run is suspended then, and nothing dies."""
    after: str = ""
    """A folder: points count once there is a checkpoint in it."""
    plant: str = ""
    """A bug of `tests.kills.planted` for all worker processes."""
    is_swift: bool = False
    """True if most processes die before they have done what their predecessors had begun."""

    @property
    def deaths(self) -> int:
        """So far."""
        return len(os.listdir(self.folder))


@contextmanager
def planned(plan: Plan) -> Iterator[None]:
    """While the block runs, the worker processes of a run that begins die as planned."""
    Path(plan.folder).mkdir(parents=True, exist_ok=True)
    os.environ[PLAN] = json.dumps(asdict(plan))
    try:
        yield
    finally:
        del os.environ[PLAN]


class Death:
    """The end of this process."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        name, so_far = multiprocessing.current_process().name, plan.deaths
        chance = random.Random(f"{plan.seed} {so_far} {'' if plan.whole else name}")
        only_leads = "worker" in plan.whole and multiprocessing.parent_process() is None
        # As that passes few points. All processes of a group draw alike, so that they agree on who is chosen.
        is_soon = (chance.random() < (0.9 if plan.is_swift else 0.25)) | only_leads
        self._left = 1 + int(2 ** chance.uniform(0, 6) if is_soon else chance.expovariate(0.75 / plan.gap))
        self._delay_us = int(2 ** chance.uniform(2, 12)) if chance.random() < 0.4 else 0
        """Microseconds after the point; 0 for right there."""
        self._mark = Path(plan.folder, f"{so_far:04} {name}")
        self._counts = not plan.suspends  # before it has begun, nobody can suspend a run
        self._chance = chance
        self._is_over = so_far >= plan.kills or (bool(plan.whole) and not self._is_chosen(chance))
        self._after = "" if is_soon and plan.whole and so_far == 0 else plan.after

    def _is_chosen(self, chance: random.Random) -> bool:
        """True if this process is the one at whose point the whole group dies."""
        parent = multiprocessing.parent_process()
        return chance.choice(self._plan.whole) == ("leader" if parent is None else "worker")

    def begin(self) -> None:
        """The tasks of the process begin."""
        self._counts = True

    def end(self) -> None:
        """They have ended: what follows is only their close and the report."""
        if self._plan.suspends:
            self._is_over = True
        elif not self._plan.whole and self._left > 0:
            self._left = 1 + int(2 ** self._chance.uniform(0, 3.5))
            self._is_over = self._plan.deaths >= self._plan.kills + LAST or self._chance.random() < 0.5

    def passed(self, point: str) -> None:
        """One more point has been passed."""
        if self._is_over or not self._counts or self._waits():
            return
        self._left -= 1
        if self._left == 0:
            # Of a group, two processes may get there.
            with suppress(FileExistsError), open(self._mark, "x", encoding="utf-8") as mark:
                mark.write(f"{point} {self._delay_us}")
            if self._plan.suspends:
                os.kill(os.getpgrp(), signal.SIGURG)
            elif self._plan.whole and not self._plan.alone:
                os.killpg(os.getpgrp(), signal.SIGKILL)
            elif self._delay_us:
                _arm(self._delay_us)
            else:
                os.kill(os.getpid(), signal.SIGKILL)

    def _waits(self) -> bool:
        if self._after and not any(Path(self._after).glob("checkpoint-*")):
            return True
        self._after = ""
        return False


_death: Death | None = None


def passed(point: str) -> None:
    """A point is passed; the first one draws."""
    global _death
    if _death is None:
        found = os.environ.get(PLAN)
        if found is None:
            return
        plan = Plan(**json.loads(found))
        if plan.plant:
            import_module("tests.kills.planted").plant(plan.plant)
        _death = Death(plan)
    _death.passed(point)


Wrap = Callable[[str, Callable[..., Any]], Callable[..., Any]]


def _wrap_all(wrap: Wrap, *groups: Sequence[tuple[str, str, tuple[str, ...]]]) -> list[tuple[type, str, Any]]:
    """Wrap the methods that are points; returns what they were."""
    before = []
    for module, name, methods in (found for group in groups for found in group):
        owner = getattr(import_module(module), name)
        public = [found for found, what in vars(owner).items() if isinstance(what, FunctionType)]
        for method in methods or [found for found in public if not found.startswith("_")]:
            before.append((owner, method, getattr(owner, method)))
            setattr(owner, method, wrap(f"{name}.{method}", before[-1][-1]))
    return before


@contextmanager
def counting() -> Iterator[list[int]]:
    """Gives the number of points that the tasks of this process pass while the block runs."""
    count = [0]

    def counted(_: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*args: Any, **options: Any) -> Any:
            count[0] += 2
            return method(*args, **options)

        return call

    before = _wrap_all(counted, _OF_TASKS)
    try:
        yield count
    finally:
        for owner, name, method in reversed(before):
            setattr(owner, name, method)


def watch_leader() -> None:
    """Have this process, which leads a run that dies as a whole, pass the points of leaders and of tasks."""
    _watch_worker()
    _wrap_all(_watched, _OF_LEADER)


def _watched(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def watched(*args: Any, **options: Any) -> Any:
        passed(f"before {name}")
        try:
            return method(*args, **options)
        finally:
            passed(f"behind {name}")

    return watched


def _watch_worker() -> None:
    from framework.runtime.workers.worker import Worker

    run = Worker.run

    def running(self: Worker) -> None:
        passed("before the run")
        if _death is not None:
            _death.begin()
        try:
            run(self)
        finally:
            if _death is not None:
                _death.end()

    Worker.run = running  # type: ignore[method-assign]
    _wrap_all(_watched, _OF_TASKS, _OF_WORKERS)


# -- a kill at an instruction that nobody chooses


class _Event(ctypes.Structure):
    """A `struct sigevent`."""

    _fields_ = [("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int)]
    _fields_ += [("rest", ctypes.c_char * 48)]


_timer = ctypes.c_void_p()


def _arm(microseconds: int) -> None:
    """Have the system send this process a SIGKILL."""
    libc = ctypes.CDLL(None, use_errno=True)
    event = _Event(signal=signal.SIGKILL, notify=0)
    times = (ctypes.c_long * 4)(0, 0, microseconds // 1_000_000, microseconds % 1_000_000 * 1000)
    monotonic = 1
    if libc.timer_create(monotonic, ctypes.byref(event), ctypes.byref(_timer)) or libc.timer_settime(
        _timer, 0, times, None
    ):
        raise OSError(ctypes.get_errno(), "no timer")


if multiprocessing.parent_process() is not None:
    _watch_worker()
