"""The size of the sample of the matrix; `tests.rotation` has the seed that it is drawn from."""

from __future__ import annotations

SAMPLED = {"inline": 6, "thread": 8, "process": 4}
"""Variants of each topology for each kind of worker: about a minute on two cores in all."""
