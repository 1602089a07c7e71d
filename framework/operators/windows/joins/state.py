"""The stored tuples of a join as declared state: they survive the bolt, and its process.

Tuples are pickled when a slice ends, those of the slice together, and are dropped together when the last of
them has expired.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.model.errors import StateError
from framework.operators.state import StateAccess
from framework.operators.state.declaration import PickledState
from framework.operators.state.loading import loaded
from framework.operators.windows.due import Due
from framework.operators.windows.joins.comparing import Origin, values_fit
from framework.operators.windows.joins.conditions import Side
from framework.operators.windows.joins.matching import Matcher, Search
from framework.operators.windows.joins.rows import Stored, StoredRows
from framework.operators.windows.joins.unmatched import Unmatched, Waiting
from framework.operators.windows.spec import BEHIND_TIME, MOST_BYTES, MOST_ROWS
from framework.operators.windows.state import WindowFullError
from viper.state import items

_PROTOCOL: Final = 5
_SIDES: Final[tuple[Side, ...]] = (0, 1)
_MARKS: Final = "marks"
"""The key of what is known of the tuples, which lie under a number for each slice."""


class JoinState(PickledState):
    """The stored tuples of a task's join; the handle is `OpenJoin`."""

    kind = "join"
    holds = "tuples"

    def __init__(self) -> None:
        super().__init__(per="task")

    def handle(self, access: StateAccess) -> OpenJoin:
        """As in the base class."""
        return OpenJoin(access)


@dataclass(frozen=True, slots=True)
class Share:
    """The share of incoming tuples that an instance stores, where each tuple comes to all of them.

    As in ScaleJoin, they are dealt by a counter over the whole input, which all instances count alike.
    """

    keys: int = 1
    """Among so many keys."""
    mine: range = range(1)
    """The keys that are this instance's."""

    def has(self, count: int) -> bool:
        """True if the tuple of that number is stored here."""
        return count % self.keys in self.mine


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The tuples that one slice has stored."""

    number: int
    """Of the chunk, rising from one to the next."""
    ends: tuple[int, int]
    """The numbers behind the last of them, of the left and the right stream."""
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class _Image:
    """The state of the join before a callback."""

    count: int
    bounds: tuple[tuple[int, int], tuple[int, int]]
    """Of either side the number of the first tuple that had not expired, and that of the next one."""
    settled: int
    """The mark of `Unmatched`."""


class OpenJoin:
    """The stored tuples of one task's join, which it writes into its table when a slice ends."""

    def __init__(self, access: StateAccess) -> None:
        self._access = access
        (self._table,) = access.tables
        self.count = 0
        """The number of tuples of both streams that have come, stored here or elsewhere."""
        self.sides = StoredRows(), StoredRows()
        """The stored tuples of the left and of the right stream."""
        self.unmatched = Unmatched()
        """Of an outer join, those of them that have had no partner."""
        self._origins: list[Origin | None] = [None, None]
        self._search: Search | None = None
        self._share = Share()
        self._matcher: Matcher | None = None
        self._written = [0, 0]
        """Of either side the number behind the last tuple that is in the table."""
        self._chunks: deque[_Chunk] = deque()
        """All that are stored, the oldest first."""
        self._next_chunk = 0
        self._bytes = 0
        """Of all chunks."""
        self._marks = b""
        """As they are in the table."""
        self._most_rows = self._most_bytes = 0
        self._call = -1
        """The number of the callback that has changed something last."""
        self._before: _Image

    def open(self, search: Search, share: Share, conf: Mapping[str, Any]) -> None:
        """Continue with the tuples in the table.

        Args:
            search: how tuples are matched.
            share: which are stored.
            conf: says how many they may be.
        """
        self._search, self._share = search, share
        self._most_rows, self._most_bytes = conf[MOST_ROWS], conf[MOST_BYTES]
        found = dict(items(self._table, 0))
        if _MARKS not in found:
            return
        (self._marks,) = found.pop(_MARKS)
        self.count, firsts, self._origins = loaded(self._marks)
        settled = set[int]()
        for number, (data,) in sorted(found.items()):
            begins, rows, *others = loaded(data)
            settled.update(*others)
            for stored, begin, kept in zip(self.sides, begins, rows, strict=True):
                if stored.end != begin:  # those before have expired before they were written
                    stored.rows.clear()
                    stored.base = begin
                stored.rows += [Stored(*one) for one in kept]
            self._note_chunk(number, len(data))
        for stored, first in zip(self.sides, firsts, strict=True):
            if not stored.rows:
                stored.base = first
            stored.first = first
        self._written = [stored.end for stored in self.sides]
        self._find_matcher()
        kept = [(one, side) for side in _SIDES for one in self.sides[side].rows if one.number not in settled]
        for one, side in sorted(kept):
            self._wait(one, side)

    # -- the tuples in process

    def begin(self, side: Side, origin: Origin) -> None:
        """Prepare for tuples of one stream.

        Raises:
            LookupError: it declares no field that is compared.
        """
        number = self._access.clock.number
        if self._access.goes_on and number != self._call:
            self._call = number
            left, right = self.sides
            bounds = (left.first, left.end), (right.first, right.end)
            self._before = _Image(self.count, bounds, self.unmatched.mark)
        if self._origins[side] != origin:
            self._origins[side] = origin
            self._find_matcher()

    def _find_matcher(self) -> None:
        left, right = self._origins
        if left is not None and right is not None and self._search is not None:
            self._matcher = Matcher(self._search, (left, right), self.sides)

    def join(self, side: Side, values: tuple[Any, ...], time_us: int, group: int = 0) -> list[Stored]:
        """Match a tuple with the stored ones of the other side, in the order of those, and store it.

        Args:
            side: the tuple's.
            values: its values.
            time_us: its time, in microseconds.
            group: the key group that it is put out in, if it has no partner.

        Raises:
            WindowFullError: there are too many.
            Exception: whatever a condition raises; then nothing was stored.
        """
        assert self._search is not None
        count, condition = self.count, self._search.condition
        self.count += 1
        other = self.sides[1 - side]
        other.expire(condition.least_us(time_us, is_left=side == 0))
        found = [] if self._matcher is None else self._matcher.matches(side, values)
        for matched in found:
            self.unmatched.settle(matched.number)
        if self._share.has(count) and (self._search.keeps(side) or self._may_match(side, values)):
            stored = self.sides[side]
            # What has come on this stream expires here, too: the other one may have nothing for long.
            stored.expire(condition.least_us(time_us, is_left=side == 1))
            one = Stored(count, time_us, values, group)
            stored.add(one)
            self._wait(one, side, has_partner=bool(found))
            held = stored.end - stored.first
            if held > self._most_rows:
                raise self._full(f"{held:,} tuples of a stream", MOST_ROWS, self._most_rows)
        return found

    def _wait(self, one: Stored, side: Side, *, has_partner: bool = False) -> None:
        """Let a tuple without a partner wait until none can come, if it is to be put out at all."""
        assert self._search is not None
        if self._search.keeps(side):
            end_us = min(self._search.condition.end_us(one.time_us, is_left=side == 0), BEHIND_TIME)
            waiting = Waiting(one, side, end_us)
            self.unmatched.pass_over(waiting) if has_partner else self.unmatched.wait(waiting)

    # -- as `DueByGroup`: tuples without a partner

    def next_end(self) -> int | None:
        """As of `DueByGroup`."""
        return self.unmatched.next_end()

    def first_end_behind(self, time_us: int) -> int:
        """As of `DueByGroup`."""
        assert self._search is not None
        condition = self._search.condition
        return min(condition.end_us(time_us, is_left=is_left) for is_left in (True, False))

    def next_due(self, time_us: int | None) -> Due | None:
        """As of `DueByGroup`."""
        return self.unmatched.next_due(time_us)

    def rest(self) -> Iterator[Due]:
        """As of `DueByGroup`."""
        return self.unmatched.rest()

    def _may_match(self, side: Side, values: tuple[Any, ...]) -> bool:
        return self._matcher is None or values_fit(values, self._matcher.compared, side)

    # -- as `DirtyHandle`

    def flush(self) -> None:
        """As `DirtyHandle.flush`.

        Raises:
            StateError: a tuple cannot be pickled.
            StateFullError: there is no room for the tuples.
        """
        if self._search is None:
            return
        begins = [max(stored.first, at) for stored, at in zip(self.sides, self._written, strict=True)]
        has_rows = any(stored.end > begin for stored, begin in zip(self.sides, begins, strict=True))
        if has_rows or self.unmatched.has_settled:
            self._write(begins)
        self._written = [stored.end for stored in self.sides]
        self._drop_expired()
        for stored in self.sides:
            stored.trim()
        marks = self.count, [stored.first for stored in self.sides], self._origins
        data = pickle.dumps(marks, _PROTOCOL)
        if data != self._marks:
            self._table.set(_MARKS, (data,))
            self._marks = data

    def forget(self) -> None:
        """As `DirtyHandle.forget`."""
        if self._call == self._access.clock.number:
            self.count = self._before.count
            for stored, (first, end) in zip(self.sides, self._before.bounds, strict=True):
                stored.take_back(first, end)
            self.unmatched.back_to(self._before.settled, self.count)

    def _write(self, begins: list[int]) -> None:
        rows = [
            [tuple(one) for one in stored.rows[begin - stored.base :]]
            for stored, begin in zip(self.sides, begins, strict=True)
        ]
        try:
            data = pickle.dumps((begins, rows, self.unmatched.take_settled()), _PROTOCOL)
        except Exception as error:
            raise StateError(f"a tuple of a join cannot be pickled: {error}") from error
        if self._bytes + len(data) > self._most_bytes:
            raise self._full(f"{self._bytes + len(data):,} bytes", MOST_BYTES, self._most_bytes)
        number = self._next_chunk
        self._table.set(number, (data,))
        self._note_chunk(number, len(data))

    def _note_chunk(self, number: int, size: int) -> None:
        left, right = self.sides
        self._chunks.append(_Chunk(number, (left.end, right.end), size))
        self._next_chunk = number + 1
        self._bytes += size

    def _drop_expired(self) -> None:
        left, right = self.sides
        chunks = self._chunks
        while chunks and chunks[0].ends[0] <= left.first and chunks[0].ends[1] <= right.first:
            chunk = chunks.popleft()
            self._table.drop(chunk.number)
            self._bytes -= chunk.size

    def _full(self, found: str, key: str, most: int) -> WindowFullError:
        return WindowFullError(
            f"the join of this task holds {found}, and {key} is {most:,}: raise it, or shorten Within()"
        )
