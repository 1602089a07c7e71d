"""Threads of a worker that share its tasks: one at a time runs a task, and nobody sleeps beside work."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import ComponentError, TopologyError
from framework.operators.sinks import CollectingSink
from framework.runtime.execution import accounting
from framework.runtime.execution.task_list import SharedBell, TaskList
from tests.framework.runtime.pieces import Forward, Numbers, plan_of, run_built
from tests.framework.runtime.staged import Kinds, NoLock, Shared, Stage, StagedList, Wrong
from tests.portions import seeds_at_every_change

SEEDS = seeds_at_every_change(range(1500), 60)
"""Seeds of interleavings: at every change, and in CI."""


class Unnoticed(StagedList):
    """Planted: nobody looks for room again that another thread has made during the look."""

    @property
    def changes(self) -> int:
        return 0

    @changes.setter
    def changes(self, number: int) -> None:
        """Nothing is counted."""


class WithoutRoom(StagedList):
    """Planted: nobody wakes those that wait for room in the middle of a callback."""

    def release(self, task: Any, *, may_make_room: bool = True) -> None:
        with self.lock:
            del self._holders[task]
            self.changes += may_make_room


class IdleLate(StagedList):
    """Planted: an executor that has found nothing says so when it goes to sleep, and not at once."""

    def is_idle(self, executor: Any, *, waits_for_room: bool) -> None:
        """Nothing is noted yet."""

    def sleeps(self, executor: Any, until_s: float) -> None:
        super().is_idle(executor, waits_for_room=False)
        super().sleeps(executor, until_s)


class LeavesQuietly(StagedList):
    """Planted: who ends does not wake the others, which wait for an end, too."""

    def leave(self, executor: Any) -> None:
        with self.lock:
            self._running.discard(executor)
            self.is_awake(executor)


class RungIdle(StagedList):
    """Planted: executors that were just woken count as idle until they look."""

    def wake(self) -> None:
        if self._idle:
            self.rings += 1
            self._ring()


class SignalsNobody(StagedList):
    """Planted: what a task hands on in the middle of its turn wakes nobody."""

    def signalled(self, task: Any) -> None:
        """Nobody hears of it."""


class LeavesNothing(StagedList):
    """Planted: who has found several tasks wakes nobody for those that it does not run."""

    def leave_to_others(self, runnable: Any, now_s: float) -> None:
        """Nobody hears of it."""


class LateTicket(SharedBell):
    """Planted: the ticket is taken before the sleep, and not before the look."""

    def begin_look(self) -> bool:
        return True

    def wait(self, timeout_s: float) -> None:
        self._bell.wait(self._bell.ticket(), timeout_s)


PLANTED = [
    (Kinds(lock=NoLock), 3, 51, "two threads run split0"),
    (Kinds(Unnoticed), 2, 125, "nothing can run, but split1 is not done"),
    (Kinds(Unnoticed, has_outside=True), 2, 11, "everybody sleeps"),
    (Kinds(WithoutRoom), 3, 9, "nothing can run, but split0 is not done"),
    (Kinds(IdleLate), 2, 71, "everybody sleeps"),
    (Kinds(LeavesQuietly), 2, 5, "everybody sleeps"),
    (Kinds(RungIdle), 2, 223, "nothing can run, but split0 is not done"),
    (Kinds(SignalsNobody), 2, 5, "all others sleep, and sink could run"),
    (Kinds(LeavesNothing), 2, 5, "all others sleep, and split1 could run"),
    (Kinds(bell=LateTicket), 3, 25, "everybody sleeps"),
]
"""Planted bugs, each with the number of executors and a seed that finds it, and with what is wrong then."""


class TestInterleavings:
    """The real executors, with tasks, a lock and a bell of the test, in orders that seeds draw."""

    @pytest.fixture(autouse=True)
    def without_the_clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """CPU times are divided where a thread rests, and not by the time that has passed."""
        monkeypatch.setattr(accounting, "WINDOW_S", float("inf"))

    @pytest.mark.parametrize("seeds", SEEDS)
    @pytest.mark.parametrize("has_outside", [False, True])
    @pytest.mark.parametrize("executors", [2, 3])
    def test_everything_is_done_once_and_nobody_sleeps_beside_work(
        self, executors: int, has_outside: bool, seeds: range
    ) -> None:
        for seed in seeds:
            try:
                found = Shared(Stage(seed), executors, Kinds(has_outside=has_outside)).run()
            except Wrong as wrong:
                pytest.fail(f"seed {seed}: {wrong}")
            assert found == list(range(10 if has_outside else 8)), seed

    @pytest.mark.parametrize(
        ("kinds", "executors", "seed", "wrong"), PLANTED, ids=[str(n) for n in range(len(PLANTED))]
    )
    def test_a_planted_bug_is_found(self, kinds: Kinds, executors: int, seed: int, wrong: str) -> None:
        with pytest.raises(Wrong, match=wrong):
            Shared(Stage(seed), executors, kinds).run()
        Shared(Stage(seed), executors, Kinds(has_outside=kinds.has_outside)).run()


SHARED = {"viper__worker": "thread", "viper__worker__threads": 2}
COUNT = 300
PATIENCE_S = 60.0


class Passes(Bolt):
    """Emits each tuple."""

    outputs = ["source", "number"]

    def process(self, tup: Any) -> None:
        self.emit(tup.values)


class Meets(Bolt):
    """Returns from its first call when another task of it is in its own: they run at the same time."""

    outputs = ["source", "number"]
    meeting = threading.Barrier(2)

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._has_met = False

    def process(self, tup: Any) -> None:
        if not self._has_met:
            self._has_met = True
            self.meeting.wait(PATIENCE_S)
        self.emit(tup.values)


class Threads(Bolt):
    """Emits each tuple; counts the threads that call it, and refuses two at once."""

    outputs = ["source", "number"]
    seen: ClassVar[dict[int, set[int]]] = {}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._busy = threading.Lock()
        self._mine = self.seen.setdefault(self.task_id, set())

    def process(self, tup: Any) -> None:
        assert self._busy.acquire(blocking=False)
        self._mine.add(threading.get_ident())
        self.emit(tup.values, need_task_ids=True)  # only the task's own thread may ask for them
        self._busy.release()


@contextmanager
def switching(interval_s: float) -> Iterator[None]:
    """Within the block, threads take turns so often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval_s)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def through(cls: type[Bolt], par: int = 2, count: int = COUNT) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2, args=[count])
    builder.set_bolt("tested", cls, par).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("tested")
    return builder


def test_tasks_of_one_worker_run_at_the_same_time() -> None:
    expected = run_built(through(Passes)).result("sink")
    Meets.meeting = threading.Barrier(2)
    found = run_built(through(Meets), **SHARED).result("sink")
    assert found == expected


def test_in_each_worker_process_too() -> None:
    options = {"viper__worker": "process", "topology__workers": 2, "viper__worker__threads": 2}
    expected = run_built(through(Passes)).result("sink")
    found = run_built(through(Meets, 4), **options).result("sink")
    assert found == expected


def test_a_task_goes_from_thread_to_thread_and_is_called_by_one_at_a_time() -> None:
    expected = run_built(through(Passes, count=60)).result("sink")
    Threads.seen.clear()
    small = {"viper__slice__tuples": 1, "viper__channel__jumbos": 1}
    with switching(1e-6):
        report = run_built(through(Threads, count=60), **{**SHARED, "viper__worker__threads": 3}, **small)
    assert report.result("sink") == expected
    assert max(map(len, Threads.seen.values())) > 1


def test_its_threads_are_one_executor_to_those_that_look() -> None:
    report = run_built(through(Passes), **SHARED)
    (executor,) = report.statistics.executors
    assert sorted(executor.tasks) == sorted(set(executor.tasks)) == [
        "sink:1",
        "source:2",
        "source:3",
        "tested:4",
        "tested:5",
    ]
    assert len(executor.busy_s) == len(executor.waited_s) == len(executor.times) == 5
    assert executor.turns > 5 and sum(executor.busy_s) > 0


def test_a_seed_changes_nothing_but_the_schedule() -> None:
    expected = run_built(through(Passes)).result("sink")
    for seed in range(3):
        options = {"viper__scheduling": "random", "viper__seed": seed, "viper__slice__tuples": 3}
        assert run_built(through(Passes, 3), **SHARED, **options).result("sink") == expected


class Raises(Bolt):
    """Raises at its fifth tuple."""

    outputs = ["source", "number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._left = 5

    def process(self, tup: Any) -> None:
        self._left -= 1
        if not self._left:
            raise LookupError("no such thing")


def test_an_error_in_one_thread_ends_the_run() -> None:
    with pytest.raises(ComponentError, match="LookupError: no such thing"):
        run_built(through(Raises), **SHARED)


def test_there_are_no_more_threads_than_tasks_and_none_for_tasks_that_block() -> None:
    builder = through(Passes)
    builder.set_bolt("waits", Forward, config={"viper.blocking": True}).shuffle_grouping("tested")
    plan, _ = plan_of(builder, viper__worker=None, viper__worker__threads=64)
    assert plan.placement.kind == "thread"
    assert [(executor.threads, executor.blocking) for executor in plan.placement.executors] == [
        (5, False),
        (1, True),
    ]
    assert plan.placement.threads == 6
    assert len(run_built(builder, viper__worker=None, viper__worker__threads=64).result("sink")) == 2 * COUNT


def test_an_inline_worker_is_the_calling_thread() -> None:
    plan, _ = plan_of(through(Passes), viper__worker="inline", viper__worker__threads=64)
    assert plan.placement.threads == 1
    plan_of(in_a_cycle(), viper__worker="inline", viper__worker__threads=64)


def test_tasks_that_are_shared_are_not_chained() -> None:
    plan, _ = plan_of(through(Passes, 1), viper__worker="thread")
    assert any(channel.chained for channel in plan.channels)
    plan, _ = plan_of(through(Passes, 1), **SHARED)
    assert not any(channel.chained for channel in plan.channels)


def in_a_cycle() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("first", Forward).shuffle_grouping("source").shuffle_grouping("second")
    builder.set_bolt("second", Forward).shuffle_grouping("first")
    return builder


@pytest.mark.parametrize(
    ("builder", "options", "message"),
    [
        (
            through(Passes),
            {"topology__workers": "auto", "viper__worker": "process"},
            "topology.workers is auto, which measures",
        ),
        (
            in_a_cycle(),
            {"viper__worker": "thread"},
            "component 'first' is part of a cycle, which runs on one thread: expected 1",
        ),
    ],
    ids=["auto", "cycle"],
)
def test_what_cannot_be_combined_is_refused(
    builder: TopologyBuilder, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TopologyError) as caught:
        plan_of(builder, viper__worker__threads=2, **options)
    assert f"viper.worker.threads is 2, but {message}" in str(caught.value)
    plan_of(builder, viper__worker__threads=1, **options)


def test_a_thread_that_left_with_a_task_leaves_the_others_no_reason_to_be_stuck() -> None:
    """The error in the task ends the run, however long the thread takes to say so."""
    task: Any = object()
    tasks: TaskList[str] = TaskList((task,), lambda: None)
    for name in ("one", "other"):
        tasks.join(name)
        tasks.begin(name)
    assert tasks.claim(task, "one")
    tasks.leave("one")
    tasks.is_idle("other", waits_for_room=False)
    assert not tasks.is_at_rest
    tasks.release(task)
    tasks.is_idle("other", waits_for_room=False)
    assert tasks.is_at_rest
