"""ScaleGate: one stream of several sources in order, for several readers that each get it, or share it.

A gate lies in an arena and is known by its offset there. Every process that has the arena can attach it and
take any of its ends, each of which is for one task.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena
from viper.bell import Bell
from viper.codec import decode
from viper.errors import ArenaError
from viper.jumbo import Jumbo
from viper.position import Positions
from viper.reader import ClaimingReader, Reader
from viper.rows import Decoder
from viper.source import Source
from viper.statistics import DeliveryStatistics, GateStatistics, ReaderStatistics, SourceStatistics

_LIMITS: Final = {
    "sources": (1, 2**16),
    "readers": (1, 2**16),
    "slots": (1, 2**31),
    "tuples": (1, 2**31),
    "payload_bytes": (0, 2**40),
}


class ScaleGate:
    """One gate, as one process sees it; `create` makes one, `attach` finds it again."""

    def __init__(
        self, arena: Arena, offset: int, local_readers: Collection[int], *, survives: bool = False
    ) -> None:
        self.offset = offset
        """Its offset in its arena."""
        self._arena = arena
        self._gate: Any = _gate_at(arena, offset)
        self.source_count = int(lib.vp_gate_sources(self._gate))
        """Number of producing tasks."""
        self.reader_count = int(lib.vp_gate_readers(self._gate))
        """Number of consuming tasks."""
        self.claims = bool(lib.vp_gate_claims(self._gate))
        """True if each tuple goes to one of the readers, which claims it."""
        self._rings = [lib.vp_gate_ring(self._gate, index) for index in range(self.source_count)]
        self._survives = survives
        self._local_readers = frozenset(_checked("reader", i, self.reader_count) for i in local_readers)
        self._payloads: dict[tuple[int, int], list[Jumbo | None]] = {}
        self._sources: dict[int, Source] = {}
        self._readers: dict[int, Reader] = {}

    @classmethod
    def create(
        cls,
        arena: Arena,
        sources: int,
        readers: int = 1,
        *,
        slots: int,
        tuples: int,
        payload_bytes: int = 0,
        claims: bool = False,
    ) -> ScaleGate:
        """A new gate, all of whose readers are in this process.

        Args:
            arena: where its memory comes from.
            sources: number of producing tasks; their indexes break ties.
            readers: number of consuming tasks.
            slots: jumbo tuples that each source has room for, rounded up to a power of two.
            tuples: tuples that each source has room for, likewise; no jumbo tuple may have more.
            payload_bytes: bytes that each source has room for, likewise, for what is encoded for readers
                in other processes.
            claims: whether each tuple goes to one reader only, which claims it; else to all.

        Raises:
            ArenaError: the arena has no room for it.
            ValueError: a number out of range.
        """
        offset = arena.allocate(cls.size(sources, readers, slots, tuples, payload_bytes))
        shape = (sources, readers, slots, tuples, payload_bytes, claims)
        lib.vp_gate_format(arena._header, offset, shape)
        return cls(arena, offset, range(readers))

    @classmethod
    def attach(
        cls,
        arena: Arena,
        offset: int,
        *,
        local_readers: Collection[int] | None = None,
        survives: bool = False,
    ) -> ScaleGate:
        """The gate at an offset.

        Args:
            arena: where it lies.
            offset: where it lies there.
            local_readers: readers that this process takes, through this very object: its sources
                hand them jumbo tuples by reference. All others read bytes.
            survives: whether what waits is to survive this process, so that its sources write bytes for the
                successors of local readers, too.

        Raises:
            ArenaError: no gate was made there.
            IndexError: a local reader that does not exist.
        """
        return cls(arena, offset, local_readers or (), survives=survives)

    @staticmethod
    def size(sources: int, readers: int, slots: int, tuples: int, payload_bytes: int) -> int:
        """Bytes that a gate takes of an arena.

        Raises:
            ValueError: a number out of range.
        """
        shape = (sources, readers, slots, tuples, payload_bytes)
        for (name, (least, most)), found in zip(_LIMITS.items(), shape, strict=True):
            if not least <= found <= most:
                raise ValueError(f"{name}={found!r}: expected {least} to {most}")
        return int(lib.vp_arena_rounded(lib.vp_gate_size((*shape, False))))

    def source(self, index: int) -> Source:
        """The producing end for one source; the same each time.

        Raises:
            IndexError: there is none of that index.
        """
        found = self._sources.get(_checked("source", index, self.source_count))
        return found or self._sources.setdefault(index, self._make_source(index))

    def _make_source(self, index: int) -> Source:
        local = [self._payloads_of(reader, index) for reader in sorted(self._local_readers)]
        encodes = self._survives or len(local) < self.reader_count
        return Source(index, self._rings[index], self._arena, local, encodes, self._survives)

    def reader(self, index: int) -> Reader:
        """The consuming end for one reader; the same each time.

        Raises:
            IndexError: there is none of that index.
        """
        found = self._readers.get(_checked("reader", index, self.reader_count))
        return found or self._readers.setdefault(index, self._make_reader(index))

    def _make_reader(self, index: int) -> Reader:
        payloads = [self._payloads_of(index, source) for source in range(self.source_count)]
        kind = ClaimingReader if self.claims else Reader
        return kind(index, self._gate, self._rings, self._arena, payloads)

    def _payloads_of(self, reader: int, source: int) -> list[Jumbo | None]:
        """The jumbo tuples of a source that a reader in this process can reach, by slot."""
        slots: list[Jumbo | None] = [None] * lib.vp_ring_slots(self._rings[source])
        return self._payloads.setdefault((reader, source), slots)

    def set_source_bell(self, index: int, bell: Bell) -> None:
        """Ring a bell when a reader releases something that the source found no room for.

        Raises:
            IndexError: there is no source of that index.
            ValueError: the bell is in another arena.
        """
        _checked("source", index, self.source_count)
        lib.vp_gate_set_source_bell(self._gate, index, self._bell_offset(bell))

    def set_reader_bell(self, index: int, bell: Bell) -> None:
        """Ring a bell when a source adds something or gets further.

        Raises:
            IndexError: there is no reader of that index.
            ValueError: the bell is in another arena.
        """
        _checked("reader", index, self.reader_count)
        lib.vp_gate_set_reader_bell(self._gate, index, self._bell_offset(bell))

    def _bell_offset(self, bell: Bell) -> int:
        if bell._arena is not self._arena:
            raise ValueError(f"the bell at {bell.offset} is in another arena than the gate")
        return bell.offset

    def expel_reader(self, index: int) -> None:
        """After the process of a reader died for good: sources need not wait for it any more.

        Raises:
            IndexError: there is no reader of that index.
        """
        lib.vp_gate_expel_reader(self._gate, _checked("reader", index, self.reader_count))

    def bury_reader(self, index: int) -> int:
        """After the process of a reader died, before it has a successor, which resumes where that one was.

        Returns:
            How many tuples that nobody tracks it had been delivered and not finished: they are lost.

        Raises:
            IndexError: there is no reader of that index.
        """
        return int(lib.vp_gate_bury_reader(self._gate, _checked("reader", index, self.reader_count)))

    def tuple_of(self, source: int, number: int) -> tuple[object, ...] | None:
        """The values of a tuple that a source has added, by its number, as far as they are in the gate.

        For whoever acts in the place of a reader that has died and not released it.

        Raises:
            CodecError: it cannot be read in this process.
        """
        ring = self._rings[_checked("source", source, self.source_count)]
        slot, index, size = ffi.new("uint32_t *"), ffi.new("uint32_t *"), ffi.new("uint64_t *")
        if not lib.vp_ring_find(ring, number, slot, index):
            return None
        payload = lib.vp_ring_payload(ring, slot[0], size)
        if not size[0]:
            return None
        jumbo = decode(memoryview(ffi.buffer(payload, size[0])), Decoder())
        return jumbo.alone(index[0]).payload.rows[0]

    def claimed_tuple(self, reader: int) -> tuple[object, ...]:
        """Take the first tuple of the open claim of a reader that has died, in its place; return its values.

        The reader was rewound, and is to be rewound once more: its successor is delivered the tuple all the
        same, unless a page leaves it out.

        Raises:
            CodecError: it cannot be read in this process.
            IndexError: there is no reader of that index.
        """
        _checked("reader", reader, self.reader_count)
        payloads: list[list[Jumbo | None]] = [[None] * lib.vp_ring_slots(ring) for ring in self._rings]
        taking = ClaimingReader(reader, self._gate, self._rings, self._arena, payloads)
        taking.hold(singly=True)
        ((_, jumbo, first, _),) = taking.get_ready(1, Positions())
        return jumbo.alone(first).payload.rows[0]

    def drop(self, source: int) -> list[int]:
        """After the process of a source and of all readers died: drop what waits of it.

        The payloads are gone with the process. The source was recovered, and the readers were buried.

        Returns:
            For each reader how many tuples that nobody tracks it loses by it.

        Raises:
            IndexError: there is no source of that index.
        """
        ring = self._rings[_checked("source", source, self.source_count)]
        return [int(lib.vp_ring_drop(ring, reader)) for reader in range(self.reader_count)]

    def statistics(self) -> GateStatistics:
        """Counts of the tuples that have passed, and of those that wait now."""
        ring = self._rings[0]
        return GateStatistics(
            slots=lib.vp_ring_slots(ring),
            tuples=lib.vp_ring_tuples(ring),
            payload_bytes=lib.vp_ring_payload_bytes(ring),
            sources=tuple(self._added(index) for index in range(self.source_count)),
            readers=tuple(self._reader_statistics(index) for index in range(self.reader_count)),
        )

    def waiting_tuples(self, readers: Iterable[int]) -> int:
        """Tuples that wait for these readers, of which each gets its own; they claim the same ones.

        From any process, at any time.

        Raises:
            IndexError: there is no reader of one of these indexes.
        """
        waiting = [
            sum(
                int(lib.vp_gate_delivered(self._gate, reader, source).waiting_tuples)
                for source in range(self.source_count)
            )
            for reader in (_checked("reader", index, self.reader_count) for index in readers)
        ]
        # Of claims, only whoever has looked last knows what all have claimed.
        return min(waiting, default=0) if self.claims else sum(waiting)

    def _added(self, source: int) -> SourceStatistics:
        counts = lib.vp_gate_added(self._gate, source)
        return SourceStatistics(
            added_jumbos=counts.added_jumbos,
            added_tuples=counts.added_tuples,
            added_bytes=counts.added_bytes,
            refused=counts.refused,
            blocked_ns=counts.blocked_ns,
        )

    def _reader_statistics(self, reader: int) -> ReaderStatistics:
        holding = int(lib.vp_gate_holding(self._gate, reader))
        return ReaderStatistics(
            holding=None if holding < 0 else holding,
            sources=tuple(self._delivered(reader, source) for source in range(self.source_count)),
            claims=int(lib.vp_gate_claims_of(self._gate, reader)),
        )

    def _delivered(self, reader: int, source: int) -> DeliveryStatistics:
        counts = lib.vp_gate_delivered(self._gate, reader, source)
        return DeliveryStatistics(
            delivered_tuples=counts.delivered_tuples,
            runs=counts.runs,
            waiting_jumbos=counts.waiting_jumbos,
            waiting_tuples=counts.waiting_tuples,
        )


def _gate_at(arena: Arena, offset: int) -> Any:
    arena._at(offset, 1)  # it was allocated
    gate = lib.vp_gate_at(arena._header, offset)
    if not gate:
        raise ArenaError(f"no gate was made at offset {offset} of the arena")
    return gate


def _checked(what: str, index: int, count: int) -> int:
    if not 0 <= index < count:
        raise IndexError(f"no {what} {index}: the gate has {count}")
    return index
