"""Threads that take turns where a schedule says so, and executors that share tasks of their own making.

Only one thread runs at a time. It may be changed at each point: where a lock is taken or given back, where a
claim is looked at, and in the middle of a turn. So a seed decides on one interleaving of the real executors.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace, TracebackType
from typing import Any

from framework.runtime.coordination.stop import StopSignal
from framework.runtime.execution import sharing
from framework.runtime.execution.policy import DownstreamFirst, Rules
from framework.runtime.execution.sharing import SharedParts, Sharing, SharingExecutor
from framework.runtime.execution.task_list import SharedBell, TaskList

NEVER_S = float("inf")
LENGTH = 400
"""About how many points a schedule has."""
MOST_POINTS = 20_000
"""Points of a schedule; a run that has more of them turns round in circles."""


class Wrong(Exception):
    """The mistake that a schedule has shown."""


class Stage:
    """Lets one thread run at a time, and draws which from a seed.

    With an even seed every point is drawn. With an odd one the threads have priorities, and a few of the
    points put the running thread behind all others: that finds what takes few changes at the right places.
    """

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        changes = self._draw.randint(1, 6)
        self._changes = {self._draw.randrange(LENGTH) for _ in range(changes)} if seed % 2 else set()
        self._priorities: dict[threading.Thread, float] | None = {} if seed % 2 else None
        self._turns: dict[threading.Thread, threading.Semaphore] = {}
        self._blocked: dict[threading.Thread, Callable[[], bool]] = {}
        self._current: threading.Thread | None = None
        self._points = 0
        self.wrong: str | None = None
        self._over = threading.Event()

    def run(self, *calls: Callable[[], None]) -> None:
        """Run each call in a thread of its own, until all have returned.

        Raises:
            Wrong: nothing can run any more, or a check has failed.
        """
        threads = [threading.Thread(target=self._body, args=(call,), daemon=True) for call in calls]
        self._turns = {thread: threading.Semaphore(0) for thread in threads}
        for thread in threads:
            thread.start()
        self._go_on()
        self._over.wait()
        for semaphore in self._turns.values():  # those that are left behind raise
            semaphore.release()
        for thread in threads:
            thread.join()
        if self.wrong is not None:
            raise Wrong(self.wrong)

    def point(self) -> None:
        """Let another thread run, or go on."""
        if self._is_staged():
            self._points += 1
            if self._points > MOST_POINTS:
                self.fail("it goes on for ever")
            if self._priorities and self._points in self._changes:
                self._priorities[threading.current_thread()] = -self._points
            self._change()

    def block(self, until: Callable[[], bool]) -> None:
        """Let others run until something is true."""
        if not until():
            self._blocked[threading.current_thread()] = until
            self._change()

    def fail(self, what: str) -> None:
        """End the schedule."""
        self.wrong = self.wrong or what
        self._over.set()
        raise Wrong(what)

    def is_blocked_elsewhere(self) -> bool:
        """True if all other threads wait for something that is not true."""
        others = [thread for thread in self._turns if thread is not threading.current_thread()]
        return all(thread in self._blocked and not self._blocked[thread]() for thread in others)

    def _is_staged(self) -> bool:
        return threading.current_thread() in self._turns

    def _body(self, call: Callable[[], None]) -> None:
        this = threading.current_thread()
        self._turns[this].acquire()
        try:
            if self.wrong is None:
                call()
        except Wrong:
            pass
        except BaseException as error:
            self.wrong = self.wrong or f"{type(error).__name__}: {error}"
            self._over.set()
        finally:
            del self._turns[this]
        if not self._over.is_set():
            self._go_on()

    def _change(self) -> None:
        if self._over.is_set():
            raise Wrong("over")
        mine = self._turns[threading.current_thread()]
        self._go_on()
        mine.acquire()
        if self._over.is_set():
            raise Wrong("over")

    def _go_on(self) -> None:
        ready = [thread for thread in self._turns if self._blocked.get(thread, _always)()]
        if ready:
            chosen = self._choose(ready)
            self._blocked.pop(chosen, None)
            self._turns[chosen].release()
            return
        if self._turns:
            self.wrong = self.wrong or "everybody sleeps, and nobody wakes them"
        self._over.set()


    def _choose(self, ready: Sequence[threading.Thread]) -> threading.Thread:
        if self._priorities is None:
            return self._draw.choice(ready)
        for thread in self._turns:
            self._priorities.setdefault(thread, self._draw.random())
        return max(ready, key=self._priorities.__getitem__)


def _always() -> bool:
    return True


class StagedLock:
    """A lock that a thread may take again, and at which others may come in between."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._owner: threading.Thread | None = None
        self._depth = 0

    @property
    def is_free(self) -> bool:
        return self._owner is None

    def __enter__(self) -> None:
        this = threading.current_thread()
        if self._owner is not this:
            self._stage.point()
            self._stage.block(lambda: self._owner is None)
            self._owner = this
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = None
            if kind is None:
                self._stage.point()


class NoLock(StagedLock):
    """Planted: it keeps nobody out."""

    def __enter__(self) -> None:
        self._stage.point()

    def __exit__(self, *raised: object) -> None:
        self._stage.point()


class StagedBell:
    """A bell on which only a ring ends a sleep, and no time."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._rung = 0

    def ticket(self) -> int:
        return self._rung

    def ring(self) -> None:
        self._rung += 1

    def wait(self, ticket: int, timeout_s: float) -> None:
        self._stage.block(lambda: self._rung != ticket)


class StagedTask:
    """A task that takes one item in each turn, and hands some on, through a queue with room for one.

    Args:
        stage: where it runs.
        name: for messages.
        depth: its distance from the spout.
        each: how many items it hands on for each that it takes.
        bursts: whether it asks for room in the middle of its callback, as an emit does.
    """

    is_source = False
    awaits_answers = passes_time = waits_with_input = is_cyclic = False
    in_flight = 0
    ends_at_us = waiting_for = largest_slice = None
    wake_at_s = NEVER_S

    def __init__(self, stage: Stage, name: str, depth: int, *, each: int = 1, bursts: bool = False) -> None:
        self.name = name
        self.context = SimpleNamespace(
            spec=SimpleNamespace(depth=depth),
            counters=SimpleNamespace(
                costs=SimpleNamespace(cpu_s=0.0, used=lambda seconds: None, had_turn=lambda count: None)
            ),
            times=SimpleNamespace(add=lambda seconds, count: None),
        )
        self.emitter = SimpleNamespace(blocked=False, neighbours=())
        self.slot = SimpleNamespace(is_gone=False, restart_at_s=None)
        self.is_signalled = True
        self.is_finished = self.is_ending = False
        self.queue: list[int] = []
        self.taken: list[int] = []
        self.readers: list[StagedTask] = []
        self.writers: list[StagedTask | Outside] = []
        self._held: list[tuple[StagedTask, int]] = []
        self._stage = stage
        self._each = each
        self._bursts = bursts
        self._runs_in: threading.Thread | None = None
        self._scheduler: Any = None
        self.check: Callable[[], None] = lambda: None

    @property
    def is_blocked(self) -> bool:
        return bool(self.emitter.blocked)

    def to(self, *readers: StagedTask) -> None:
        """Hand on what it takes to these tasks in turn."""
        self.readers += readers
        for reader in readers:
            reader.writers.append(self)

    def connect(self, neighbours: Sequence[Any]) -> None:
        self.emitter.neighbours = tuple(neighbours)

    def come_to(self, scheduler: Any) -> None:
        self._scheduler = scheduler

    def signal(self) -> None:
        self.is_signalled = True

    def is_runnable(self, now_s: float) -> bool:
        return self.is_signalled and not (self.is_finished or self.is_blocked)

    def drain(self, reason: object, now_s: float) -> None:
        """Nothing changes."""

    def unblock(self) -> bool:
        with _InTurn(self):
            self._flush(in_turn=False)
        return not self.is_blocked

    def run(self, limit: int) -> int:
        with _InTurn(self):
            self.is_signalled = False
            self._stage.point()
            self.check()
            moved = self._turn()
            self._stage.point()
            self.check()
            self._flush()
        return moved

    def _turn(self) -> int:
        if not self.queue:
            self._end_behind(self.writers)
            return 0
        item = self.queue.pop(0)
        self.is_signalled = True
        self.taken.append(item)
        for number in range(self._each if self.readers else 0):
            self._held.append((self.readers[item % len(self.readers)], item * self._each + number))
            if self._bursts:
                self._flush()
                if self.is_blocked:
                    self._scheduler.make_room(self)
        return 1

    def _end_behind(self, writers: Sequence[StagedTask | Outside]) -> None:
        if all(writer.is_finished for writer in writers) and not (self.queue or self._held):
            self.is_finished = True
            self._signal_neighbours()

    def _flush(self, *, in_turn: bool = True) -> None:
        handed = False
        while self._held and len(self._held[0][0].queue) < 1:
            reader, item = self._held.pop(0)
            reader.queue.append(item)
            handed = True
            self._stage.point()
        self._stage.point()
        self.emitter.blocked = bool(self._held)
        if handed:
            self._signal_neighbours()
            if in_turn:
                self.check()

    def _signal_neighbours(self) -> None:
        for neighbour in self.emitter.neighbours:
            if not neighbour.is_signalled:
                neighbour.signal()


class _InTurn:
    """Sees that no two threads are in a task at once; a thread may be in it again, further up its stack."""

    def __init__(self, task: StagedTask) -> None:
        self._task = task

    def __enter__(self) -> None:
        this, before = threading.current_thread(), self._task._runs_in
        if before not in (None, this):
            self._task._stage.fail(f"two threads run {self._task.name}")
        self._before, self._task._runs_in = before, this

    def __exit__(self, *raised: object) -> None:
        self._task._runs_in = self._before


class StagedSource(StagedTask):
    """Brings numbers, and ends."""

    is_source = True
    brings_nothing = False

    def __init__(self, stage: Stage, name: str, count: int, first: int = 0) -> None:
        super().__init__(stage, name, 0)
        self._numbers = list(range(first, first + count))
        self._active = False

    def is_runnable(self, now_s: float) -> bool:
        return self._active and not (self.is_finished or self.is_blocked)

    def activate(self) -> None:
        self._active = True

    def deactivate(self) -> None:
        self._active = False

    def pass_time(self) -> None:
        """Its time does not pass."""

    def _turn(self) -> int:
        if not self._numbers:
            self._end_behind(())
            return 0
        item = self._numbers.pop(0)
        self._held.append((self.readers[item % len(self.readers)], item))
        return 1


class Outside:
    """A thread of another worker, which brings a task two items and then the end, and rings for each.

    Args:
        stage: where it runs.
        reader: the task.
        bell: rung each time.
    """

    def __init__(self, stage: Stage, reader: StagedTask, bell: StagedBell) -> None:
        self.is_finished = False
        self._stage = stage
        self._reader = reader
        self._bell = bell
        reader.writers.append(self)

    def run(self) -> None:
        """Bring everything."""
        for item in (8, 9):
            self._stage.point()
            self._reader.queue.append(item)
            self._bell.ring()
        self._stage.point()
        self.is_finished = True
        self._bell.ring()


class StagedList(TaskList[Any]):
    """A list at whose claims others may come in between, unless the lock keeps them out."""

    stage: Stage

    def is_free(self, task: Any) -> bool:
        free = super().is_free(task)
        self.stage.point()
        return free


@dataclass(frozen=True)
class Kinds:
    """The classes that share tasks, or what is planted in their places."""

    tasks: type[StagedList] = StagedList
    lock: type[StagedLock] = StagedLock
    bell: type[SharedBell] = SharedBell
    has_outside: bool = False
    """True if a thread of another worker brings something, too."""


class Shared:
    """Executors on a stage, which share the tasks of a small topology.

    Args:
        stage: where they run.
        executors: how many there are.
        kinds: the list, the lock, the bell and the executor, in place of which others may be planted.
    """

    def __init__(self, stage: Stage, executors: int, kinds: Kinds) -> None:
        self.stage = stage
        sources = [StagedSource(stage, "one", 2), StagedSource(stage, "two", 2, first=2)]
        split = [StagedTask(stage, f"split{n}", 1, each=2, bursts=n == 0) for n in range(2)]
        self.sink = StagedTask(stage, "sink", 2)
        for source in sources:
            source.to(*split)
        for task in split:
            task.to(self.sink)
        tasks: list[StagedTask] = [*sources, *split, self.sink]
        for task in tasks:
            task.connect(task.readers)
        self._stop = StopSignal()
        self._bell = StagedBell(stage)
        self._outside = [Outside(stage, self.sink, self._bell)] if kinds.has_outside else []
        fed = [self.sink] if kinds.has_outside else []
        rules = Rules(DownstreamFirst(), None, 10, 10.0, NEVER_S)  # type: ignore[arg-type]
        parts = SharedParts(rules, self._bell, self._stop, fed, None)  # type: ignore[arg-type]
        kinds.tasks.stage = stage
        before = sharing.TaskList, sharing.SharedBell
        sharing.TaskList, sharing.SharedBell = kinds.tasks, kinds.bell  # type: ignore[misc]
        try:
            self._sharing = Sharing(sources, [*split, self.sink], parts)  # type: ignore[arg-type]
            self._sharing.tasks.lock = kinds.lock(stage)  # type: ignore[assignment]
            self._executors = [self._sharing.executor(lambda now: None, None) for _ in range(executors)]
        finally:
            sharing.TaskList, sharing.SharedBell = before  # type: ignore[misc]
        self._tasks = tasks
        for task in tasks:
            task.check = self._check

    def run(self) -> list[int]:
        """Run them until all tasks have ended; returns what the sink has got.

        Raises:
            Wrong: a task was in two threads, somebody slept for ever, or beside work.
        """
        outside = [other.run for other in self._outside]
        self.stage.run(*outside, *(self._running(executor) for executor in self._executors))
        return sorted(self.sink.taken)

    def _running(self, executor: SharingExecutor) -> Callable[[], None]:
        def run() -> None:
            for _ in executor.steps():
                pass

        return run

    def _check(self) -> None:
        """In the middle of a turn: nobody sleeps beside a task that could run."""
        lock, tasks = self._sharing.tasks.lock, self._sharing.tasks
        if not (lock.is_free and self.stage.is_blocked_elsewhere()):  # type: ignore[attr-defined]
            return
        for task in self._tasks:
            if TaskList.is_free(tasks, task) and task.is_runnable(0.0):  # type: ignore[arg-type]
                self.stage.fail(f"all others sleep, and {task.name} could run")
