"""The producing task's end of a gate: jumbo tuples in, and how far the task has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from viper._backend import ffi, lib
from viper.arena import Arena
from viper.codec import UNKNOWN, are_same, decode, encode, mark_of
from viper.errors import (
    DivergedError,
    JumboSizeError,
    OrderError,
    PayloadSizeError,
    ReentryError,
    SourceClosedError,
)
from viper.jumbo import Jumbo
from viper.position import END, Position, Positions, c_position, position_of
from viper.rows import Decoder

_MOST: Final = 2**64 - 1
WHOLE: Final = 4
"""A jumbo tuple that was emitted at once has at most so many times as many tuples as others."""
BATCHES_BESIDE: Final = 3
"""Others that there is room for beside such a one of columns."""


class Repeat(Protocol):
    """The tuples that the successor of a killed producer adds first, and its readers have already."""

    compares_positions: bool
    """True if tuples come again at the same positions."""

    @property
    def left(self) -> int:
        """The number of tuples that are still to be left out; at least one."""

    def left_out(self, positions: Positions, first: int, count: int) -> None:
        """The tuples at `count` of these positions, from index `first` on, are left out."""

    def skip(self, tuples: int) -> int:
        """So many were left out; returns how many are left."""


class Source:
    """One producing task's end of a gate; `ScaleGate.source` hands it out.

    Positions never descend: neither within a jumbo tuple, nor from one to the next, nor after a heartbeat. A
    source that says nothing holds every reader back. For one thread at a time.
    """

    __slots__ = (
        *("_adding", "_arena", "_claim", "_encodes", "_local", "_marks", "_publish", "_repeat", "_ring"),
        "index",
        "row_bytes",
    )

    def __init__(
        self,
        index: int,
        ring: Any,
        arena: Arena,
        local: Sequence[list[Jumbo | None]],
        encodes: bool,
        marks: bool,
    ) -> None:
        self.index = index
        """Its place among the gate's sources, which breaks ties."""
        self.row_bytes = 0
        """Bytes of a tuple, on average, in the jumbo tuple that was encoded last; 0 at first."""
        self._ring = ring
        self._arena = arena  # keeps the ring's memory
        self._local = tuple(local)  # for each reader in this process, its payloads by slot
        self._encodes = encodes
        self._marks = marks  # what it adds, so that a successor can be compared with it
        self._adding = False
        self._repeat: Repeat | None = None
        self._claim = lib.vp_ring_claim
        self._publish = lib.vp_ring_publish

    @property
    def store_bytes(self) -> int | None:
        """Bytes that it has for payloads on their way to other processes; None where it encodes none."""
        return int(lib.vp_ring_payload_bytes(self._ring)) if self._encodes else None

    def most_whole(self, size: int, beside: int) -> int:
        """The most tuples of a jumbo tuple that was emitted at once.

        Args:
            size: the most tuples of others.
            beside: how many like it there is room for beside it.
        """
        return min(WHOLE * size, int(lib.vp_ring_tuples(self._ring)) // (1 + beside))

    def add(self, jumbo: Jumbo, positions: Positions, first: int, count: int) -> bool:
        """Hand over a jumbo tuple; False, and nothing taken, while the gate is full.

        Args:
            jumbo: its payload and tags, handed over by reference to the readers in this process, and
                encoded for those in others.
            positions: among others those of its tuples.
            first: index of the first tuple's position.
            count: number of tuples.

        Raises:
            JumboSizeError: no tuples, more than the gate can ever hold, or not `count` of them.
            PayloadSizeError: its encoding is larger than the gate can ever hold.
            CodecError: a value cannot be carried to another process.
            OrderError: a position that descends, or lies below what was added or promised before.
            SourceClosedError: the source was closed.
            ReentryError: the source is in the middle of another add.
            DivergedError: it repeats what a killed producer had added, and something else has come.
            IndexError: there are not that many positions.
        """
        if jumbo.size != count:
            raise JumboSizeError(f"{jumbo.size} tuples for {count} positions: expected as many")
        if not 0 <= first <= _MOST:
            raise self._range_error(positions, first, count)
        if self._repeat is not None:
            return self._add_behind(self._repeat, jumbo, positions, first)
        if self._encodes:
            return self._add_encoded(jumbo, positions, first, count)
        if self._adding:
            raise self._reentry_error()
        self._adding = True  # till it is published, for any allocation may run a finalizer that adds
        try:
            slot = self._claim(self._ring, positions._handle, first, count, 0)
            if slot < 0:
                if slot == lib.VP_FULL:
                    return False
                raise self._refusal(slot, positions, first, count)
            for payloads in self._local:
                payloads[slot] = jumbo
            if not self._publish(self._ring):
                raise self._refusal(lib.VP_UNORDERED, positions, first, count)
        finally:
            self._adding = False
        return True

    def _add_encoded(self, jumbo: Jumbo, positions: Positions, first: int, count: int) -> bool:
        encoded = jumbo.encoded
        if encoded is None:
            # Encoding is expensive, so it waits until there is room for the rest.
            fault = lib.vp_ring_admit(self._ring, positions._handle, first, count, 0)
            if fault:
                if fault == lib.VP_FULL:
                    return False
                raise self._refusal(fault, positions, first, count)
            encoded = encode(jumbo)
        size = len(encoded)
        self.row_bytes = size // count
        if self._adding:
            raise self._reentry_error()
        self._adding = True  # likewise
        try:
            slot = self._claim(self._ring, positions._handle, first, count, size)
            if slot < 0:
                jumbo.encoded = encoded if slot == lib.VP_FULL else None
                if slot == lib.VP_FULL:
                    return False
                raise self._refusal(slot, positions, first, count, size)
            lib.vp_ring_write(self._ring, slot, encoded)
            if self._marks:
                lib.vp_ring_mark(self._ring, slot, mark_of(jumbo, count - 1))
            for payloads in self._local:
                payloads[slot] = jumbo
            jumbo.encoded = None
            if not self._publish(self._ring):
                raise self._refusal(lib.VP_UNORDERED, positions, first, count)
        finally:
            self._adding = False
        return True

    def room(self, count: int) -> bool:
        """True if there is room for that many tuples now; their encoding may still find none.

        If there is none, the next release rings the source's bell.

        Raises:
            JumboSizeError: there never will be.
        """
        if not 0 < count <= lib.vp_ring_tuples(self._ring):
            raise self._size_error(count)
        return bool(lib.vp_ring_room(self._ring, count, 0))

    def heartbeat(self, position: Position) -> None:
        """Promise that nothing below a position will be added; never refused, whatever is full.

        A position below what was added or promised before changes nothing.
        """
        lib.vp_ring_heartbeat([self._ring], 1, c_position(position))

    def tell_last_ts(self, ts: int) -> None:
        """Tell readers how far event time came here, before a heartbeat that no longer says it."""
        lib.vp_ring_tell_last_ts(self._ring, c_position(Position(ts, 0, 0))[0])

    def close(self) -> None:
        """Promise that nothing will be added any more; changes nothing once closed."""
        lib.vp_ring_close(self._ring)

    def floor(self) -> Position:
        """The smallest position that may still be added; END once closed."""
        floor = lib.vp_ring_floor(self._ring)
        return Position(floor.ts, floor.hi, floor.lo)

    def recover(self) -> None:
        """Take the place of a producer that was killed; what it had published stays so.

        The successor finds out by `floor` how far it had come, or closes the source on its behalf.
        """
        lib.vp_ring_recover(self._ring)

    def repeat(self, repeat: Repeat) -> None:
        """In the place of a killed producer, begin with what that one had added already: it is left out."""
        self._repeat = repeat

    def _add_behind(self, repeat: Repeat, jumbo: Jumbo, positions: Positions, first: int) -> bool:
        """As `add`; what the readers have already is left out."""
        skipped = min(repeat.left, jumbo.size)
        if skipped == repeat.left:
            self._check(repeat, jumbo, skipped - 1, positions[first + skipped - 1])
        if skipped < jumbo.size:
            self._repeat = None
            try:
                if not self.add(jumbo.behind(skipped), positions, first + skipped, jumbo.size - skipped):
                    return False
            finally:
                self._repeat = repeat
        repeat.left_out(positions, first, skipped)
        if not repeat.skip(skipped):
            self._repeat = None
        return True

    def _check(self, repeat: Repeat, jumbo: Jumbo, index: int, position: Position) -> None:
        """Compare the last tuple that is left out with the one that was added last, as far as it is known."""
        last = lib.vp_ring_last(self._ring)
        if not last.mark:
            return
        found, was = jumbo.alone(index), position_of(last.position)
        if repeat.compares_positions and was != position:
            raise self._diverged(found, f"at {position!r}, and the killed process had emitted it at {was!r}")
        mark = mark_of(found, 0)
        if mark == last.mark != UNKNOWN:
            return
        if last.is_there:
            there = self._added(last.slot)
            if not are_same(there, found):
                was_emitted = f"{there.payload.rows[0]!r:.200}"
                raise self._diverged(found, f"and the killed process had emitted {was_emitted}")
        elif UNKNOWN not in (mark, last.mark):
            raise self._diverged(found, "and the killed process had emitted something else")

    def _added(self, slot: int) -> Jumbo:
        """The last tuple of a jumbo tuple that was added."""
        size = ffi.new("uint64_t *")
        payload = lib.vp_ring_payload(self._ring, slot, size)
        jumbo = decode(memoryview(ffi.buffer(payload, size[0])), Decoder())
        return jumbo.alone(jumbo.size - 1)

    def _diverged(self, found: Jumbo, told: str) -> DivergedError:
        emitted = f"source {self.index} emits {found.payload.rows[0]!r:.200}"
        return DivergedError(f"{emitted} {told} for the same input, which cannot be repeated then")

    def _refusal(self, code: int, positions: Positions, first: int, count: int, size: int = 0) -> Exception:
        if code == lib.VP_OUT_OF_BOUNDS:
            return self._range_error(positions, first, count)
        if code in (lib.VP_EMPTY, lib.VP_TOO_LARGE):
            return self._size_error(count)
        if code == lib.VP_PAYLOAD_TOO_LARGE:
            return self._payload_error(count, size)
        floor = self.floor()
        if floor == END:
            return SourceClosedError(f"source {self.index} was closed: it cannot add at {positions[first]!r}")
        if code == lib.VP_BEYOND_END:
            return OrderError(f"source {self.index}: {END!r} is reserved, no tuple may have it")
        return self._order_error(floor, positions, first, count)

    def _reentry_error(self) -> ReentryError:
        return ReentryError(
            f"source {self.index} is in the middle of an add: a finalizer, a signal handler or a thread "
            "beside it cannot add to it; let it note what it has, for the source's own thread to add"
        )

    def _range_error(self, positions: Positions, first: int, count: int) -> IndexError:
        return IndexError(f"[{first}, {first + count}) out of range: there are {len(positions)} positions")

    def _size_error(self, count: int) -> JumboSizeError:
        capacity = lib.vp_ring_tuples(self._ring)
        return JumboSizeError(
            f"a jumbo tuple of {count} tuples: source {self.index} of the gate takes from 1 to {capacity}"
        )

    def _payload_error(self, count: int, size: int) -> PayloadSizeError:
        capacity = int(lib.vp_ring_payload_bytes(self._ring))
        return PayloadSizeError(
            f"a jumbo tuple of {count} tuples takes {size} bytes: source {self.index} of the gate "
            f"has {capacity}; make its payload store larger or its jumbo tuples smaller",
            size,
            capacity,
        )

    def _order_error(self, floor: Position, positions: Positions, first: int, count: int) -> OrderError:
        for index in range(first, first + count):
            position = positions[index]
            if position < floor:
                return OrderError(
                    f"source {self.index}: tuple {index - first} of the jumbo tuple is at {position!r}, "
                    f"expected nothing below {floor!r}, which was added or promised before it"
                )
            floor = position
        raise AssertionError("refused as unordered, but in order")


def raise_to(floor: Position, positions: Positions) -> int:
    """Raise positions below a floor to it, for the successor of a source; return how many were raised."""
    raised = int(lib.vp_positions_raise(positions._handle, c_position(floor)))
    if raised < 0:
        raise MemoryError("no memory for positions apart")
    return raised


class Heartbeats:
    """Publishes one position to many sources, those of all gates that a task feeds, in one call."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)  # keeps the rings' memory
        self._rings = ffi.new("vp_ring *[]", [source._ring for source in sources])
        self._count = len(self._sources)
        self._publish = lib.vp_ring_heartbeat

    def publish(self, position: Position) -> None:
        """Publish a position as `Source.heartbeat` does, to all sources; END closes them."""
        if position.__class__ is not Position:
            c_position(position)
        try:
            self._publish(self._rings, self._count, (*position, 0))
        except (OverflowError, TypeError):
            c_position(position)  # which says more
            raise
