"""What a reader has lent of its sources' stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from viper.columns.lease import Lease

_SHARE: Final = 2
"""At most one half of a store is lent, so that its source can write into the other half meanwhile."""
LEAST_BYTES: Final = 64 * 1024
"""What is smaller is copied: a lease takes 2 us, in which so much is copied as well."""


class Loans:
    """The leases of one reader: what is lent comes back before the room that it lies in is released.

    Args:
        sources: how many sources the reader has.
        store_bytes: the bytes that each of them has for payloads.
    """

    __slots__ = ("_due", "_left", "_lent", "_most")

    def __init__(self, sources: int, store_bytes: int) -> None:
        self._most = store_bytes // _SHARE
        self._lent = [0] * sources
        self._due: list[tuple[int, Lease]] = []
        self._left = 0

    @property
    def are_due(self) -> bool:
        """True if anything that was lent has been delivered to its end."""
        return bool(self._due)

    @property
    def due(self) -> int:
        """How many leases have been delivered to their end and have not ended."""
        return len(self._due)

    def limit(self, tuples: int) -> int:
        """The most tuples to be taken at once, out of so many: what is left of a jumbo tuple that was lent.

        With more it would be put together for the component, and what is put together is copied.
        """
        return min(tuples, self._left or tuples)

    def allow(self, source: int, size: int) -> bool:
        """True if so many more bytes of a source's store may be lent."""
        return size >= LEAST_BYTES and self._lent[source] + size <= self._most

    def lend(self, source: int, lease: Lease) -> None:
        """Note that a jumbo tuple of a source's was lent."""
        self._lent[source] += lease.size

    def delivered(self, source: int, lease: Lease, left: int) -> None:
        """Note that all tuples of a lease but so many have been delivered."""
        self._left = left
        if not left:
            self._due.append((source, lease))

    def put_back(self, lease: Lease, left: int) -> None:
        """Note that so many tuples of a lease are still to come, some of which had been delivered."""
        self._due = [found for found in self._due if found[1] is not lease]
        self._left = left

    def end(self) -> Lease | None:
        """End the leases that are due; returns the first that does not, as something refers to its memory."""
        while self._due:
            source, lease = self._due[-1]
            if not lease.end():
                return lease
            self._lent[source] -= lease.size
            self._due.pop()
        return None

    def forget(self, since: int) -> None:
        """Give up the leases that have become due behind so many others, as nobody will see their tuples."""
        for source, lease in self._due[since:]:
            self._lent[source] -= lease.size
        del self._due[since:]
