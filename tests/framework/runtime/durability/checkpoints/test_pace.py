"""A task that writes what it remembers leaves time to those that it shares an executor with."""

from __future__ import annotations

from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from framework.runtime.coordination.cut_record import CutRecord, CutState, Proposal
from framework.runtime.durability.checkpoints.states import Saved, SavedTask
from framework.runtime.durability.state import Snapshot, TaskState
from framework.runtime.tasks import checkpoints
from framework.runtime.tasks.checkpoints import BUDGET_S, TaskCheckpoints

PIECES = 3
PROPOSAL = Proposal(1, CutState.DECIDED, 1, 0)


class Clock:
    """A clock that advances when somebody says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        """The time in seconds."""
        return self.now_s


class Pieces:
    """A snapshot of three pieces, of which each takes all the time that it may; all at once take none."""

    saved = Saved()

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.written = 0

    def write(self, budget_s: float) -> bool:
        """Write one piece, or all."""
        self.written = PIECES if budget_s == inf else self.written + 1
        self._clock.now_s += 0 if budget_s == inf else budget_s
        return self.written == PIECES


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """That of the checkpoints of tasks."""
    made = Clock()
    monkeypatch.setattr(checkpoints, "time", made)
    return made


def begun(clock: Clock, told: list[SavedTask]) -> tuple[TaskCheckpoints, Pieces]:
    """A task that has saved itself, and has committed that; what it tells the leader goes into a list."""
    pieces, task = Pieces(clock), TaskCheckpoints()
    record = cast(CutRecord, SimpleNamespace(is_decided_on=lambda attempt: True, completed=0))
    state = SimpleNamespace(snapshot=lambda number, folder, full: cast(Snapshot, pieces))
    task.listen(told.append, Path(), record, lambda: None)
    assert task.write_at_s == inf
    task.cut(PROPOSAL, cast(Any, {}), [cast(TaskState, state)], clock.now_s)
    return task, pieces


def test_a_task_writes_half_of_the_time_however_many_turns_it_has(clock: Clock) -> None:
    told: list[SavedTask] = []
    task, pieces = begun(clock, told)
    for piece in range(1, PIECES):
        assert task.write_at_s <= clock.now_s
        for _ in range(40):  # turns without any other task's between them
            task.go_on(is_committed=True)
        assert pieces.written == piece and not told
        assert task.write_at_s == pytest.approx(clock.now_s + BUDGET_S)
        clock.now_s = task.write_at_s
    task.go_on(is_committed=True)
    assert [found.attempt for found in told] == [PROPOSAL.attempt] and task.write_at_s == inf


def test_a_task_that_ends_writes_the_rest_at_once(clock: Clock) -> None:
    told: list[SavedTask] = []
    task, pieces = begun(clock, told)
    task.go_on(is_committed=True)
    task.finish({})
    assert pieces.written == PIECES and len(told) == 2 and task.write_at_s == inf
