"""Operators with windows by key of runs that are killed: what they emit depends on all that windows hold."""

from __future__ import annotations

from framework import APlus, KeyWindow, OPlus, Tuple
from framework.operators.windows.aggregates import Sum
from tests.kills.components import mixed
from tests.kills.sources import FIELDS


class WindowsByKey(APlus):
    """Adds up the values of each key in windows that overlap."""

    outputs = FIELDS
    size, advance = "50us", "20us"
    aggregate = Sum("value")


class WindowsOfDerivedKeys(OPlus):
    """Chains the values of each row's two keys in windows, and tells them with each row and at the end."""

    outputs = FIELDS
    size, advance = "40us", "40us"

    def keys(self, tup: Tuple) -> list[int]:
        key, value = tup.values[:2]
        return [key % 7, (key + value) % 7]

    def create(self) -> int:
        return 0

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> list[tuple[int, int]]:
        window.state = mixed(window.state, *tup.values[:2])
        return [(window.key, window.state)]

    def output(self, window: KeyWindow) -> list[tuple[int, int]]:
        return [(window.key, window.state)]
