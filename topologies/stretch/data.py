"""Data for the queries of STRETCH, drawn from a seed, so that every run has the same.

The data of the paper is not public. The data drawn here has its schemas, and those of its statistics that
decide how much a query has to do; each function says where it differs.
"""

import random
from bisect import bisect
from itertools import accumulate
from typing import NamedTuple

SECOND_US = 1_000_000
VOCABULARY = 20_000
USERS = 100_000
SYMBOLS = tuple("ABCDEFGHIJ")


class Phase(NamedTuple):
    """A stretch of event time in which rows come at one rate."""

    seconds: float
    rate: float
    """Rows a second, of all partitions together."""


def times(phases, partitions, partition):
    """Yield the times of a partition's rows: one of every so many rows of all partitions is its own.

    Yields:
        Event times in microseconds since 1970 UTC; the first phase begins there.
    """
    begin_us, number = 0.0, partition
    for phase in phases:
        end_us = begin_us + phase.seconds * SECOND_US
        apart_us = SECOND_US / phase.rate
        rows = round(phase.seconds * phase.rate)
        while number < rows:
            yield int(begin_us + number * apart_us)
            number += partitions
        number -= rows
        begin_us = end_us


def phases_of(given):
    """The phases that a topology asks for: as it has them, or drawn as in Q5.

    Args:
        given: [[seconds, rate], ...], or a mapping for `drawn_phases`.
    """
    return drawn_phases(**given) if isinstance(given, dict) else [Phase(*phase) for phase in given]


def drawn_phases(seed=1, seconds=1200, lengths=(100, 300), rates=(500, 8000)):
    """Phases with abrupt changes between them, as in Q5; the lengths and rates of the paper are the defaults.

    The paper draws the rates. It says of the lengths only that they are at least 100 and at most 300 seconds.
    Here they are drawn, too, and the last phase has the rest of the time.
    """
    chance = chance_of(seed, "phases", 0)
    found = []
    while seconds > 0:
        length = min(seconds, chance.uniform(*lengths))
        found.append(Phase(length, chance.uniform(*rates)))
        seconds -= length
    return found


def tweets(chance):
    """Tweets as (user, text), without end.

    The paper has 4.3 million of the 1st and 2nd of October 2018. Each of these has 6 to 22 words of a
    vocabulary of 20,000, with Zipf's frequencies. On the average a tweet has 36 pairs of words at a distance
    of at most 3, 86 at one of at most 10, and 103 in all.
    """
    words = [f"w{rank}" for rank in range(1, VOCABULARY + 1)]
    weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    while True:
        length = chance.randint(6, 22)
        found = [words[bisect(weights, chance.random() * weights[-1])] for _ in range(length)]
        yield f"u{chance.randrange(USERS)}", " ".join(found)


def left_rows(chance):
    """Rows of ScaleJoin's left stream as (x, y), without end; values lie in 1 to 10,000, as in the paper."""
    while True:
        yield chance.randint(1, 10_000), chance.uniform(1, 10_000)


def right_rows(chance):
    """Rows of ScaleJoin's right stream as (a, b, c, d), without end; as `left_rows`, and d is a bool."""
    while True:
        yield chance.randint(1, 10_000), chance.uniform(1, 10_000), chance.random(), chance.random() < 0.5


def trades(chance):
    """Trades as (id, price, average), without end.

    The paper has those of ten companies at the New York Stock Exchange on 30 July 2018. Here the price of
    each is a random walk that is drawn back to where it began; the average is that of its trades so far.
    """
    prices = {symbol: 50.0 + 20 * number for number, symbol in enumerate(SYMBOLS)}
    totals = dict.fromkeys(SYMBOLS, (0, 0.0))
    bases = dict(prices)
    while True:
        symbol = chance.choice(SYMBOLS)
        drawn_back = 0.01 * (bases[symbol] - prices[symbol])
        prices[symbol] = round(prices[symbol] + drawn_back + chance.gauss(0, 0.1), 2)
        count, total = totals[symbol]
        totals[symbol] = count + 1, total + prices[symbol]
        yield symbol, prices[symbol], totals[symbol][1] / totals[symbol][0]


def chance_of(seed, what, partition):
    """Make the random numbers of a partition."""
    return random.Random(f"{seed} {what} {partition}")
