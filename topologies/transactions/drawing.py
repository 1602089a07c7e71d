"""Numbers that are drawn by Zipf's law, and keys of records that lie in partitions."""

from dataclasses import dataclass

import numpy as np


class Zipf:
    """Draws numbers from 0 on: the number n comes as often as 1 / (n + 1) ** skew has a share of all.

    Args:
        count: how many numbers there are.
        skew: 0 for all alike, to 1.

    Raises:
        ValueError: there is no number, or the skew is not within 0 to 1.
    """

    def __init__(self, count, skew):
        if count < 1:
            raise ValueError(f"{count} numbers to draw from: expected 1 or more")
        if not 0 <= skew <= 1:
            raise ValueError(f"skew {skew!r}: expected 0 to 1")
        shares = 1.0 / np.arange(1, count + 1) ** skew
        self._sums = np.cumsum(shares / shares.sum())[:-1]

    def draw(self, chance, shape):
        """An array of that shape, drawn from a generator of NumPy."""
        return np.searchsorted(self._sums, chance.random(shape), side="right")


@dataclass(frozen=True)
class Access:
    """The choice of the records that transactions name.

    The partition of a record is its key modulo the number of partitions. Most transactions stay in one, which
    is drawn evenly. Within each partition records come by Zipf's law, those with the lowest keys most often;
    so with a single partition all records do.
    """

    records: int = 10_000
    skew: float = 0.6
    """Of Zipf's law, from 0 to 1."""
    partitions: int = 16
    multiple_share: float = 0.25
    """The share of transactions that name records of several partitions."""
    multiple_length: int = 4
    """The number of partitions that these name, if they name as many records."""
    distinct: bool = True
    """True if no transaction names a record of a table twice."""

    def __post_init__(self):
        if self.partitions < 1 or self.records % self.partitions:
            raise ValueError(
                f"{self.records:,} records in {self.partitions} partitions: expected as many in each of them"
            )
        if not 0 <= self.multiple_share <= 1:
            raise ValueError(f"multiple_share {self.multiple_share!r}: expected 0 to 1")
        if self.multiple_share and not 1 <= self.multiple_length <= self.partitions:
            raise ValueError(
                f"transactions over {self.multiple_length} of {self.partitions} partitions: expected 1 to all"
            )


class Keys:
    """Draws the keys of transactions.

    Args:
        access: which ones.
        accesses: how many a transaction names at most.

    Raises:
        ValueError: a partition has fewer records, and they have to be distinct.
    """

    def __init__(self, access, accesses):
        size = access.records // access.partitions
        if access.distinct and accesses > size:
            raise ValueError(
                f"{accesses} distinct records out of {size} in a partition: have more records or fewer "
                "partitions, or say distinct=False"
            )
        self._access = access
        self._zipf = Zipf(size, access.skew)

    def draw(self, chance, count, accesses):
        """Keys of so many transactions, with a row for each; they may be equal, see `distinct`."""
        access = self._access
        partition = chance.integers(0, access.partitions, count)[:, None]
        is_multiple = chance.random(count) < access.multiple_share
        steps = np.where(is_multiple[:, None], np.arange(accesses) % access.multiple_length, 0)
        ranks = self._zipf.draw(chance, (count, accesses))
        return ranks * access.partitions + (partition + steps) % access.partitions

    def distinct(self, keys):
        """Keys of which no row has one twice, if that was asked for; these are changed."""
        if self._access.distinct:
            twice = (np.diff(np.sort(keys, axis=1), axis=1) == 0).any(axis=1)
            keys[twice] = self._moved(keys[twice])
        return keys

    def _moved(self, keys):
        for place in range(1, keys.shape[1]):
            while (again := (keys[:, :place] == keys[:, place, None]).any(axis=1)).any():
                # The next one of the same partition.
                keys[again, place] += self._access.partitions
                keys[again, place] %= self._access.records
        return keys
