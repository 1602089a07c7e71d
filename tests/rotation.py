"""Which samples a run of the tests takes: chosen by environment variables, which CI sets by the day.

Nothing else draws at random. Without these variables every run of the tests takes the same samples.
"""

from __future__ import annotations

import os

DETERMINISM = "DETERMINISM_SEED"
"""The seed that the sample of the determinism matrix is drawn from: a number."""
SCHEDULES = "SCHEDULES"
"""The fault schedules that are run: the first one of them, and the one behind the last, as `200:400`."""
ALL_SCHEDULES = 1000


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


def seeds_of_this_run() -> str:
    """Both, as they are written in the environment."""
    seeds = schedules()
    return f"{DETERMINISM}={determinism_seed()} {SCHEDULES}={seeds.start}:{seeds.stop}"
