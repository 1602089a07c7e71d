"""How a run is suspended at one event time: all before it is processed, and nothing behind it.

The leader of the run asks. Each source says once how far its consumers have been told that it is, and brings
no more. The latest of these times, among sources whose tuples meet, is theirs: those that are behind bring
their rows up to it, and then say that they are there. When all are, the leader closes the run, unless the
last ticks of a bolt have fired meanwhile. Otherwise it gives the attempt up, and the sources go on as if
nothing had been. A checkpoint of a run that goes on needs no stop: see `cut_record`.

All of this is said in registers in shared memory, each of which one task writes, or the leader. So whoever
takes the place of a task that died finds what that has said, and is bound by it.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Iterator, Sequence

from framework.model.topology import Role
from framework.planning import Plan
from framework.runtime.coordination.cut_record import CutRecord
from viper.arena import Arena
from viper.partitions import NO_LIMIT
from viper.position import LEAST, Position
from viper.registers import Registers

ENDED = 2**63 - 1
"""What a source that has brought all its rows has answered: every attempt."""
QUIET_S = 1.0
"""Seconds without a row after which a source stands still."""
QUIET_TURNS = 10
"""As many times it must have been asked by then: a busy machine is no source that stands still."""
_CLOSING_PAUSE_S = 0.0002
_EACH = 6
"""Registers of a source."""
_WORD = 2**64 - 1


class Stage(enum.IntEnum):
    """What the leader wants."""

    NOTHING = 0
    """The run goes on; an attempt that there was is given up."""
    ENDING = 1
    """The sources are to agree on a time, come there and wait, as the run is to end there."""
    CLOSING = 2
    """All are there; the leader looks whether any bolt has had its last tick."""
    CLOSED = 3
    """The run ends here, but its input does not."""


class Alignment:
    """The registers in which the leader, the sources and the bolts of a run agree where it is suspended.

    Args:
        registers: `count` of them.
        plan: says which sources come to one time together.
    """

    def __init__(self, registers: Registers, plan: Plan) -> None:
        self._registers = registers
        self._groups = plan.aligned_sources
        sources = [task for group in plan.aligned_sources for task in group]
        bolts = [task.id for task in plan.tasks if task.role is Role.BOLT]
        self._said = {task: 3 + _EACH * index for index, task in enumerate(sources)}
        """By source the first of its registers: the attempt it has answered, its time, the attempt in which
        it is there, and the three words of the position below which it has brought everything then."""
        self._ends = {task: 3 + _EACH * len(sources) + index for index, task in enumerate(bolts)}
        """By bolt the register that says whether its last entries have begun."""
        self.cut = CutRecord(registers, 3 + _EACH * len(sources) + len(bolts), plan)
        """Where a checkpoint is cut while the run goes on."""

    @classmethod
    def create(cls, arena: Arena, plan: Plan) -> Alignment:
        """Make one in which nothing was said; ArenaError if the arena has no room for it."""
        return cls(Registers.create(arena, cls._count(plan)), plan)

    @classmethod
    def attach(cls, arena: Arena, offset: int, plan: Plan) -> Alignment:
        """The one at an offset; ArenaError if nothing was allocated there."""
        return cls(Registers.attach(arena, offset, cls._count(plan)), plan)

    @classmethod
    def size(cls, plan: Plan) -> int:
        """Bytes that it takes of an arena."""
        return Registers.size(cls._count(plan))

    @staticmethod
    def _count(plan: Plan) -> int:
        bolts = sum(1 for task in plan.tasks if task.role is Role.BOLT)
        return 3 + _EACH * sum(map(len, plan.aligned_sources)) + bolts + CutRecord.count(plan)

    @property
    def offset(self) -> int:
        """Where it lies in its arena."""
        return self._registers.offset

    @property
    def stage(self) -> Stage:
        """What the leader wants now."""
        return Stage(self._registers[0] & 3)

    @property
    def attempt(self) -> int:
        """The number of the last attempt, from 1; 0 before the first."""
        return self._registers[0] >> 2

    @property
    def number(self) -> int:
        """The id of the checkpoint that the last attempt is made for."""
        return self._registers[1]

    @property
    def completed(self) -> int:
        """The id of the last checkpoint that exists; 0 for none of this run."""
        return self._registers[2]

    # -- the leader

    def ask(self, number: int) -> None:
        """Begin an attempt for the checkpoint of that id, with which the run is to end."""
        self._registers[1] = number
        self._set(self.attempt + 1, Stage.ENDING)

    def complete(self, number: int) -> None:
        """The checkpoint of that id exists."""
        self._registers[2] = number

    def give_up(self) -> None:
        """End the attempt; the sources go on."""
        self._set(self.attempt, Stage.NOTHING)

    def close(self) -> Sequence[int]:
        """End the run where all sources are; returns the bolts whose end has begun, which prevents it."""
        self._set(self.attempt, Stage.CLOSING)
        ending = self.ending()
        self._set(self.attempt, Stage.NOTHING if ending else Stage.CLOSED)
        return ending

    def ending(self) -> Sequence[int]:
        """The bolts whose end has begun."""
        return [task for task, register in self._ends.items() if self._registers[register]]

    def laggards(self) -> Iterator[int]:
        """The sources that have not come to the time of the attempt, as far as they have not ended."""
        attempt = self.attempt
        for task, first in self._said.items():
            is_there = self._registers[first + 2] == attempt and self.agreed(task) is not None
            if self._registers[first] != ENDED and not is_there:
                yield task

    def has_ended(self) -> bool:
        """Whether all sources have brought all their rows."""
        return all(self._registers[first] == ENDED for first in self._said.values())

    def ended_us(self, task: int) -> int | None:
        """The event time that a source had come to when it ended; None if it has not."""
        first = self._said[task]
        return self._registers[first + 1] if self._registers[first] == ENDED else None

    def agreed(self, task: int) -> int | None:
        """The time in microseconds that a source and those that it meets come to; None as long as it is
        open."""
        attempt, latest = self.attempt, -(2**63)
        for member in next(group for group in self._groups if task in group):
            first = self._said[member]
            if self._registers[first] not in (attempt, ENDED):
                return None
            latest = max(latest, self._registers[first + 1])
        return latest

    def _set(self, attempt: int, stage: Stage) -> None:
        self._registers[0] = attempt << 2 | stage

    # -- a source

    def answer(self, task: int, time_us: int) -> None:
        """A source says how far it is; in each attempt only its first answer counts."""
        attempt, first = self.attempt, self._said[task]
        if self._registers[first] not in (attempt, ENDED):
            self._registers[first + 1] = time_us
            self._registers[first] = attempt

    def arrive(self, task: int, place: Position) -> None:
        """A source has brought all rows below a position, and waits there."""
        first = self._said[task]
        self._registers[first + 3] = place.ts
        self._registers[first + 4], self._registers[first + 5] = _signed(place.hi), _signed(place.lo)
        self._registers[first + 2] = self.attempt

    def place(self, task: int) -> Position | None:
        """The position below which a source that is there has brought everything; None for any other."""
        first = self._said[task]
        if self._registers[first + 2] != self.attempt:
            return None
        ts, hi, lo = (self._registers[first + index] for index in (3, 4, 5))
        return Position(ts, hi & _WORD, lo & _WORD)

    def is_alone(self, task: int) -> bool:
        """Whether a source's tuples meet those of no other."""
        return (task,) in self._groups

    def end(self, task: int, time_us: int) -> None:
        """A source has brought all its rows, and ends; what it has answered in this attempt stands."""
        first = self._said[task]
        if self._registers[first] == ENDED:  # as said by a process that has died since
            return
        if self.stage is Stage.NOTHING or self._registers[first] != self.attempt:
            self._registers[first + 1] = time_us
        self._registers[first] = ENDED

    # -- a bolt

    def may_end(self, task: int) -> bool:
        """Whether a bolt whose input is over does now what is due at the end of its input.

        It is not over where the run was closed. Either the leader sees that the bolt has begun its end, or
        the bolt sees that the run is closed; or, that a reconfiguration is proposed, which the leader decides
        or gives up before the bolt goes on.
        """
        self._registers[self._ends[task]] = 1
        while self.stage is Stage.CLOSING or self.cut.is_open_for_reconfiguration:
            time.sleep(_CLOSING_PAUSE_S)
        return self.stage is not Stage.CLOSED

    def closed_at(self, task: int) -> Position:
        """The position below which a closed run has processed everything, for a bolt.

        The bolt may see nothing but the end of its input: a source ends right behind its last promise.
        """
        source = self.cut.source_of(task)
        agreed_us = LEAST.ts if source is None else self.agreed(source)
        if source is None or agreed_us is None:
            return LEAST
        place = self.place(source) if self.is_alone(source) else None
        return Position(agreed_us + 1, 0, 0) if place is None else place


def _signed(word: int) -> int:
    return word - 2**64 if word >> 63 else word


class BoltAlignment:
    """What a bolt's task does for an alignment; by default, without checkpoints, there is none.

    Args:
        alignment: of the run.
        task: id of the task.
    """

    def __init__(self, alignment: Alignment | None = None, task: int = 0) -> None:
        self._alignment = alignment
        self._task = task

    def may_end(self) -> bool:
        """Whether the end of the task's input is also that of what the run is a part of."""
        return self._alignment is None or self._alignment.may_end(self._task)

    def closed_at(self) -> Position:
        """Where it is not: the position below which the run has processed everything."""
        return LEAST if self._alignment is None else self._alignment.closed_at(self._task)


class SourceAlignment:
    """What a source's task does for an alignment; by default, without checkpoints, there is none.

    Args:
        alignment: of the run.
        task: id of the task.
    """

    def __init__(self, alignment: Alignment | None = None, task: int = 0) -> None:
        self._alignment = alignment
        self._task = task
        self._said_us = LEAST.ts
        """How far consumers were told that the task was by a process before this one."""
        self._quiet_turns = 0
        self._quiet_since_s = 0.0

    def go_on_behind(self, time_us: int) -> None:
        """The task goes on in the place of one that has told its consumers of this time."""
        self._said_us = time_us

    @property
    def is_asked(self) -> bool:
        """Whether an attempt is going on, or the run was closed."""
        return self._alignment is not None and self._alignment.stage is not Stage.NOTHING

    def answer(self, time_us: int) -> None:
        """Say how far the task is, unless it has said so in this attempt; to be called while one goes on."""
        if self._alignment is not None:
            self._alignment.answer(self._task, max(time_us, self._said_us))

    @property
    def is_there(self) -> bool:
        """Whether the task waits, in the attempt that goes on, behind all that it is to bring."""
        asked = self._alignment is not None and self._alignment.stage is not Stage.NOTHING
        return asked and self._alignment is not None and self._alignment.place(self._task) is not None

    @property
    def attempt(self) -> int:
        """The number of the attempt."""
        return 0 if self._alignment is None else self._alignment.attempt

    @property
    def number(self) -> int:
        """The id of the checkpoint that the attempt is made for."""
        return 0 if self._alignment is None else self._alignment.number

    @property
    def until_us(self) -> int | None:
        """Event time in microseconds up to which rows are wanted; None: none for now."""
        if self._alignment is None or not self.is_asked:
            return NO_LIMIT
        return self._alignment.agreed(self._task)

    def brought(self, last: Position, behind: Position, now_s: float, *, waits: bool) -> None:
        """Say how much was brought, and tell the leader if that is all it waits for.

        A source that has nothing for now may stand still for hours at the very time agreed on, where a
        further row of that microsecond may come. The task is there all the same if no other source meets it:
        what it has brought lies below what it may bring. If others do, it is there after a second.

        Args:
            last: where the last row stands.
            behind: no row below this position is left to be brought.
            now_s: monotonic time in seconds.
            waits: whether a source had nothing for now.
        """
        until_us = self.until_us
        if self._alignment is None or self.is_there or until_us is None or until_us == NO_LIMIT:
            return
        if behind.ts > until_us:
            self._alignment.arrive(self._task, Position(until_us + 1, 0, 0))
        elif waits and last < behind and last.ts == until_us and self._alignment.is_alone(self._task):
            self._alignment.arrive(self._task, behind)
        elif self._is_quiet(waits and behind.ts == until_us, now_s):
            self._alignment.arrive(self._task, Position(until_us + 1, 0, 0))

    def _is_quiet(self, had_nothing: bool, now_s: float) -> bool:
        if self._alignment is None or self._alignment.stage is not Stage.ENDING:
            return False
        if not had_nothing:
            self._quiet_turns = 0
        elif not self._quiet_turns:
            self._quiet_since_s, self._quiet_turns = now_s, 1
        else:
            self._quiet_turns += 1
        return self._quiet_turns >= QUIET_TURNS and now_s - self._quiet_since_s >= QUIET_S

    def end(self, time_us: int) -> None:
        """The task has brought all its rows, the last of them at this event time."""
        if self._alignment is not None and self._alignment.stage is not Stage.CLOSED:
            self._alignment.end(self._task, max(time_us, self._said_us))
