"""Threads of a worker that share its tasks: one at a time runs a task, and nobody sleeps beside work."""

from __future__ import annotations

from typing import Any

import pytest

from framework.runtime.execution import accounting
from framework.runtime.execution.task_list import SharedBell
from tests.framework.runtime.staged import Kinds, NoLock, Shared, Stage, StagedList, Wrong
from tests.portions import at_every_change

SEEDS = at_every_change([(0, 60), (60, 1500)], 1)
"""Seeds of interleavings, from and to: at every change, and in CI."""


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
            self.changes += 1


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
        self, executors: int, has_outside: bool, seeds: tuple[int, int]
    ) -> None:
        for seed in range(*seeds):
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
