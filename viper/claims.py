"""The readers of a gate that share its tuples: each claims the next ones when it has nothing to do."""

from __future__ import annotations

import time
from typing import Any, Final

from viper._backend import lib
from viper.jumbo import Jumbo
from viper.position import Position, Positions
from viper.reader import RUN, Reader, Run

AT_ONCE_S: Final = 0.005
"""Seconds that the tuples of a claim take together at most, about.

A turn of a task costs some 60 us, which is little beside it. With 0.5 ms, tuples of 100 us cost 128 us of
processor time each, and 114 us where they are dealt out.
"""
_GROWTH: Final = 4
"""A claim has at most so many times the tuples of the one before, as the next ones may take longer."""


class ClaimingReader(Reader):
    """One of several readers of a gate, each of whose tuples goes to one of them; for one thread at a time.

    A tuple goes to whoever takes it first. What a reader delivers ascends, as with any other. A claim is half
    of the reader's share of what waits, so claims get shorter where little is left. That is guided
    self-scheduling (C. D. Polychronopoulos, D. J. Kuck, IEEE Transactions on Computers, 1987). A claim has at
    most as many tuples as took `AT_ONCE_S` seconds before, and one to begin with.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._shares = 2 * int(lib.vp_gate_readers(arguments[1]))
        self._length = 1
        """The most tuples of the next claim."""
        self._claimed = 0
        """The tuples of this one; 0 where it is done."""
        self._since_s = 0.0
        self._decoded: list[dict[int, int]] = [{} for _ in self._rings]
        """Of each source by slot which jumbo tuple was decoded last, by the number of tuples before it."""

    @property
    def length(self) -> int:
        """The most tuples that it claims at once now."""
        return self._length

    def _deliver(
        self, limit: int, into: Positions, *, joins: bool, borrows: bool
    ) -> tuple[list[Run], bytes | None]:
        runs: list[Run] = []
        order, before = None, len(into)
        if self.ready():  # which leaves out what others have claimed, so that it waits no more
            limit = min(limit, self._length, max(self.waiting_tuples() // self._shares, 1))
            runs, order = super()._deliver(limit, into, joins=joins, borrows=False)
        if runs:
            self._claimed, self._since_s = len(into) - before, time.monotonic()
        elif not self._defers:
            self.release()
        return runs, order

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
        """As in the base class; what others have claimed is released, and the last claim is done."""
        if self._claimed:
            took_s = (time.monotonic() - self._since_s) / self._claimed
            self._length = max(min(int(AT_ONCE_S / max(took_s, 1e-9)), self._claimed * _GROWTH), 1)
            self._claimed = 0
        found = super().outlook()
        if not self._holds:
            self.release()
        return found
