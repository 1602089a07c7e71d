"""The search of a join for the stored tuples that match an incoming one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from framework.operators.windows.joins.comparing import Comparison, Origin, comparisons, values_fit
from framework.operators.windows.joins.conditions import Condition, Side
from framework.operators.windows.joins.index import CellIndex
from framework.operators.windows.joins.rows import Stored, StoredRows

Scan = Literal["c", "numpy"]
"""The reader of columns."""
How = Literal["inner", "left", "right", "full"]
"""Of which streams a tuple is put out also if it has no partner: of none, of one of them, or of both."""
HOWS: Final[tuple[How, ...]] = ("inner", "left", "right", "full")
_SIDES: Final[tuple[Side, ...]] = (0, 1)


@dataclass(frozen=True, slots=True)
class Search:
    """The condition on two tuples, and the way to find those that meet it."""

    condition: Condition
    index: tuple[str, ...] = ()
    """Fields of the left stream that an index is made by; none to look at all stored tuples."""
    scan: Scan = "c"
    how: How = "inner"

    def keeps(self, side: Side) -> bool:
        """True if a tuple of a side is put out also without a partner."""
        return self.how in ("full", ("left", "right")[side])


def told(search: Search, origins: tuple[Origin, Origin]) -> str:
    """In words how stored tuples are found, if the streams are known to be these.

    Raises:
        LookupError: a stream declares no field that is compared.
    """
    compared = comparisons(search.condition, origins)
    if indexed := [one.pair.left for one in compared if one.pair.left in search.index]:
        return f"an index by {', '.join(indexed)}"
    if scanned := [one.pair.left for one in compared if one.dtype is not None]:
        by = "C" if search.scan == "c" else "NumPy"
        return f"a scan of {', '.join(scanned)} in {by}"
    return "each stored tuple in turn"


class Matcher:
    """Finds what matches, once both streams are known.

    Args:
        search: what is asked.
        origins: of the left and of the right stream.
        sides: what is stored of either.

    Raises:
        LookupError: a stream declares no field of that name.
    """

    def __init__(
        self, search: Search, origins: tuple[Origin, Origin], sides: tuple[StoredRows, StoredRows]
    ) -> None:
        self._sides = sides
        self.compared = comparisons(search.condition, origins)
        """All comparisons."""
        self._typed = [comparison for comparison in self.compared if comparison.dtype is not None]
        self._plain = [comparison for comparison in self.compared if comparison.dtype is None]
        self._functions = search.condition.functions
        indexed = [comparison for comparison in self.compared if comparison.pair.left in search.index]
        self._has_unfit = [
            search.keeps(side)
            or not all(values_fit(one.values, self.compared, side) for one in sides[side].rows)
            for side in _SIDES
        ]
        """For each side, True if a stored tuple may have no value where it is compared.

        It may have none if it is put out without a partner, or came when only one stream was known.
        """
        sides[0].compare_by(0, self._typed, _index(indexed, 0), _scan_class(self._typed, search))
        sides[1].compare_by(1, self._typed, _index(indexed, 1), _scan_class(self._typed, search))

    def matches(self, side: Side, values: tuple[Any, ...]) -> list[Stored]:
        """The stored tuples of the other side that match one that has come, in the order of theirs.

        Raises:
            Exception: whatever a comparison or a function raises.
        """
        stored = self._sides[1 - side]
        if not values_fit(values, self.compared, side):
            return []
        tests = []
        for comparison in self._typed:
            test = comparison.test(values[comparison.indexes[side]])
            if test is None:
                return []
            tests.append(test)
        found = [stored[number] for number in stored.candidates(values, tests)]
        if self._has_unfit[1 - side]:
            other: Side = 1 if side == 0 else 0
            found = [one for one in found if values_fit(one.values, self.compared, other)]
        if self._plain or self._functions:
            found = [one for one in found if self._holds(side, values, one.values)]
        return found

    def _holds(self, side: Side, come: tuple[Any, ...], kept: tuple[Any, ...]) -> bool:
        left, right = (come, kept) if side == 0 else (kept, come)
        for comparison in self._plain:
            of_left, of_right = comparison.indexes
            if not comparison.pair.holds(left[of_left], right[of_right]):
                return False
        return all(function(left, right) for function in self._functions)


def _index(compared: Sequence[Comparison], side: Side) -> CellIndex | None:
    return CellIndex(compared, side) if compared else None


def _scan_class(typed: Sequence[Comparison], search: Search) -> Any:
    if not typed:
        return None
    from viper.scan import CScan, NumpyScan

    return CScan if search.scan == "c" else NumpyScan
