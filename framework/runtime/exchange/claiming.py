"""Tuples by key that tasks claim: all tasks of a bolt are delivered all of them, and each keeps its own."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Final

from framework.planning.routing.router import ByKey
from framework.runtime.exchange.pieces import Cutter, Delivering, InputSource, InputStream, Piece
from viper.position import Positions
from viper.reader import Reader, Run
from viper.rows import partition
from viper.state import KeyClaimant

_PART_OF_GROUPS: Final = 2
"""A task goes at most through half as many new tuples at once as are its share of the key groups.

It then has all groups that come up among them and that nobody has. Others that go on meanwhile leave it their
next tuples. If it had more than its share of the groups, it would never catch up, and so never give them up.
With less, slices get shorter.
"""
_MOST: Final = 4096
"""Most tuples that a task goes through at once."""


class ClaimingCutter(Cutter):
    """Makes pieces of those tuples whose key groups a task has, or takes as nobody else does.

    Args:
        reader: delivers runs of jumbo tuples, as to all tasks of the bolt.
        sources: the producing tasks, by their index at the reader's gate; each of their streams has a key.
        claimant: the task among those that claim the key groups; it begins here.
        copies: as of a `Cutter`.
        whole: as of a `Cutter`.
    """

    def __init__(
        self,
        reader: Delivering,
        sources: Sequence[InputSource],
        claimant: KeyClaimant,
        *,
        copies: bool,
        whole: bool,
    ) -> None:
        super().__init__(reader, sources, copies=copies, whole=whole)
        assert isinstance(reader, Reader), "bolts with claims have one gate, and are not chained"
        self._from = reader
        reader.defer()
        claimant.begin(reader.delivered_tuples())
        self._claimant, self._claims = claimant, claimant.claims
        self._window = max(self._claims.groups // (_PART_OF_GROUPS * self._claims.tasks), 1)
        self._routers: dict[tuple[int, ...], _KeyGroups] = {}
        self._mine = Positions()
        self._theirs = Positions()

    def take(self, limit: int, positions: Positions) -> list[Piece]:
        """As in the base class; there may be none although tuples were taken, as all are others'."""
        return self.take_first(limit, positions, len)

    def take_first(
        self, limit: int, positions: Positions, wanted: Callable[[Positions], int]
    ) -> list[Piece]:
        """As in the base class; nothing is claimed of what is put back."""
        number = self._from.delivered_tuples()
        # Nothing is free of what others have come to before, so that goes by in one piece.
        window = max(self._claims.frontier - number, self._window)
        runs, order = self._delivered(min(window, _MOST), positions)
        if runs and (count := wanted(positions)) < len(positions):
            runs, order = self._put_back(runs, order, positions, count)
        if runs:
            pieces = self.cut(runs) if order is None else [self.mix(runs, order)]
            pieces = self._claimed(pieces, number, limit, (runs, order, positions))
        self._from.accept()
        return pieces if runs else []

    def _claimed(
        self,
        pieces: list[Piece],
        number: int,
        limit: int,
        delivered: tuple[list[Run], bytes | None, Positions],
    ) -> list[Piece]:
        """The task's own tuples, as many as the limit at most; what comes behind these is put back."""
        runs, order, positions = delivered
        groups = array("H")
        for piece in pieces:
            groups.extend(self._groups_of(piece))
        mine, count = self._claimant.take(number, groups, limit)
        if len(mine) < len(groups):
            self._put_back(runs, order, positions, len(mine))
        if count < len(groups):
            pieces = _kept(pieces, mine, count)
            self._mine.clear()
            self._theirs.clear()
            positions.scatter(mine, (self._theirs, self._mine))
            positions.clear()
            positions.extend(self._mine)
        self._from.working(positions.untracked(0, count))
        return pieces

    def _groups_of(self, piece: Piece) -> array[int]:
        """The key group of each tuple of a piece."""
        rows, first, count = piece[:3]
        part = rows[first : first + count] if _is_list(rows) else rows.slice(first, count)
        if len(piece) == 4:
            return self._router(piece[3]).groups(part)
        routers = [self._router(stream) for stream in piece[3]]
        if routers.count(routers[0]) == len(routers):
            return routers[0].groups(part)
        found = array("H", bytes(2 * count))
        numbers = memoryview(piece[4]).cast("H")
        every = part if _is_list(part) else part.rows
        for number in set(numbers):
            member = [each == number for each in numbers]
            of_stream = routers[number].groups(list(compress(every, member)))
            for index, group in zip(compress(range(count), member), of_stream, strict=True):
                found[index] = group
        return found

    def _router(self, stream: InputStream) -> _KeyGroups:
        assert stream.key is not None, "planning has refused it"
        found = self._routers.get(stream.key)
        if found is None:
            found = self._routers[stream.key] = _KeyGroups(stream.key, self._claims.groups)
        return found


class _KeyGroups:
    """The key groups of tuples with a key in the same fields."""

    def __init__(self, key: tuple[int, ...], groups: int) -> None:
        self._router = ByKey(key, groups, groups)  # with as many tasks, each group is that of one

    def groups(self, rows: Any) -> array[int]:
        """The key group of each tuple.

        Args:
            rows: a list of their values, or a payload.
        """
        if _is_list(rows):
            return self._router.targets(rows)
        columns = rows.columns
        found = None if columns is None else self._router.targets_of_columns(columns, len(rows))
        return self._router.targets(rows.rows) if found is None else found


def _is_list(rows: Any) -> bool:
    return rows.__class__ is list


def _kept(pieces: list[Piece], mine: array[int], count: int) -> list[Piece]:
    """The pieces, of which only some tuples are left."""
    if not count:
        return []
    left: list[Piece] = []
    at = 0
    for piece in pieces:
        rows, first, size = piece[:3]
        member = mine[at : at + size]
        at += size
        if not any(member):
            continue
        size = len(member)
        kept: Any
        if _is_list(rows):
            _, kept = partition(rows[first : first + size], member, 2)
        else:
            kept = rows.slice(first, size).take(member)
        if len(piece) == 4:
            left.append((kept, 0, len(kept), piece[3]))
        else:
            numbers = array("H", compress(memoryview(piece[4]).cast("H"), member))
            left.append((kept, 0, len(kept), piece[3], numbers.tobytes()))
    return left
