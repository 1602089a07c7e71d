"""The producing task's end of a channel: jumbo tuples in, and how far the task has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viper._backend import ffi, lib
from viper.arena import Arena
from viper.errors import JumboSizeError, OrderError, SourceClosedError
from viper.position import END, Position, Positions


class Source:
    """One producing task's end of a channel; `Channel.source` hands it out.

    Positions never descend: neither within a jumbo tuple, nor from one to the next, nor behind a
    heartbeat. A source that says nothing holds the channel back.
    """

    __slots__ = ("_arena", "_claim", "_payloads", "_publish", "_ring", "index")

    def __init__(self, index: int, ring: Any, arena: Arena) -> None:
        self.index = index
        """Its place among the channel's sources, which breaks ties."""
        self._ring = ring
        self._arena = arena  # keeps the ring's memory
        self._payloads: list[Any] = [None] * lib.vp_ring_slots(ring)
        self._claim = lib.vp_ring_claim
        self._publish = lib.vp_ring_publish

    def add(self, payload: Sequence[Any], positions: Positions, first: int, count: int) -> bool:
        """Hand over a jumbo tuple; False, and nothing taken, while the channel is full.

        Args:
            payload: one item for each tuple, handed over by reference.
            positions: among others those of the payload's items.
            first: index of the first item's position.
            count: number of items.

        Raises:
            JumboSizeError: no items, more than the channel can ever hold, or not `count` of them.
            OrderError: a position that descends, or lies below what was added or promised before.
            SourceClosedError: the source was closed.
            IndexError: there are not that many positions.
        """
        if len(payload) != count:
            raise JumboSizeError(f"a payload of {len(payload)} items for {count} positions: expected as many")
        slot = self._claim(self._ring, positions._handle, first, count)
        if slot < 0:
            if slot == lib.VP_FULL:
                return False
            self._refuse(slot, positions, first, count)
        self._payloads[slot] = payload
        self._publish(self._ring)
        return True

    def room(self, count: int) -> bool:
        """Whether a jumbo tuple of that many items would be taken now.

        Raises:
            JumboSizeError: it never will be.
        """
        if not 0 < count <= lib.vp_ring_tuples(self._ring):
            raise self._size_error(count)
        return bool(lib.vp_ring_room(self._ring, count))

    def heartbeat(self, position: Position) -> None:
        """Promise that nothing below a position will be added; never refused, whatever is full.

        A position below what was added or promised before changes nothing.
        """
        lib.vp_ring_heartbeat([self._ring], 1, position)

    def close(self) -> None:
        """Promise that nothing will be added any more."""
        self.heartbeat(END)

    def floor(self) -> Position:
        """The smallest position that may still be added; END once closed."""
        floor = lib.vp_ring_floor(self._ring)
        return Position(floor.ts, floor.hi, floor.lo)

    def _refuse(self, code: int, positions: Positions, first: int, count: int) -> None:
        if code == lib.VP_OUT_OF_BOUNDS:
            raise IndexError(f"[{first}, {first + count}) out of range: there are {len(positions)} positions")
        if code in (lib.VP_EMPTY, lib.VP_TOO_LARGE):
            raise self._size_error(count)
        floor = self.floor()
        if floor == END:
            raise SourceClosedError(f"source {self.index} was closed: it cannot add at {positions[first]!r}")
        if code == lib.VP_BEYOND_END:
            raise OrderError(f"source {self.index}: {END!r} is reserved, no tuple may have it")
        raise self._order_error(floor, positions, first, count)

    def _size_error(self, count: int) -> JumboSizeError:
        capacity = lib.vp_ring_tuples(self._ring)
        return JumboSizeError(
            f"a jumbo tuple of {count} tuples: source {self.index} of the channel takes from 1 to {capacity}"
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


class Heartbeats:
    """Publishes one position to many sources, those of all channels that a task feeds, in one call."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)  # keeps the rings' memory
        self._rings = ffi.new("vp_ring *[]", [source._ring for source in sources])
        self._count = len(self._sources)
        self._publish = lib.vp_ring_heartbeat

    def publish(self, position: Position) -> None:
        """As `Source.heartbeat`, for all of them; END closes them."""
        self._publish(self._rings, self._count, position)
