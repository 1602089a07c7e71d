"""The arena: the one block of memory that the channels of a run live in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from viper._backend import ffi, lib
from viper.errors import ArenaError


@dataclass(frozen=True, slots=True)
class ArenaStatistics:
    """How much of an arena is taken."""

    capacity_bytes: int
    """What regions may take in all."""
    used_bytes: int
    """What they take, rounded up to whole cache lines."""


class Arena:
    """A block of private memory, handed out in regions that are never taken back.

    Memory that is not touched takes none, so when in doubt make it larger.

    Raises:
        ArenaError: the system has no memory for it.
    """

    def __init__(self, size_bytes: int) -> None:
        handle = lib.vp_arena_new(size_bytes)
        if not handle:
            raise ArenaError(f"the system has no {size_bytes} bytes for an arena")
        self._handle: Any = ffi.gc(handle, lib.vp_arena_free)

    def allocate(self, size_bytes: int) -> Any:
        """A pointer to a zeroed region, valid as long as the arena is referred to.

        Raises:
            ArenaError: there is no room for it, or the block's header is not this build's.
        """
        self._check_header()
        offset = lib.vp_arena_allocate(self._handle, size_bytes)
        if not offset:
            found = self.statistics()
            raise ArenaError(
                f"no room for a region of {size_bytes} bytes: {found.used_bytes} of the arena's "
                f"{found.capacity_bytes} bytes are taken"
            )
        return lib.vp_arena_at(self._handle, offset)

    def statistics(self) -> ArenaStatistics:
        """How much is taken now."""
        return ArenaStatistics(capacity_bytes=self._handle.capacity, used_bytes=self._handle.used)

    def _check_header(self) -> None:
        expected = {
            "magic": lib.VP_ARENA_MAGIC,
            "version": lib.VP_ARENA_VERSION,
            "layout": lib.vp_arena_layout(),
        }
        for field, value in expected.items():
            found = getattr(self._handle, field)
            if found != value:
                raise ArenaError(
                    f"the arena's header has {field} {found:#x}, this build expects {value:#x}: "
                    "it was overwritten, or made by another version"
                )
