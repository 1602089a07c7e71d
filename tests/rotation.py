"""The samples that a run of the tests takes: chosen by environment variables, which CI sets by the day.

Nothing else draws at random. Without these variables every run of the tests takes the same samples.
"""

from __future__ import annotations

import os
from zlib import crc32

DETERMINISM = "DETERMINISM_SEED"
"""The seed that the sample of the determinism matrix is drawn from: a number."""
SCHEDULES = "SCHEDULES"
"""The fault schedules that are run: the first one of them, and the one after the last, as `200:400`."""
ALL_SCHEDULES = 1000
SLOW_TESTS = "SLOW_TESTS"
"""The portion of the slow tests that is run: its number, and how many portions there are, as `0/3`."""


def determinism_seed() -> int:
    """The seed of the sample of the matrix.

    Raises:
        ValueError: the environment says something that is no number.
    """
    text = os.environ.get(DETERMINISM, "1")
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{DETERMINISM}={text!r}: expected a number") from None


def schedules() -> range:
    """The seeds of the schedules.

    Raises:
        ValueError: the environment says something that is no range of numbers.
    """
    text = os.environ.get(SCHEDULES, f"0:{ALL_SCHEDULES}")
    found = f"{SCHEDULES}={text!r}"
    try:
        first, end = map(int, text.split(":"))
    except ValueError:
        raise ValueError(f"{found}: expected two numbers with a colon between, as 200:400") from None
    if not 0 <= first < end:
        raise ValueError(f"{found}: expected a first number from 0 on, and a larger one behind it")
    return range(first, end)


def portion_of_slow_tests() -> tuple[int, int]:
    """The number of the portion, and of how many.

    Raises:
        ValueError: the environment says something that is no portion.
    """
    text = os.environ.get(SLOW_TESTS, "0/1")
    found = f"{SLOW_TESTS}={text!r}"
    try:
        number, count = map(int, text.split("/"))
    except ValueError:
        raise ValueError(f"{found}: expected two numbers with a slash between, as 0/3") from None
    if not 0 <= number < count:
        raise ValueError(f"{found}: expected a number from 0 on, and a larger one behind it")
    return number, count


def is_due(test: str) -> bool:
    """True if a slow test belongs to the portion; `test` is its id."""
    number, count = portion_of_slow_tests()
    return crc32(test.encode()) % count == number


def seeds_of_this_run() -> str:
    """All of them, as they are written in the environment."""
    seeds, (number, count) = schedules(), portion_of_slow_tests()
    chosen = f"{DETERMINISM}={determinism_seed()} {SCHEDULES}={seeds.start}:{seeds.stop}"
    return f"{chosen} {SLOW_TESTS}={number}/{count}"
