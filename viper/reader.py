"""The consuming task's end of a gate: its sources' tuples in position order, and its loans of their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from viper._backend import ffi, lib
from viper.addressed import EVERYTHING
from viper.arena import Arena
from viper.codec import decode
from viper.errors import CodecError
from viper.jumbo import Jumbo
from viper.position import Position, Positions
from viper.rows import Decoder
from viper.source import BATCHES_BESIDE, WHOLE

if TYPE_CHECKING:
    from viper.columns.lease import Lease

_MAX_RUNS: Final = 4096
"""As many as a slice has tuples by default, in case sources change with every tuple."""
SHORT: Final = 16
"""Runs that have fewer tuples than this on average are put together, where there are `MANY`.

Nanoseconds a tuple, through an inbox, which alone takes 145 of them, on a busy machine; for 16 sources, jumbo
tuples of 256 and slices of 4,096:

    tuples in a run      1      2      4      8     16     32
    run by run         781    433    442    292    286    174
    together           202    185    195    221    255    176
"""
MANY: Final = 32
"""To put runs together takes some 5 us beside them, as much as 16 to 32 runs."""
_RUN: Final = Struct("=4I")
_OUTLOOK: Final = Struct("=qQQQq?")
_new: Final = tuple.__new__

Run = tuple[int, Jumbo, int, int]
"""A stretch of one jumbo tuple: the index of its source, the jumbo tuple, whole, the index of the
stretch's first tuple in it, and the number of its tuples. A plain tuple, because sources that interleave
make one of every few tuples, and a named one costs 200 ns more."""


class Reader:
    """One consuming task's end of a gate; `ScaleGate.reader` hands it out.

    A tuple is delivered when no source can still add one that belongs before it, so the sequence that
    every reader sees is a function of what the sources add: (position, index of the source), ascending.
    For one thread at a time.
    """

    carries_tracked = True
    """True if tracked tuples may come: a source does not say it."""

    def __init__(
        self,
        index: int,
        gate: Any,
        rings: Sequence[Any],
        arena: Arena,
        payloads: Sequence[list[Jumbo | None]],
    ) -> None:
        self.index = index
        """Its place among the gate's readers."""
        self._rings = rings
        self._arena = arena  # keeps the gate's memory
        self._payloads = payloads  # for each source those of its slots that this process has
        merge = lib.vp_merge_new(gate, index)
        if not merge:
            raise MemoryError(f"no memory for a merge of {len(rings)} sources")
        self._merge: Any = ffi.gc(merge, lib.vp_merge_free)
        self._runs = ffi.new("vp_run[]", _MAX_RUNS)
        self._run_bytes = memoryview(ffi.buffer(self._runs))
        self._last = ffi.new("uint32_t[]", len(rings))  # for vp_runs_join
        self._size = ffi.new("uint64_t *")
        self._outlook: Any = ffi.new("vp_outlook *")
        self._outlook_bytes = memoryview(ffi.buffer(self._outlook))
        self._decoder = Decoder()
        self._loans = Loans(len(rings), int(lib.vp_ring_payload_bytes(rings[0])))
        self._take = lib.vp_merge_take
        self._release = lib.vp_merge_release
        self._look_out = lib.vp_merge_outlook
        self._set_working = lib.vp_merge_working
        self._holds = False
        self._defers = False
        """True if it keeps what it delivers until `accept`, or holds that."""
        self._most = 0
        """The most tuples that are delivered at once, where it holds them."""
        self._most_runs = _MAX_RUNS
        self._enough: int | None = None
        """The number of tuples above which a jumbo tuple is delivered alone, where it is not to be cut."""
        self._mask = EVERYTHING

    def skip_but(self, mask: int) -> None:
        """Have addressed rows of other processes that have no bit in common with a mask come as None."""
        self._mask = mask

    def take_whole(self, enough: int) -> int:
        """From now on, deliver a large jumbo tuple alone and uncut, as far as the limit allows it.

        It changes nothing for several sources, as runs end where these interleave.

        Args:
            enough: the most tuples that are delivered at once of smaller ones.

        Returns:
            The largest limit that is of use.
        """
        if len(self._rings) > 1:
            return enough
        self._enough = enough
        room = int(lib.vp_ring_tuples(self._rings[0]))
        return max(enough, min(WHOLE * enough, room // (1 + BATCHES_BESIDE)))

    def hold(self, *, singly: bool = False) -> None:
        """From now on, release nothing that was delivered but by `release`.

        At most half of what a source has room for is delivered at once then, so that the source can continue
        meanwhile.

        Args:
            singly: whether a single tuple is.
        """
        self._holds = self._defers = True
        self._most = 1 if singly else max(int(lib.vp_ring_tuples(self._rings[0])) // 2, 1)
        if len(self._rings) == 1:  # else runs may be much shorter than jumbo tuples
            self._most_runs = min(max(int(lib.vp_ring_slots(self._rings[0])) // 2, 1), _MAX_RUNS)

    def release(self) -> None:
        """Release all that was delivered, where it holds that."""
        self._release(self._merge)

    def defer(self) -> None:
        """From now on, release what was delivered by `accept` only, so that the end of it can be put back."""
        self._defers = True

    def accept(self) -> None:
        """Release what was delivered to its end, unless it is held, or lent: it is not put back any more."""
        if not (self._holds or self._loans.are_due):
            self._release(self._merge)

    def put_back(self, rest: Iterable[tuple[Run, int]], positions: Positions, kept: int) -> None:
        """Have the end of what was delivered last come again, as if it had not come.

        To be called before `accept`.

        Args:
            rest: the runs that are put back, or the end of which is, in order, with the number of tuples.
            positions: of what was delivered; those of what is put back are forgotten.
            kept: how many are left.
        """
        counts: dict[int, int] = {}
        jumbos: dict[int, list[Jumbo]] = {}
        for (source, jumbo, first, size), count in rest:
            counts[source] = counts.get(source, 0) + count
            of_source = jumbos.setdefault(source, [])
            if not of_source or of_source[-1] is not jumbo:
                of_source.append(jumbo)
                if jumbo.payload.lease is not None:
                    self._loans.put_back(jumbo.payload.lease, jumbo.size - (first + size - count))
        for source, count in counts.items():
            payloads = self._payloads[source]
            slot = int(lib.vp_merge_put_back(self._merge, source, count))
            for index, jumbo in enumerate(jumbos[source], slot):
                payloads[index % len(payloads)] = jumbo
        positions.truncate(kept)
        lib.vp_merge_delivered_since(self._merge, positions.untracked(0, kept))

    def get_ready(self, limit: int, into: Positions, *, borrows: bool = False) -> list[Run]:
        """Deliver up to `limit` tuples that are ready, in order.

        Their positions are appended to `into`, run after run. It may return less than is ready; the list is
        empty only if nothing is ready, or `limit` is 0.

        Whatever it raises, the reader continues after the tuples that it was about to deliver. These are
        lost, their slots go back to their sources, and `into` is as it was.

        Args:
            limit: the most tuples; once part of a jumbo tuple is borrowed, its rest is delivered alone.
            into: the positions.
            borrows: whether columns may lie in the memory of their source, until `give_back`, where nothing
                else is delivered with them: what is put together is copied anyway.

        Raises:
            CodecError: a jumbo tuple of another process cannot be read in this one.
            MemoryError: there is no memory for the positions, then nothing is lost, or for what they are of.
            ValueError: the limit is below 0, or no number of 64 bits.
        """
        return self._deliver(limit, into, joins=False, borrows=borrows)[0]

    def get_interleaved(
        self, limit: int, into: Positions, *, borrows: bool = False
    ) -> tuple[list[Run], bytes | None]:
        """Deliver as `get_ready` does, but with one run for each jumbo tuple where runs are short and many.

        Returns:
            The runs, and for each tuple the index of its run, as native uint16; the tuples of a run follow
            one another there. None instead where all tuples come run after run.

        Raises:
            CodecError, MemoryError, ValueError: as `get_ready` does.
        """
        return self._deliver(limit, into, joins=True, borrows=borrows)

    def give_back(self) -> Lease | None:
        """Release what was borrowed and has been delivered to its end.

        Returns:
            A lease that does not end, as something still refers to its memory: that stays as it is, and
            nothing is released.
        """
        if not self._loans.are_due:
            return None
        kept = self._loans.end()
        if kept is None and not self._holds:
            self._release(self._merge)
        return kept

    def _deliver(
        self, limit: int, into: Positions, *, joins: bool, borrows: bool
    ) -> tuple[list[Run], bytes | None]:
        before, due, order = into._handle.length, self._loans.due, None
        if borrows:
            limit = self._loans.limit(limit)
        if self._holds:
            limit = min(limit, self._most)
        if self._enough is not None and limit > self._enough:
            limit = min(limit, max(lib.vp_merge_next(self._merge), self._enough))
        try:
            made = self._take(self._merge, into._handle, limit, self._runs, self._most_runs)
            if made <= 0:
                if made < 0:
                    raise MemoryError("no memory for more positions")
                return [], None
            if joins and made >= MANY and (count := into._handle.length - before) < SHORT * made:
                made, order = self._join(made, count)
            runs = self._read(made, borrows)
        except OverflowError as error:
            raise ValueError(f"limit={limit!r}: expected 0 to 2**64 - 1") from error
        except BaseException:
            self._lose(into, before, due)
            raise
        if not (self._defers or self._loans.are_due):
            self._release(self._merge)
        return runs, order

    def _join(self, made: int, count: int) -> tuple[int, bytes | None]:
        """Put the runs of each jumbo tuple together; returns how many there are then, and their order."""
        order = ffi.new("uint16_t[]", count)
        joined = lib.vp_runs_join(self._runs, made, self._last, order)
        return joined, bytes(ffi.buffer(order)) if joined < made else None

    def _read(self, made: int, borrows: bool) -> list[Run]:
        """The runs with their jumbo tuples, which are forgotten where they are delivered to their end."""
        runs: list[Run] = []
        for source, slot, first, count in _RUN.iter_unpack(self._run_bytes[: made * _RUN.size]):
            payloads = self._payloads[source]
            jumbo = payloads[slot]
            if jumbo is None:
                jumbo = payloads[slot] = self._decode(source, slot, lends=borrows and made == 1)
            if (lease := jumbo.payload.lease) is not None:
                self._loans.delivered(source, lease, jumbo.size - first - count)
            if first + count == jumbo.size:
                payloads[slot] = None
            runs.append((source, jumbo, first, count))
        return runs

    def working(self, untracked: int) -> None:
        """Say how many tuples that nobody tracks were delivered, and are not finished with all their outputs.

        So many are lost if this process dies now, and whoever survives it can say so. `get_ready` adds those
        that it delivers: who has finished everything says 0.
        """
        self._set_working(self._merge, untracked)

    def _lose(self, into: Positions, before: int, due: int) -> None:
        """Forget the runs that were taken after so many positions, and the leases after so many due ones.

        How many they are their positions say, as whoever was interrupted may not have come to know. Of a
        jumbo tuple that was taken in part the payload stays: the rest of it is still to come.
        """
        taken = into._handle.length - before
        for source, slot, first, count in _RUN.iter_unpack(self._run_bytes):
            if taken <= 0:
                break
            jumbo = self._payloads[source][slot]
            if jumbo is not None and first + count == jumbo.size:
                self._payloads[source][slot] = None
            taken -= count
        self._loans.forget(due)
        into._handle.length = before
        if not (self._holds or self._loans.are_due):
            self._release(self._merge)

    def _decode(self, source: int, slot: int, *, lends: bool) -> Jumbo:
        at = lib.vp_ring_payload(self._rings[source], slot, self._size)
        size = self._size[0]
        if not size:
            raise CodecError(
                f"source {source} handed reader {self.index} a jumbo tuple by reference in another "
                "process: attach the gate there without naming it a local reader"
            )
        lends = lends and self._loans.allow(source, size)
        if lends:
            at = ffi.gc(at, partial(_let_go, self._arena))  # for as long as anything refers to it
        jumbo = decode(ffi.buffer(at, size), self._decoder, lends=lends, mask=self._mask)
        if jumbo.payload.lease is not None:
            self._loans.lend(source, jumbo.payload.lease)
        return jumbo

    def ready(self) -> bool:
        """True if `get_ready` would deliver anything."""
        return bool(lib.vp_merge_ready(self._merge))

    def watermark(self) -> Position:
        """The smallest position that can still be delivered; END when it is drained."""
        frontier = lib.vp_merge_frontier(self._merge)
        return Position(frontier.ts, frontier.hi, frontier.lo)

    def outlook(self) -> tuple[bool, Position, int]:
        """`ready`, `watermark` and `until_ts` in one call."""
        self._look_out(self._merge, self._outlook)
        # Field by field it would take twice as long.
        ts, hi, lo, _, until_ts, ready = _OUTLOOK.unpack_from(self._outlook_bytes)
        return ready, _new(Position, (ts, hi, lo)), until_ts

    def drained(self) -> bool:
        """True if all sources were closed and everything was delivered."""
        return bool(lib.vp_merge_drained(self._merge))

    def holding_source(self) -> int | None:
        """The source that keeps the reader from going on, because it may still add what comes next.

        None while a tuple is ready, and when the reader is drained.
        """
        found = lib.vp_merge_holding(self._merge)
        return None if found < 0 else int(found)

    def last_ts(self) -> int:
        """Read how far event time came at the source that came furthest; LEAST.ts if none reports any."""
        return int(lib.vp_merge_last_ts(self._merge))

    def until_ts(self) -> int:
        """The latest event time that may come, once all sources have reported one; else `UNTOLD`."""
        return int(lib.vp_merge_until_ts(self._merge))

    def waiting_tuples(self) -> int:
        """Tuples in the gate that were not delivered to this reader yet."""
        return int(lib.vp_merge_waiting(self._merge))

    def delivered_tuples(self) -> int:
        """Tuples that were delivered so far: the number of the next one, which is the same for all readers.

        Tuples count that were delivered to the readers before this one.
        """
        return int(lib.vp_merge_delivered(self._merge))


def _let_go(arena: Arena, at: object) -> None:
    """Nothing refers to an address in an arena any more; only till then the arena had to stay mapped."""


_SHARE: Final = 2
"""At most one half of a store is lent, so that its source can write into the other half meanwhile."""
LEAST_BYTES: Final = 64 * 1024
"""The least size that is lent; smaller columns are copied: a lease takes 2 us, which copies as much."""


class ClaimingReader(Reader):
    """One of several readers of a gate, each of whose tuples goes to one of them; for one thread at a time.

    A tuple goes to whoever takes it first. The tuples that a reader delivers ascend, as with any other. A
    claim is half of the reader's share of what waits, so claims get shorter where little is left. That is
    guided self-scheduling (C. D. Polychronopoulos, D. J. Kuck, IEEE Transactions on Computers, 1987). No
    claim is longer than the slice that is asked for, and slices are as long as their tuples are cheap.

    A reader that holds what it has delivered has one claim at a time: nothing else comes until `release`.

    A reader may rest: then it claims nothing more, and is only as far as the others have claimed. Its bell is
    rung behind each of their claims.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._gate = arguments[1]
        self._shares = 2 * int(lib.vp_gate_readers(self._gate))
        self._decoded: list[dict[int, int]] = [{} for _ in self._rings]
        """Of each source by slot which jumbo tuple was decoded last, by the number of tuples before it."""
        self._is_open = False
        """True if it has delivered something since the last release."""
        self._claimants: Callable[[], int] | None = None
        self._on_rest: Callable[[], None] = lambda: None
        self._rests = False

    def rest_by(self, claimants: Callable[[], int], on_rest: Callable[[], None]) -> None:
        """Have the reader rest from time to time.

        Args:
            claimants: returns how many of the gate's readers claim now; 0 while this one is none of them.
            on_rest: called when the reader comes to rest. Others may have to claim now what it does not. No
                bell wakes those of its own thread.
        """
        self._claimants, self._on_rest = claimants, on_rest

    def _look_for_rest(self, asked: Callable[[], int]) -> None:
        claimants = asked()
        if claimants:
            self._shares = 2 * claimants
        if self._rests == (not claimants):
            return
        self._rests = not claimants
        lib.vp_gate_rest_reader(self._gate, self.index, self._rests)
        if self._rests:
            self._on_rest()

    def ready(self) -> bool:
        """As in the base class; while it rests, nothing is ready but the end of its last claim."""
        if self._claimants is not None:
            self._look_for_rest(self._claimants)
        return super().ready() and (not self._rests or bool(lib.vp_merge_has_claim(self._merge)))

    def waiting_tuples(self) -> int:
        """As in the base class; while it rests, what waits is for others."""
        return 0 if self._rests else super().waiting_tuples()

    def release(self) -> None:
        """As in the base class."""
        self._is_open = False
        super().release()

    def _deliver(
        self, limit: int, into: Positions, *, joins: bool, borrows: bool
    ) -> tuple[list[Run], bytes | None]:
        if self._holds and self._is_open:
            return [], None
        if not self.ready():
            if not self._defers:
                self.release()
            return [], None
        share = max(self.waiting_tuples() // self._shares, 1)
        runs, order = super()._deliver(min(limit, share), into, joins=joins, borrows=False)
        self._is_open = bool(runs)
        return runs, order

    def _read(self, made: int, borrows: bool) -> list[Run]:
        # The end of a jumbo tuple may be another's, so what is kept may be of one that was there before.
        for source, slot, _, _ in _RUN.iter_unpack(self._run_bytes[: made * _RUN.size]):
            number = self._decoded[source].get(slot)
            if number is not None and number != lib.vp_ring_before(self._rings[source], slot):
                self._payloads[source][slot] = None
        return super()._read(made, borrows)

    def _decode(self, source: int, slot: int, *, lends: bool) -> Jumbo:
        self._decoded[source][slot] = lib.vp_ring_before(self._rings[source], slot)
        return super()._decode(source, slot, lends=lends)

    def outlook(self) -> tuple[bool, Position, int]:
        """As in the base class; what others have claimed is released, unless a claim is held."""
        if self._claimants is not None:
            self._look_for_rest(self._claimants)
        found = super().outlook()
        if self._rests and found[0]:
            found = (bool(lib.vp_merge_has_claim(self._merge)), *found[1:])
        if not (self._holds and self._is_open):
            self.release()
        return found


class Loans:
    """The leases of one reader: what is lent comes back before the room that it lies in is released.

    Args:
        sources: how many sources the reader has.
        store_bytes: the bytes that each of them has for payloads.
    """

    __slots__ = ("_due", "_left", "_lent", "_most")

    def __init__(self, sources: int, store_bytes: int) -> None:
        self._most = store_bytes // _SHARE
        self._lent = [0] * sources
        self._due: list[tuple[int, Lease]] = []
        self._left = 0

    @property
    def are_due(self) -> bool:
        """True if anything that was lent has been delivered to its end."""
        return bool(self._due)

    @property
    def due(self) -> int:
        """The number of leases that have been delivered to their end and have not ended."""
        return len(self._due)

    def limit(self, tuples: int) -> int:
        """The most tuples to be taken at once, out of so many: what is left of a jumbo tuple that was lent.

        With more it would be put together for the component, and what is put together is copied.
        """
        return min(tuples, self._left or tuples)

    def allow(self, source: int, size: int) -> bool:
        """True if so many more bytes of a source's store may be lent."""
        return size >= LEAST_BYTES and self._lent[source] + size <= self._most

    def lend(self, source: int, lease: Lease) -> None:
        """Note that a jumbo tuple of a source's was lent."""
        self._lent[source] += lease.size

    def delivered(self, source: int, lease: Lease, left: int) -> None:
        """Note that all tuples of a lease but so many have been delivered."""
        self._left = left
        if not left:
            self._due.append((source, lease))

    def put_back(self, lease: Lease, left: int) -> None:
        """Note that so many tuples of a lease are still to come, some of which had been delivered."""
        self._due = [found for found in self._due if found[1] is not lease]
        self._left = left

    def end(self) -> Lease | None:
        """End the leases that are due; returns the first that does not, as something refers to its memory."""
        while self._due:
            source, lease = self._due[-1]
            if not lease.end():
                return lease
            self._lent[source] -= lease.size
            self._due.pop()
        return None

    def forget(self, since: int) -> None:
        """Give up the leases that have become due after so many others, as nobody will see their tuples."""
        for source, lease in self._due[since:]:
            self._lent[source] -= lease.size
        del self._due[since:]
