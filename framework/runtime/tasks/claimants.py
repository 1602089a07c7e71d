"""A task's part among the tasks of a bolt that claim its key groups: what it gives up, and where all wait.

A checkpoint has each key as all tuples before its cut have left it, so all tasks come to the cut first. They
continue when all have written their part of the keys. Nobody has a key group meanwhile, and each task saves
those that it would have if tuples were dealt out. At the end of the input, all wait for the last one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    def give_up(self) -> None:
        """Give up all key groups of which nothing is left, as all delivered tuples are committed."""
        self._claimant.release(self._delivered())

    def stand(self, attempt: int) -> bool:
        """Stand at the cut of an attempt, with all before it committed; true if all tasks do."""
        return self._have_come(_STANDS, attempt)

    def has_written(self, attempt: int) -> bool:
        """Note that the task's part of the keys is written; true if all parts are."""
        return self._have_come(_HAS_WRITTEN, attempt)

    def end(self) -> bool:
        """Stand at the end of the input; true if all tasks do."""
        return self.stand(ENDED)

    def _have_come(self, step: int, attempt: int) -> bool:
        registers = self._registers
        mine = REGISTERS_OF_CLAIMANT * self._claimant.index + step
        if registers[mine] != attempt:
            registers[mine] = attempt
            for bell in self._others:
                bell.ring()
        return all(registers[each] >= attempt for each in range(step, len(registers), REGISTERS_OF_CLAIMANT))
