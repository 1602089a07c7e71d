"""The cut of a checkpoint or of a reconfiguration: a time ahead of all sources, on which they agree.

The leader of the run proposes a time. Each source says how far it has told its consumers that it is; if that
is not beyond the time, it has accepted, and brings nothing beyond before there is a decision. If all have
accepted, the time is decided; if one is ahead, the proposal is void, and the leader makes another one. A
source that is decided on goes on as it passes the time. So whoever sees a row behind the cut, or a promise
that all below it has come, and looks at the record only then, also sees the decision.

All of this is said in registers in shared memory, each of which one task writes, or the leader. The death of
a worker process makes a proposal void before a successor begins.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from framework.model.topology import Role
from framework.planning import Plan
from viper.partitions import NO_LIMIT
from viper.position import END, LEAST, Position
from viper.registers import Registers

_OF_THE_LEADER = 3
_OF_A_SOURCE = 7
_WORD = 2**64 - 1


class CutState(enum.IntEnum):
    """What has become of a proposal."""

    VOID = 0
    """It binds nobody: there was none, it was given up, or its checkpoint exists."""
    PROPOSED = 1
    """The sources answer; nobody who has accepted goes beyond the time."""
    DECIDED = 2
    """The checkpoint is cut there."""


class Purpose(enum.IntEnum):
    """What happens at a cut."""

    CHECKPOINT = 0
    """Every task saves itself."""
    RECONFIGURATION = 1
    """Tasks of bolts with state by key hand key groups over to one another. Once it is decided it stays so:
    rows behind the cut may have been divided anew already."""


class Proposal(NamedTuple):
    """What the leader has proposed to the sources that a task has its tuples from."""

    attempt: int
    """Its number, from 1."""
    state: CutState
    number: int
    """The id of the checkpoint; 0 for a reconfiguration."""
    until_us: int
    """The last event time in microseconds that lies before the cut."""
    purpose: Purpose = Purpose.CHECKPOINT


NO_PROPOSAL = Proposal(0, CutState.VOID, 0, NO_LIMIT)


class CutRecord:
    """The registers in which the leader proposes and decides, and sources answer.

    Args:
        registers: some of them are the record's.
        first: index of the first of those.
        plan: says which sources agree on one time together.
    """

    def __init__(self, registers: Registers, first: int, plan: Plan) -> None:
        self._registers = registers
        self._state = first
        """The register with attempt and state, which those with the number and the purpose follow."""
        parts = plan.aligned_sources
        sources = [task for part in parts for task in part]
        self._times = {part: first + _OF_THE_LEADER + index for index, part in enumerate(parts)}
        """By part of the topology the register of its time."""
        behind = first + _OF_THE_LEADER + len(parts)
        self._said = {task: behind + _OF_A_SOURCE * index for index, task in enumerate(sources)}
        """By source the first of its registers: how far it has told that it is, the attempt it has answered
        and how far it was then, the attempt in which it has passed the cut and the three words of where."""
        self._time_of = {task: self._times[part] for part in parts for task in part}
        """By task the register of its time."""
        self._source_of: dict[int, int] = {task: task for task in sources}
        """By task a source whose tuples come to it."""
        for task in plan.tasks:
            source = _source_above(plan, task.id) if task.role is Role.BOLT else None
            if source is not None:
                self._source_of[task.id] = source
                self._time_of[task.id] = self._time_of[source]

    @staticmethod
    def count(plan: Plan) -> int:
        """How many registers it takes."""
        return _OF_THE_LEADER + len(plan.aligned_sources) + _OF_A_SOURCE * sum(map(len, plan.aligned_sources))

    def source_of(self, task: int) -> int | None:
        """A source whose tuples come to a task; None where none do."""
        return self._source_of.get(task)

    @property
    def word(self) -> int:
        """A number that is another one whenever the leader has said something."""
        return self._registers[self._state]

    @property
    def attempt(self) -> int:
        """The number of the last proposal; 0 before the first."""
        return self.word >> 2

    def is_decided_on(self, attempt: int) -> bool:
        """Whether what an attempt was made for is still going on."""
        return self.word == attempt << 2 | CutState.DECIDED

    @property
    def is_reconfiguring(self) -> bool:
        """Whether a reconfiguration is decided, and not carried out as yet."""
        return self.word & 3 == CutState.DECIDED and self._purpose is Purpose.RECONFIGURATION

    @property
    def is_open_for_reconfiguration(self) -> bool:
        """Whether a reconfiguration is proposed, and not decided as yet."""
        return self.word & 3 == CutState.PROPOSED and self._purpose is Purpose.RECONFIGURATION

    @property
    def _purpose(self) -> Purpose:
        return Purpose(self._registers[self._state + 2])

    # -- the leader

    def propose(
        self,
        number: int,
        times_us: Mapping[Sequence[int], int],
        purpose: Purpose = Purpose.CHECKPOINT,
    ) -> None:
        """Propose a time to each part of the topology; the attempt before it is void, so nobody takes a new
        time for that one's.

        Args:
            number: the id of the checkpoint.
            times_us: by part of the topology.
            purpose: what is to happen there.
        """
        attempt = self.attempt + 1
        self._registers[self._state + 1] = number
        self._registers[self._state + 2] = purpose
        for part, register in self._times.items():
            self._registers[register] = times_us[part]
        self._set(attempt, CutState.PROPOSED)

    def decide(self) -> None:
        """All have accepted."""
        self._set(self.attempt, CutState.DECIDED)

    def make_void(self) -> None:
        """The attempt is over."""
        self._set(self.attempt, CutState.VOID)

    def told_us(self, task: int) -> int:
        """How far a source has told its consumers that it is, as event time in microseconds."""
        return self._registers[self._said[task]] or LEAST.ts

    def answer_of(self, task: int) -> int | None:
        """How far a source was when it has answered; None as long as it has not."""
        first, attempt = self._said[task], self.attempt
        return self._registers[first + 2] if attempt and self._registers[first + 1] == attempt else None

    def time_us(self, task: int) -> int:
        """The time that was proposed to a source."""
        return self._registers[self._time_of[task]]

    def has_passed(self, task: int) -> bool:
        """Whether a source has brought everything before the cut."""
        return self._registers[self._said[task] + 3] == self.attempt

    def last_us(self, task: int) -> int:
        """The last event time of a source that belongs to the checkpoint."""
        return last_us_before(self.place(task, self.attempt, self.time_us(task)))

    def _set(self, attempt: int, state: CutState) -> None:
        self._registers[self._state] = attempt << 2 | state

    # -- a task

    def read(self, task: int) -> tuple[int, Proposal]:
        """The word of the record, and what it says to a task."""
        while True:
            word = self.word
            if word & 3 == CutState.VOID or task not in self._time_of:
                return word, NO_PROPOSAL
            number, until_us = self._registers[self._state + 1], self._registers[self._time_of[task]]
            proposal = Proposal(word >> 2, CutState(word & 3), number, until_us, self._purpose)
            if self.word == word:
                return word, proposal

    def place(self, task: int, attempt: int, until_us: int) -> Position:
        """The position below which everything belongs to the checkpoint, for whoever has seen all that its
        sources had published: a source may set it lower than at the end of the time."""
        first = self._said[self._source_of[task]] + 3
        if self._registers[first] != attempt:
            return Position(until_us + 1, 0, 0)
        ts, hi, lo = (self._registers[first + index] for index in (1, 2, 3))
        return Position(ts, hi & _WORD, lo & _WORD)

    # -- a source

    def tell(self, task: int, time_us: int) -> None:
        """A source has told its consumers that it is so far."""
        self._registers[self._said[task]] = time_us

    def answer(self, task: int, attempt: int, time_us: int) -> None:
        """A source was so far when it was asked; it is bound by that."""
        first = self._said[task]
        self._registers[first + 2] = time_us
        self._registers[first + 1] = attempt

    def pass_at(self, task: int, attempt: int, place: Position) -> None:
        """A source has brought all rows below a position, where the cut is for its consumers."""
        first = self._said[task] + 3
        self._registers[first + 1] = place.ts
        self._registers[first + 2], self._registers[first + 3] = _signed(place.hi), _signed(place.lo)
        self._registers[first] = attempt

    def is_alone(self, task: int) -> bool:
        """Whether a source's tuples meet those of no other."""
        return (task,) in self._times


def last_us_before(place: Position) -> int:
    """The last event time at which a tick stands below a position."""
    return place.ts if place.hi or place.lo else place.ts - 1


def before_ticks(position: Position) -> Position:
    """A position with all ticks below that something may still come at.

    At the beginning of a microsecond this is the end of the one before: what ticks at the later one lead to
    would stand behind the cut of a checkpoint here, and be missing.
    """
    if position in (LEAST, END) or position.hi or position.lo:
        return position
    return Position(position.ts - 1, _WORD, _WORD)


def before_us(position: Position) -> int:
    """The event time in microseconds before which everything lies below a position."""
    return position.ts + (position.hi == position.lo == _WORD)


def _signed(word: int) -> int:
    return word - 2**64 if word >> 63 else word


def _source_above(plan: Plan, task: int) -> int | None:
    """A source of a part whose tuples come to a bolt, over whichever others."""
    members = {source for part in plan.aligned_sources for source in part}
    seen, todo = set[int](), [task]
    while todo:
        one = todo.pop()
        if one in members:
            return one
        if one not in seen and plan.tasks[one - 1].role is Role.BOLT:
            seen.add(one)
            todo += plan.channel_of(one).sources
    return None
