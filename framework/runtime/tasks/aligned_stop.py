"""The stop of a task of a partitioned spout: together with the others, at one event time."""

from __future__ import annotations

from collections.abc import Sequence

from framework.runtime.coordination.source_cut import QUIET_S, QUIET_TURNS
from viper.arena import Arena
from viper.partitions import NO_LIMIT
from viper.registers import Registers

OF_THE_DRAIN = 0.25
"""The share of the drain time that an aligned stop may take. Whoever asks for an end does not want to wait,
and a task can be far ahead: the tuples of a stream with few rows lie in its channel before others come to
them."""


class StopTimes:
    """The event times that tasks had come to when a run was to drain; the latest of each group is the cut.

    Args:
        registers: two for each task: its time, and whether it has stated one.
        groups: the ids of the tasks that stop together, group by group.
    """

    def __init__(self, registers: Registers, groups: Sequence[Sequence[int]]) -> None:
        self._registers = registers
        self._groups = {task: group for group in groups for task in group}
        self._firsts = {task: 2 * index for index, task in enumerate(self._groups)}

    @classmethod
    def create(cls, arena: Arena, groups: Sequence[Sequence[int]]) -> StopTimes:
        """Make some that nobody has stated; ArenaError if the arena has no room for them."""
        return cls(Registers.create(arena, 2 * sum(map(len, groups))), groups)

    @classmethod
    def attach(cls, arena: Arena, offset: int, groups: Sequence[Sequence[int]]) -> StopTimes:
        """The times at an offset; ArenaError if nothing was allocated there."""
        return cls(Registers.attach(arena, offset, 2 * sum(map(len, groups))), groups)

    @staticmethod
    def size(groups: Sequence[Sequence[int]]) -> int:
        """Bytes that they take of an arena."""
        return Registers.size(2 * sum(map(len, groups)))

    @property
    def offset(self) -> int:
        """Their offset in their arena."""
        return self._registers.offset

    def has(self, task: int) -> bool:
        """True if a task stops together with others."""
        return task in self._groups

    def state(self, task: int, time_us: int) -> None:
        """State the time that a task has reached; it goes no further before all have stated theirs.

        Its first time counts: who takes the place of one that died is bound by it.
        """
        first = self._firsts[task]
        if not self._registers[first + 1]:
            self._registers[first] = time_us
            self._registers[first + 1] = 1

    def cut_us(self, task: int) -> int | None:
        """The time at which a task and its group stop; None as long as one of them has not stated its own."""
        firsts = [self._firsts[member] for member in self._groups[task]]
        if not all(self._registers[first + 1] for first in firsts):
            return None
        return max(self._registers[first] for first in firsts)


class AlignedStop:
    """Lets a task continue, when the run is to drain, until it has brought all rows before the stop time.

    Each task reports how far it has come, and rests until all have; then those that are behind catch up. So
    the run has brought all rows up to one event time, and nothing behind it.

    Args:
        times: where the tasks agree on the stop time.
        task: id of this one; it stops by itself if no group has it.
        longest_s: seconds that all of this may take; then the task stops where it is.
    """

    def __init__(self, times: StopTimes, task: int, longest_s: float) -> None:
        self._times = times if times.has(task) else None
        self._task = task
        self._longest_s = longest_s
        self._asked_s: float | None = None
        self._quiet_since_s = 0.0
        self._quiet_turns = 0

    @property
    def asked(self) -> bool:
        """True if the run is to drain."""
        return self._asked_s is not None

    @property
    def until_us(self) -> int | None:
        """Event time in microseconds up to which rows are wanted; None: none for now."""
        if not self.asked or self._times is None:
            return NO_LIMIT
        return self._times.cut_us(self._task)

    def ask(self, now_s: float) -> None:
        """Note that the run is to drain, from this monotonic time in seconds on."""
        self._asked_s = now_s
        self._quiet_turns = 0

    def report(self, time_us: int) -> None:
        """Report that all rows brought lie up to this event time, and that more come only until the cut."""
        if self._times is not None:
            self._times.state(self._task, time_us)

    def leave(self) -> None:
        """Stop for itself; the others may go by what it has said."""
        self._times = None

    def brought(self, count: int, now_s: float) -> None:
        """Note that so many rows have come in a turn; waiting for the others' statements does not count."""
        if count or self.until_us is None:
            self._quiet_turns = 0
            return
        if not self._quiet_turns:
            self._quiet_since_s = now_s
        self._quiet_turns += 1

    def is_there(self, next_us: int, now_s: float) -> bool:
        """True if a task stops here.

        Args:
            next_us: no row that may still come is earlier than this event time.
            now_s: monotonic time in seconds.
        """
        if self._asked_s is None or self._times is None:
            return True
        at_us = self._times.cut_us(self._task)
        if at_us is not None and next_us > at_us:
            return True
        quiet = self._quiet_turns >= QUIET_TURNS and now_s - self._quiet_since_s >= QUIET_S
        return quiet or now_s - self._asked_s >= self._longest_s
