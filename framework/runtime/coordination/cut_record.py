"""The cuts of a run: times on which its sources agree to save, to change its tasks, or to end.

The leader of the run proposes a time. Each source answers with the event time up to which it has informed its
consumers. If that is not beyond the proposed time, it has accepted, and brings nothing beyond before there is
a decision. If all have accepted, the time is decided; if one is ahead, the proposal is void, and the leader
makes another one. After the decision, a source resumes as it passes the time. So whoever sees a row behind
the cut, or a promise that all below it has come, and looks at the record only then, also sees the decision.

A run that is suspended ends at its cut. Its sources are to stop soon, so nobody proposes a time: each source
brings no more as it answers, and the latest answer among sources whose tuples meet is decided. The sources
wait at it. When all have reached it, the leader closes the run, unless the end of a bolt has begun meanwhile.

A run that drains has such a cut for the tasks of partitioned spouts, which end there. A drain does not wait
for ever: the leader releases them after a time, and each ends where it is.

All of this is said in registers in shared memory, each of which one task writes, or the leader. The death of
a worker process makes a proposal void before a successor begins. It does not where key groups may have been
handed over, where the run is closed, or where sources may have ended at the cut of a drain: the successor is
bound by what the dead process has said.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from framework.model.topology import Role
from framework.planning import Plan
from viper.arena import Arena
from viper.partitions import NO_LIMIT
from viper.position import END, LEAST, Position
from viper.registers import Registers

ENDED = 2**63 - 1
"""The attempt in the report of a task that has come to its end: it counts for every one."""
_CLOSING_PAUSE_S = 0.0002
_OF_THE_LEADER = 5
_OF_A_SOURCE = 9
_BITS = 3
"""Of the word, for the state."""
_STATE = 2**_BITS - 1
_WORD = 2**64 - 1


class CutState(enum.IntEnum):
    """The state of a proposal."""

    VOID = 0
    """It binds nobody: there was none, it was given up, or what it was made for is done."""
    PROPOSED = 1
    """The sources answer; nobody who has accepted goes beyond the time."""
    DECIDED = 2
    """The cut is decided."""
    CLOSING = 3
    """All sources wait at the cut that ends the run; the leader checks whether a bolt has begun its
    end."""
    CLOSED = 4
    """The run ends at the cut, but its input does not. This is final."""


class Purpose(enum.IntEnum):
    """The reason for a cut, which determines the work of each task there."""

    CHECKPOINT = 0
    """Every task saves itself."""
    RECONFIGURATION = 1
    """Tasks of bolts with state by key hand key groups over to one another. Once decided, it is final:
    rows after the cut may have been divided in the new way already."""
    SUSPENSION = 2
    """The run ends there, and another one resumes. The proposal has no time: the latest answer becomes it."""
    DRAIN = 3
    """The tasks of partitioned spouts end there. The proposal has no time either; the decision is final."""

    @property
    def stops(self) -> bool:
        """True if each source brings no more as it answers, and nothing after the cut."""
        return self in (Purpose.SUSPENSION, Purpose.DRAIN)


class Proposal(NamedTuple):
    """The leader's proposal to the sources that a task has its tuples from."""

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
    """The registers in which the leader proposes and decides, sources answer, and bolts say that they end.

    Args:
        registers: `count` of them.
        plan: says which sources agree on one time together.
    """

    def __init__(self, registers: Registers, plan: Plan) -> None:
        self._registers = registers
        """The leader's are the first: attempt and state, the number, the purpose, the checkpoint that was
        completed last, and whether it waits for no source any more in a drain."""
        parts = plan.aligned_sources
        sources = [task for part in parts for task in part]
        bolts = [task.id for task in plan.tasks if task.role is Role.BOLT]
        self._times = {part: _OF_THE_LEADER + index for index, part in enumerate(parts)}
        """By part of the topology the register of its time."""
        self._drained = frozenset(plan.drained_at_cut)
        """The sources that end at the cut of a drain."""
        behind = _OF_THE_LEADER + len(parts)
        self._said = {task: behind + _OF_A_SOURCE * index for index, task in enumerate(sources)}
        """By source the first of its registers.

        First comes its progress as its consumers know it. Then come the attempt that it has answered and its
        progress at that time, the attempt in which it has passed the cut, and three words of that position.
        The last two say whether it has ended, and its progress then.
        """
        behind += _OF_A_SOURCE * len(sources)
        self._ends = {task: behind + index for index, task in enumerate(bolts)}
        """By bolt the register that says whether its last entries have begun."""
        self._time_of = {task: self._times[part] for part in parts for task in part}
        """By task the register of its time."""
        self._source_of: dict[int, int] = {task: task for task in sources}
        """By task a source whose tuples come to it."""
        for task in plan.tasks:
            source = _source_above(plan, task.id) if task.role is Role.BOLT else None
            if source is not None:
                self._source_of[task.id] = source
                self._time_of[task.id] = self._time_of[source]

    @classmethod
    def create(cls, arena: Arena, plan: Plan) -> CutRecord:
        """Make one in which nothing was said; ArenaError if the arena has no room for it."""
        return cls(Registers.create(arena, cls._count(plan)), plan)

    @classmethod
    def attach(cls, arena: Arena, offset: int, plan: Plan) -> CutRecord:
        """The one at an offset; ArenaError if nothing was allocated there."""
        return cls(Registers.attach(arena, offset, cls._count(plan)), plan)

    @classmethod
    def size(cls, plan: Plan) -> int:
        """Bytes that it takes of an arena."""
        return Registers.size(cls._count(plan))

    @staticmethod
    def _count(plan: Plan) -> int:
        parts = plan.aligned_sources
        bolts = sum(1 for task in plan.tasks if task.role is Role.BOLT)
        return _OF_THE_LEADER + len(parts) + _OF_A_SOURCE * sum(map(len, parts)) + bolts

    @property
    def offset(self) -> int:
        """Its offset in its arena."""
        return self._registers.offset

    def source_of(self, task: int) -> int | None:
        """A source whose tuples come to a task; None where none do."""
        return self._source_of.get(task)

    @property
    def word(self) -> int:
        """A number that is another one whenever the leader has said something."""
        return self._registers[0]

    @property
    def attempt(self) -> int:
        """The number of the last proposal; 0 before the first."""
        return self.word >> _BITS

    @property
    def state(self) -> CutState:
        """The state of the last proposal."""
        return CutState(self.word & _STATE)

    @property
    def number(self) -> int:
        """The id of the checkpoint that the last proposal is made for."""
        return self._registers[1]

    @property
    def completed(self) -> int:
        """The id of the last checkpoint that exists; 0 for none of this run."""
        return self._registers[3]

    def is_decided_on(self, attempt: int) -> bool:
        """True if the cut of an attempt is decided, and its work is not over."""
        return self.word == attempt << _BITS | CutState.DECIDED

    @property
    def is_reconfiguring(self) -> bool:
        """True if a reconfiguration is decided, and not carried out as yet."""
        return self.state is CutState.DECIDED and self._purpose is Purpose.RECONFIGURATION

    @property
    def is_final(self) -> bool:
        """True if the cut stays decided although a process dies: others may have acted on it."""
        return self.state is CutState.DECIDED and self._purpose in (Purpose.RECONFIGURATION, Purpose.DRAIN)

    @property
    def is_released(self) -> bool:
        """True if each source ends where it is in a drain."""
        return bool(self._registers[4])

    def ends_at_drain(self, task: int) -> bool:
        """True if a task is a source that ends at the cut of a drain."""
        return task in self._drained

    @property
    def is_open_for_reconfiguration(self) -> bool:
        """True if a reconfiguration is proposed, and not decided as yet."""
        return self.state is CutState.PROPOSED and self._purpose is Purpose.RECONFIGURATION

    @property
    def _purpose(self) -> Purpose:
        return Purpose(self._registers[2])

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
        self._registers[1] = number
        self._registers[2] = purpose
        self._set_times(times_us)
        self._set(attempt, CutState.PROPOSED)

    def decide(self, times_us: Mapping[Sequence[int], int] | None = None) -> None:
        """Decide the cut, as all have accepted.

        Args:
            times_us: the time for each part of the topology, where sources stop as they answer.
        """
        self._set_times(times_us or {})
        self._set(self.attempt, CutState.DECIDED)

    def _set_times(self, times_us: Mapping[Sequence[int], int]) -> None:
        for part, register in self._times.items():
            if part in times_us:
                self._registers[register] = times_us[part]

    def make_void(self) -> None:
        """End the attempt, unless it has closed the run."""
        if self.state is not CutState.CLOSED:
            self._set(self.attempt, CutState.VOID)

    def close(self) -> Sequence[int]:
        """End the run where all sources are; returns the bolts whose end has begun, which prevents it."""
        self._set(self.attempt, CutState.CLOSING)
        ending = self.ending()
        self._set(self.attempt, CutState.VOID if ending else CutState.CLOSED)
        return ending

    def release(self) -> None:
        """Have each source end where it is in a drain."""
        self._registers[4] = 1

    def ending(self) -> Sequence[int]:
        """The bolts whose end has begun."""
        return [task for task, register in self._ends.items() if self._registers[register]]

    def complete(self, number: int) -> None:
        """Note that the checkpoint of that id exists."""
        self._registers[3] = number

    def has_ended(self) -> bool:
        """True if all sources have brought all their rows."""
        return all(self._registers[first + 7] for first in self._said.values())

    def ended_us(self, task: int) -> int | None:
        """The event time that a source had come to when it ended; None if it has not."""
        first = self._said[task]
        return self._registers[first + 8] if self._registers[first + 7] else None

    def told_us(self, task: int) -> int:
        """The event time, in microseconds, that a source has reported to its consumers."""
        return self._registers[self._said[task]] or LEAST.ts

    def answer_of(self, task: int) -> int | None:
        """The time of a source when it answered; None as long as it has not."""
        first, attempt = self._said[task], self.attempt
        return self._registers[first + 2] if attempt and self._registers[first + 1] == attempt else None

    def time_us(self, task: int) -> int:
        """The time that was proposed to a source."""
        return self._registers[self._time_of[task]]

    def has_passed(self, task: int) -> bool:
        """True if a source has brought everything before the cut."""
        return self._registers[self._said[task] + 3] == self.attempt

    def last_us(self, task: int) -> int:
        """The last event time of a source that belongs to the checkpoint."""
        return last_us_before(self.place(task, self.attempt, self.time_us(task)))

    def _set(self, attempt: int, state: CutState) -> None:
        self._registers[0] = attempt << _BITS | state

    # -- a task

    def read(self, task: int) -> tuple[int, Proposal]:
        """The word of the record, and what it says to a task."""
        while True:
            word = self.word
            if word & _STATE == CutState.VOID or task not in self._time_of:
                return word, NO_PROPOSAL
            number, until_us = self._registers[1], self._registers[self._time_of[task]]
            proposal = Proposal(word >> _BITS, CutState(word & _STATE), number, until_us, self._purpose)
            if self.word == word:
                concerns = proposal.purpose is not Purpose.DRAIN or task in self._drained
                return word, proposal if concerns else NO_PROPOSAL

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
        """Note the event time that a source has promised to its consumers."""
        self._registers[self._said[task]] = time_us

    def answer(self, task: int, attempt: int, time_us: int) -> None:
        """Note the event time of a source when it was asked; it is bound by that."""
        first = self._said[task]
        self._registers[first + 2] = time_us
        self._registers[first + 1] = attempt

    def pass_at(self, task: int, attempt: int, place: Position) -> None:
        """Note that a source has brought all rows before a position, where the cut is for its consumers."""
        first = self._said[task] + 3
        self._registers[first + 1] = place.ts
        self._registers[first + 2], self._registers[first + 3] = _signed(place.hi), _signed(place.lo)
        self._registers[first] = attempt

    def is_alone(self, task: int) -> bool:
        """True if a source's tuples meet those of no other."""
        return (task,) in self._times

    def end(self, task: int, time_us: int) -> None:
        """Note that a source has brought all its rows, and ends."""
        first = self._said[task]
        if not self._registers[first + 7]:  # else a process has said so that has died since
            self._registers[first + 8] = time_us
            self._registers[first + 7] = 1

    # -- a bolt

    def may_end(self, task: int) -> bool:
        """True if a bolt whose input is over now does the work that is due at the end of its input.

        It is not over where the run was closed. Either the leader sees that the bolt has begun its end, or
        the bolt sees that the run is closed. While a reconfiguration is proposed, the bolt waits until the
        leader decides it or gives it up.
        """
        self._registers[self._ends[task]] = 1
        while self.state is CutState.CLOSING or self.is_open_for_reconfiguration:
            time.sleep(_CLOSING_PAUSE_S)
        return self.state is not CutState.CLOSED

    def closed_at(self, task: int) -> Position:
        """The position below which a closed run has processed everything, for a bolt.

        The bolt may see nothing but the end of its input: a source ends right behind its last promise.
        """
        if task not in self._source_of:
            return LEAST
        return self.place(task, self.attempt, self.time_us(task))


class InputEnd:
    """The end of a bolt's input: that of this run, or of the whole input of several runs.

    Args:
        record: of the run; None where no run is ever closed before its input ends.
        task: id of the bolt's task.
    """

    def __init__(self, record: CutRecord | None = None, task: int = 0) -> None:
        self._record = record
        self._task = task

    def may_end(self) -> bool:
        """True if the end of the task's input is final, and is not that of a suspension."""
        return self._record is None or self._record.may_end(self._task)

    def closed_at(self) -> Position:
        """If `may_end` is False, return the position before which the run has processed everything."""
        return LEAST if self._record is None else self._record.closed_at(self._task)


def last_us_before(place: Position) -> int:
    """Return the last event time at which a tick lies below a position."""
    return place.ts if place.hi or place.lo else place.ts - 1


def before_ticks(position: Position) -> Position:
    """Return a position before all ticks whose outputs may still come at or after it.

    At the beginning of a microsecond this is the end of the one before. The outputs of ticks at the later one
    would lie after the cut of a checkpoint here, and be missing.
    """
    if position in (LEAST, END) or position.hi or position.lo:
        return position
    return last_at(position.ts - 1)


def last_at(time_us: int) -> Position:
    """Return the last position of an event time in microseconds."""
    return Position(time_us, _WORD, _WORD)


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
