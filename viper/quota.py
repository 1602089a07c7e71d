"""The quota: a budget that tasks of several processes share."""

from __future__ import annotations

from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena

_UNLIMITED: Final = 2**63 - 1


class Quota:
    """A number that is taken from until it is used up.

    `create` makes one, `attach` finds one that another process made.
    """

    __slots__ = ("_account", "_arena", "_quota", "offset")

    def __init__(self, arena: Arena, offset: int, account: int) -> None:
        self._arena = arena  # keeps the quota's memory
        self._quota: Any = ffi.cast("vp_quota *", arena._at(offset, lib.vp_quota_size(account + 1)))
        self._account: Any = lib.vp_quota_account(self._quota, account)
        self.offset = offset
        """Its offset in its arena."""

    @classmethod
    def create(cls, arena: Arena, limit: int | None, *, accounts: int = 1) -> Quota:
        """A new one, as the first of its accounts sees it.

        Args:
            arena: where its memory comes from.
            limit: None is no limit.
            accounts: how many processes take from it.

        Raises:
            ArenaError: the arena has no room for it.
            ValueError: the limit is below 0 or above 2**63 - 2.
        """
        if limit is not None and not 0 <= limit < _UNLIMITED:
            raise ValueError(f"limit={limit!r}: expected 0 to 2**63 - 2, or None")
        quota = cls(arena, arena.allocate(cls.size(accounts)), 0)
        lib.vp_quota_format(quota._quota, _UNLIMITED if limit is None else limit)
        return quota

    @classmethod
    def attach(cls, arena: Arena, offset: int, *, account: int = 0) -> Quota:
        """The one at an offset; ArenaError if nothing was allocated there.

        Args:
            arena: where it lies.
            offset: where it lies there.
            account: index of the account that this process takes on, or buries.
        """
        return cls(arena, offset, account)

    @staticmethod
    def size(accounts: int = 1) -> int:
        """Bytes that a quota takes of an arena."""
        return int(lib.vp_arena_rounded(lib.vp_quota_size(accounts)))

    def take(self, wanted: int) -> int:
        """Take as many as are wanted, or as are left; returns how many."""
        return int(lib.vp_account_take(self._quota, self._account, _count(wanted)))

    def settle(self, taken: int, spent: int) -> None:
        """Settle some of what was taken: the part that was not spent goes back.

        Args:
            taken: the number that is settled.
            spent: the number that was needed, which may be more.
        """
        lib.vp_account_settle(self._quota, self._account, _count(taken), _count(spent))

    def bury(self) -> None:
        """Return what the process of this account, which has died, had not settled.

        If the process died in the middle of taking or settling, a slice too much may go back, but not less.
        """
        lib.vp_account_bury(self._quota, self._account)

    @property
    def left(self) -> int | None:
        """The number that can still be taken; None if there is no limit."""
        left = int(lib.vp_quota_left(self._quota))
        return None if left == _UNLIMITED else left

    @property
    def used_up(self) -> bool:
        """True if all of it was spent. As long as it was not, parts that were taken may come back."""
        return bool(lib.vp_quota_used_up(self._quota))


def _count(count: int) -> int:
    if not 0 <= count < _UNLIMITED:
        raise ValueError(f"{count!r} of a quota: expected 0 to 2**63 - 2")
    return count
