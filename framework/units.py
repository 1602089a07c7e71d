"""Units of event time that is written as a number."""

from __future__ import annotations

from collections.abc import Mapping

MICROS_PER_SECOND = 1_000_000
"""Event time is counted in microseconds everywhere within."""

PER_SECOND: Mapping[str, int] = {"s": 1, "ms": 1000, "us": MICROS_PER_SECOND, "ns": 1_000_000_000}
"""The units by the names that configuration and datasets use, and how many of each make a second."""
