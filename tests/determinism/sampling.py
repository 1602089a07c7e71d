"""What a sample is drawn from, and how large it is."""

from __future__ import annotations

import os

VARIABLE = "DETERMINISM_SEED"
"""Environment variable that chooses another sample."""

SAMPLED = {"inline": 6, "thread": 8, "process": 4}
"""Variants of each topology for each kind of worker: about a minute on two cores in all."""


def sample_seed() -> int:
    """The seed of the sample.

    Raises:
        ValueError: the environment says something that is no number.
    """
    text = os.environ.get(VARIABLE, "1")
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{VARIABLE}={text!r}: expected a number") from None
