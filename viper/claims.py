"""The readers of a gate that share its tuples: each claims the next ones when it has nothing to do."""

from __future__ import annotations

from typing import Any

from viper._backend import lib
from viper.jumbo import Jumbo
from viper.position import Position, Positions
from viper.reader import RUN, Reader, Run


class ClaimingReader(Reader):
    """One of several readers of a gate, each of whose tuples goes to one of them; for one thread at a time.

    A tuple goes to whoever takes it first. What a reader delivers ascends, as with any other. A claim is half
    of the reader's share of what waits, so claims get shorter where little is left. That is guided
    self-scheduling (C. D. Polychronopoulos, D. J. Kuck, IEEE Transactions on Computers, 1987). No claim is
    longer than the slice that is asked for, and slices are as long as their tuples are cheap.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._shares = 2 * int(lib.vp_gate_readers(arguments[1]))
        self._decoded: list[dict[int, int]] = [{} for _ in self._rings]
        """Of each source by slot which jumbo tuple was decoded last, by the number of tuples before it."""

    def _deliver(
        self, limit: int, into: Positions, *, joins: bool, borrows: bool
    ) -> tuple[list[Run], bytes | None]:
        if not self.ready():
            if not self._defers:
                self.release()
            return [], None
        share = max(self.waiting_tuples() // self._shares, 1)
        return super()._deliver(min(limit, share), into, joins=joins, borrows=False)

    def _read(self, made: int, borrows: bool) -> list[Run]:
        # The end of a jumbo tuple may be another's, so what is kept may be of one that was there before.
        for source, slot, _, _ in RUN.iter_unpack(self._run_bytes[: made * RUN.size]):
            number = self._decoded[source].get(slot)
            if number is not None and number != lib.vp_ring_before(self._rings[source], slot):
                self._payloads[source][slot] = None
        return super()._read(made, borrows)

    def _decode(self, source: int, slot: int, *, lends: bool) -> Jumbo:
        self._decoded[source][slot] = lib.vp_ring_before(self._rings[source], slot)
        return super()._decode(source, slot, lends=lends)

    def outlook(self) -> tuple[bool, Position, int]:
        """As in the base class; what others have claimed is released."""
        found = super().outlook()
        if not self._holds:
            self.release()
        return found
