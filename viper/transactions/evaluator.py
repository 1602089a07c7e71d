"""The evaluator by which a process evaluates a group, and the choices that it has made."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena

AUTO: Final = "auto"
SERIAL: Final = "serial"
_CODES: Final = {
    AUTO: lib.VP_CHOICE_AUTO,
    SERIAL: lib.VP_CHOICE_SERIAL,
    "chains": lib.VP_SCHEME_CHAINS,
    "locks": lib.VP_SCHEME_LOCKS,
    "versions": lib.VP_SCHEME_VERSIONS,
    "partition_locks": lib.VP_SCHEME_PARTITION_LOCKS,
    "partitions_apart": lib.VP_SCHEME_PARTITIONS_APART,
}
EVALUATORS: Final = tuple(_CODES)
"""The names of all evaluators, that which chooses among others first."""
_PS: Final = 1000


class Reason(enum.IntEnum):
    """Why the evaluator is used that is used."""

    ASKED = 0
    """It is the one that was asked for."""
    ALONE = 1
    """There is one thread only."""
    UNKNOWN = 2
    """Too little has been evaluated to tell."""
    CHEAP = 3
    """Serial: instructions take too little time."""
    TRIED = 4
    """Serial: threads were tried, and gained too little."""
    PAYS = 5
    """Threads gain time."""
    NO_THREADS = 6
    """Serial: memory or threads could not be had."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choices of a process so far. Times are those of an instruction, None if they are not known."""

    serial: int
    """Evaluations by one thread."""
    parallel: int
    """Evaluations by several."""
    serial_ns: float | None
    parallel_ns: float | None
    reason: Reason


class Evaluator:
    """The evaluator of a group in one process; `Group.use` has the group evaluated by it.

    Args:
        arena: has the group.
        group: its offset.
        region: where `allocate` has made room, for this process.
        name: one of `EVALUATORS`.
        threads: how many may evaluate, those for which there is room at the most.

    Raises:
        ValueError: there is no such evaluator, or number of threads.
        MemoryError: there is no memory.
    """

    def __init__(self, arena: Arena, group: int, region: int, name: str, threads: int) -> None:
        _check(name, threads)
        arena._at(region, lib.vp_txchoice_size(threads))
        native = lib.vp_txchoice_new(lib.vp_txgroup_at(arena._header, group), region, _CODES[name], threads)
        if native == ffi.NULL:
            raise MemoryError("there is no memory for an evaluator of transactions")
        self._arena = arena  # to whose memory the native one refers
        self._native: Any = ffi.gc(native, lib.vp_txchoice_free)

    @staticmethod
    def size(threads: int) -> int:
        """Bytes that the room of one process takes of an arena; ValueError: no such number of threads."""
        _check(AUTO, threads)
        return int(lib.vp_arena_rounded(lib.vp_txchoice_size(threads)))

    @staticmethod
    def allocate(arena: Arena, threads: int) -> int:
        """Make room for one process.

        Raises:
            ArenaError: the arena has none.
            ValueError: there is no such number of threads.
        """
        _check(AUTO, threads)
        return arena.allocate(lib.vp_txchoice_size(threads))

    def evaluate(self, holder: int, me: int, who: Any) -> int:
        """As `vp_txgroup_evaluate`."""
        return int(lib.vp_txchoice_evaluate(self._native, holder, me, who))

    def end(self) -> None:
        """End its threads; later evaluations are serial."""
        lib.vp_txchoice_end(self._native)


def chosen(arena: Arena, group: int, region: int) -> Chosen:
    """Read the choices of the process that has its room at `region`; from any process. As for `Evaluator`."""
    found: Any = ffi.new("vp_txchosen *")
    lib.vp_txchoice_chosen(lib.vp_txgroup_at(arena._header, group), region, found)
    return Chosen(
        int(found.serial),
        int(found.parallel),
        found.serial_ps / _PS or None,
        found.parallel_ps / _PS or None,
        Reason(found.reason),
    )


def _check(name: str, threads: int) -> None:
    if name not in _CODES:
        raise ValueError(f"there is no evaluator {name!r}: expected {', '.join(EVALUATORS)}")
    if not 1 <= threads <= lib.VP_SCHEME_THREADS:
        raise ValueError(f"{threads} threads for an evaluator: expected 1 to {lib.VP_SCHEME_THREADS}")
