"""Places that can be exchanged, the others with them, so that nothing changes but their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Alike = Mapping[int, Sequence[int]]
"""By place those after it that can take its part while all places before it keep theirs. Of shares that
differ by names of places only, those are enough in which each place has at least as much as its own here."""
TRIES = 20_000
"""Assignments of one place to another that are tried; exchanges that this does not find are not used."""


def alike(matrices: Sequence[Sequence[Sequence[float]]], kinds: Sequence[object]) -> Alike:
    """Find the places that can be exchanged.

    Args:
        matrices: what there is between each two places; an exchange keeps all of it.
        kinds: what a place is itself; likewise.
    """
    search = _Search(matrices, kinds)
    places = range(len(kinds))
    found = {
        place: [other for other in places[place + 1 :] if search.is_there([*places[:place], other])]
        for place in places
    }
    return {place: others for place, others in found.items() if others}


class _Search:
    def __init__(self, matrices: Sequence[Sequence[Sequence[float]]], kinds: Sequence[object]) -> None:
        self._matrices = matrices
        self._kinds = kinds
        self._left = TRIES

    def is_there(self, begun: Sequence[int]) -> bool:
        """True if there is an exchange in which the first places become these."""
        way: list[int] = []
        return all(self._goes_on(way, place) for place in begun) and self._is_completed(way)

    def _is_completed(self, way: list[int]) -> bool:
        if len(way) == len(self._kinds):
            return True
        for place in range(len(self._kinds)):
            if place not in way and self._goes_on(way, place):
                if self._is_completed(way):
                    return True
                way.pop()
        return False

    def _goes_on(self, way: list[int], place: int) -> bool:
        """True if the next place can become this one; then it is put after the others."""
        self._left -= 1
        new = len(way)
        if self._left < 0 or place in way or self._kinds[new] != self._kinds[place]:
            return False
        for matrix in self._matrices:
            for old, other in enumerate((*way, place)):
                if (matrix[old][new], matrix[new][old]) != (matrix[other][place], matrix[place][other]):
                    return False
        way.append(place)
        return True
