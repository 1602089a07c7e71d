"""A task's part among the tasks of a bolt that claim its key groups: what it gives up, and where all wait.

A checkpoint has each key as all tuples before its cut have left it, so all tasks come to the cut first. They
continue when all have written their part of the keys. Nobody has a key group meanwhile, and each task saves
those that it would have if tuples were dealt out. At the end of the input, all wait for the last one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from framework.runtime.coordination.cut_record import ENDED
from framework.runtime.durability.state.memory import REGISTERS_OF_CLAIMANT
from viper.bell import Bell
from viper.registers import Registers
from viper.state import KeyClaimant

_STANDS: Final = 0
"""Of a task's registers the one for the attempt at whose cut it stands."""
_HAS_WRITTEN: Final = 1
"""The one for the attempt for which it has written its part."""
_WRITES: Final = 2
"""The one that is 1 as long as it writes."""


class Claimants:
    """The tasks that claim the key groups of one bolt, as one of them sees them.

    Args:
        claimant: the task, which has some of the key groups.
        registers: of all the tasks, `REGISTERS_OF_CLAIMANT` for each.
        delivered: returns the number of the tuples that were delivered to the task.
        others: the bells of those that run the other tasks.
    """

    def __init__(
        self,
        claimant: KeyClaimant,
        registers: Registers,
        delivered: Callable[[], int],
        others: Sequence[Bell],
    ) -> None:
        self._claimant = claimant
        self._registers = registers
        self._delivered = delivered
        self._others = tuple(others)
        if self._registers[self._register(_WRITES)]:
            self._note(_WRITES, 0)  # its predecessor has died meanwhile

    def give_up(self) -> None:
        """Give up all key groups of which nothing is left, as all delivered tuples are committed."""
        self._claimant.release(self._delivered())

    def stand(self, attempt: int) -> bool:
        """Stand at the cut of an attempt, with all before it committed; true if all tasks do."""
        return self._have_come(_STANDS, attempt)

    def has_written(self, attempt: int) -> bool:
        """Note that the task's part of the keys is written; true if all parts are."""
        return self._have_come(_HAS_WRITTEN, attempt)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While the block runs, in which the task writes its part of the keys, `are_writing` is true.

        A task that is to write has to find within the block that its checkpoint was not given up. Others may
        have continued before the block if it was.
        """
        self._registers[self._register(_WRITES)] = 1
        try:
            yield
        finally:
            self._note(_WRITES, 0)

    @property
    def are_writing(self) -> bool:
        """True if any task writes its part of the keys, which nobody may change then."""
        return any(self._of_all(_WRITES))

    def end(self) -> bool:
        """Stand at the end of the input; true if all tasks do."""
        return self.stand(ENDED)

    def _have_come(self, step: int, attempt: int) -> bool:
        if self._registers[self._register(step)] != attempt:
            self._note(step, attempt)
        return all(found >= attempt for found in self._of_all(step))

    def _note(self, step: int, number: int) -> None:
        self._registers[self._register(step)] = number
        for bell in self._others:
            bell.ring()

    def _register(self, step: int) -> int:
        return REGISTERS_OF_CLAIMANT * self._claimant.index + step

    def _of_all(self, step: int) -> Iterator[int]:
        registers = self._registers
        return (registers[each] for each in range(step, len(registers), REGISTERS_OF_CLAIMANT))
