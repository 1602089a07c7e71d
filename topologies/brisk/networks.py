"""The locations of addresses: a table of networks, each with a country and a city.

It is drawn from a seed and replaces GeoLite2, which may not be shipped: its locations do not exist, and say
nothing of real addresses. As in the original, the smallest network counts that an address lies in, there are
addresses in none, and the table does not change.
"""

from bisect import bisect_right

import numpy as np

ADDRESS_BITS = 32
LARGE, SMALL = 8, 24
"""Bits that the addresses of the largest and of the smallest networks have in common."""
FIRST, BEHIND = 1, 224
"""The numbers that addresses begin with, the first one and that after the last one."""


def drawn(seed=1, count=3_000, countries=40, cities=12, reach=200):
    """Networks as tuples: the first address, the bits that all have in common, a country and a city.

    Args:
        seed: what they are drawn from.
        count: of networks that lie in others, or in none.
        countries: how many there are.
        cities: of each.
        reach: how many of the largest networks there are.
    """
    chance = np.random.default_rng(seed)
    largest = FIRST + chance.permutation(BEHIND - FIRST)[:reach]
    bits = np.concatenate((np.full(reach, LARGE), chance.integers(LARGE + 1, SMALL + 1, count)))
    inside = chance.integers(FIRST << (ADDRESS_BITS - LARGE), BEHIND << (ADDRESS_BITS - LARGE), count)
    first = np.concatenate((largest << (ADDRESS_BITS - LARGE), inside))
    first = first >> (ADDRESS_BITS - bits) << (ADDRESS_BITS - bits)
    country = chance.integers(countries, size=len(first))
    city = chance.integers(cities, size=len(first))
    rows = zip(first.tolist(), bits.tolist(), country.tolist(), city.tolist(), strict=True)
    # A network that is drawn twice is where it was drawn to be last.
    return [(*network, *place) for network, place in {row[:2]: row[2:] for row in map(_named, rows)}.items()]


def _named(row):
    first, bits, country, city = row
    return first, bits, f"country-{country}", f"city-{country}-{city}"


class Places:
    """Finds places: the table as ranges of addresses that do not lie in one another.

    Args:
        networks: as `drawn` gives them.
    """

    def __init__(self, networks):
        bounds = [(first, first + (1 << (ADDRESS_BITS - bits))) for first, bits, *_ in networks]
        starts = np.unique(np.array([0, *(address for bound in bounds for address in bound)]))
        where = np.full(len(starts), -1)
        for number in sorted(range(len(networks)), key=lambda number: networks[number][1]):
            begin, end = np.searchsorted(starts, bounds[number])
            where[begin:end] = number
        self.starts = starts
        """The first addresses of ranges."""
        self.where = where
        """For each of them the number of its place in `places`, -1 for none."""
        self.places = [(country, city) for _, _, country, city in networks]
        self._starts, self._where = starts.tolist(), where.tolist()

    def find(self, address):
        """The country and the city of an address, or None.

        Args:
            address: as a number.
        """
        number = self._where[bisect_right(self._starts, address) - 1]
        return None if number < 0 else self.places[number]


def number_of(text):
    """An address in its usual form as a number; None for what is none.

    Args:
        text: four numbers with dots between them.
    """
    parts = text.split(".")
    if len(parts) != 4 or not all(part.isdecimal() and part.isascii() and len(part) <= 3 for part in parts):
        return None
    a, b, c, d = map(int, parts)
    return None if max(a, b, c, d) > 255 else a << 24 | b << 16 | c << 8 | d
