"""How much of what all spouts may emit together one task has been granted."""

from __future__ import annotations

from viper.quota import Quota


class Allowance:
    """A task's part of the quota: taken before the spout is asked, used as it emits, given back afterwards.

    Args:
        quota: bounds how much all spouts emit together.
    """

    def __init__(self, quota: Quota) -> None:
        self._quota = quota
        self._is_limited = quota.left is not None
        self._granted = 0

    def take(self, count: int) -> int:
        """Ask for so many tuples; returns how many may be emitted, beyond those granted before."""
        granted = self._quota.take(count) if self._is_limited else count
        self._granted += granted
        return granted

    def use(self, count: int) -> None:
        """So many tuples were emitted; less are granted from now on, where one call has emitted that many."""
        granted = count if count < self._granted else self._granted
        self._granted -= granted
        if self._is_limited:
            self._quota.settle(granted, count)

    def give_back(self) -> int:
        """Give back what is granted and has not been used; returns how much that was."""
        granted, self._granted = self._granted, 0
        if self._is_limited:
            self._quota.settle(granted, 0)
        return granted
