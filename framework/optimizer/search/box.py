"""Boxes: what the shares of a component may be at each place, from a least to a greatest one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framework.optimizer.search.alike import Alike

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Box:
    """Shares that add up to 1, each between its bounds."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def width(self) -> float:
        """Of its widest side."""
        return max(high - low for low, high in zip(self.low, self.high, strict=True))

    def tightened(self, alike: Alike) -> Box | None:
        """The bounds that shares can reach, or None where there are no such shares.

        Args:
            alike: places of which the first may be taken to have the largest share.
        """
        low, high = list(self.low), list(self.high)
        for first, others in alike.items():
            for other in others:
                low[first] = max(low[first], low[other])
                high[other] = min(high[other], high[first])
        spare, lacking = sum(high) - 1, 1 - sum(low)
        if min(spare, lacking) < -ROUNDING or any(map(float.__gt__, low, high)):
            return None
        pairs = list(zip(low, high, strict=True))
        return Box(
            tuple(max(one, other - max(spare, 0.0)) for one, other in pairs),
            tuple(min(other, one + max(lacking, 0.0)) for one, other in pairs),
        )

    def halves(self) -> tuple[Box, Box]:
        """Both halves of its widest side."""
        widths = [high - low for low, high in zip(self.low, self.high, strict=True)]
        place = widths.index(max(widths))
        middle = (self.low[place] + self.high[place]) / 2
        return Box(self.low, _with(self.high, place, middle)), Box(_with(self.low, place, middle), self.high)

    def in_order(self, costs: Sequence[float], order: Sequence[int]) -> float:
        """Sum the costs of shares if places, in an order, get as much as they may.

        Args:
            costs: what all of a component would cost, by place.
            order: of the places; the cheapest first gives the least that any shares of the box cost.
        """
        left = 1.0 - sum(self.low)
        every = 0.0
        for place in order:
            share = min(left, self.high[place] - self.low[place])
            left -= share
            every += (self.low[place] + share) * costs[place]
        return every

    def most_of(self, slopes: Sequence[float]) -> float:
        """The most that a linear function of the shares comes to."""
        return self.in_order(slopes, cheapest(slopes)[::-1])


def cheapest(costs: Sequence[float]) -> list[int]:
    """Places, the cheapest first."""
    return sorted(range(len(costs)), key=costs.__getitem__)


def _with(values: Sequence[float], place: int, value: float) -> tuple[float, ...]:
    return (*values[:place], value, *values[place + 1 :])
