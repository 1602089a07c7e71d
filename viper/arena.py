"""The arena: the one block of memory that the gates, bells and quotas of a run live in."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import DupFd
from typing import Any

from viper import segments
from viper._backend import ffi, lib
from viper.errors import ArenaError
from viper.segments import ANONYMOUS, available_bytes


@dataclass(frozen=True, slots=True)
class ArenaStatistics:
    """The amount of an arena that is taken."""

    capacity_bytes: int
    """Bytes that all regions together may take."""
    used_bytes: int
    """Bytes that they take, each rounded up to whole cache lines."""


class ArenaHandle:
    """The handle by which another process attaches a shared arena; an argument for that process.

    It can be pickled only on the way into a process that is being started, by spawn or forkserver: it
    carries an open file, which no bytes can.
    """

    def __init__(self, segment: int) -> None:
        self.segment = segment
        """File descriptor of the memory; closed with the handle."""

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        if get_spawning_popen() is None:
            raise ArenaError(
                "an arena's handle can be pickled only while a child process is being started: "
                "pass it as an argument of the process"
            )
        return _received, (DupFd(self.segment),)

    def __del__(self) -> None:
        os.close(self.segment)


def _received(segment: Any) -> ArenaHandle:
    return ArenaHandle(segment.detach())


class Arena:
    """A block of memory, handed out in regions that are never taken back.

    Memory that is not touched takes none, so when in doubt make it larger. `private` and `shared` make
    one, `attach` maps one that another process made.
    """

    def __init__(self, header: Any, capacity_bytes: int, handle: ArenaHandle | None) -> None:
        self._header: Any = ffi.gc(header, _unmapping(capacity_bytes))
        self._capacity_bytes = capacity_bytes  # the header of a shared one is in others' hands, too
        self._handle = handle

    @classmethod
    def private(cls, size_bytes: int) -> Arena:
        """Memory of this process alone.

        Raises:
            ArenaError: the system has no memory for it.
        """
        header = lib.vp_arena_new(_checked_size(size_bytes))
        if not header:
            raise ArenaError(f"the system has no {size_bytes} bytes for an arena")
        return cls(header, size_bytes, None)

    @classmethod
    def shared(cls, size_bytes: int, *, named: bool = not ANONYMOUS) -> Arena:
        """Memory that other processes can attach; it is gone when the last of them is.

        Args:
            size_bytes: what regions may take in all.
            named: make it the way of systems that know no memory without a name.

        Raises:
            ArenaError: the system has no memory for it, now or once all of it were touched.
        """
        size = lib.vp_arena_segment_size(_checked_size(size_bytes))
        # Without this the process would be killed by a page that is not there, in the middle of a run.
        available = available_bytes()
        if not size or (available is not None and size > available):
            raise ArenaError(f"an arena needs {size_bytes} bytes, and the system has {available} left")
        try:
            handle = ArenaHandle(segments.make(size, named))
        except OSError as error:
            raise ArenaError(f"no shared memory of {size_bytes} bytes for an arena: {error}") from error
        header = lib.vp_arena_format(handle.segment, size_bytes)
        if not header:
            raise _system_error(f"cannot map an arena of {size_bytes} bytes")
        return cls(header, size_bytes, handle)

    @classmethod
    def attach(cls, handle: ArenaHandle) -> Arena:
        """The arena that another process made.

        Raises:
            ArenaError: it is none, or of another version.
        """
        mine = ArenaHandle(os.dup(handle.segment))
        mapped: Any = ffi.new("vp_arena **")
        found: Any = ffi.new("vp_arena *")
        fault = lib.vp_arena_attach(mine.segment, mapped, found)
        if fault == lib.VP_ARENA_SYSTEM:
            raise _system_error("cannot map the arena of another process")
        if fault:
            raise _foreign(fault, found, os.fstat(mine.segment).st_size)
        return cls(mapped[0], found.capacity, mine)

    @property
    def is_shared(self) -> bool:
        """True if other processes can attach it."""
        return self._handle is not None

    def handle(self) -> ArenaHandle:
        """The handle by which another process attaches the arena.

        Raises:
            ArenaError: it is private.
        """
        if self._handle is None:
            raise ArenaError("a private arena cannot be attached by other processes: make a shared one")
        return self._handle

    def allocate(self, size_bytes: int) -> int:
        """The offset of a zeroed region. Only for the process that made the arena, one thread at a time.

        Raises:
            ArenaError: it has no bytes, there is no room for it, or the arena's header was overwritten.
        """
        _check_header(self._header)
        offset: int = lib.vp_arena_allocate(self._header, _checked_size(size_bytes, least=1))
        if not offset:
            found = self.statistics()
            raise ArenaError(
                f"no room for a region of {size_bytes} bytes: {found.used_bytes} of the arena's "
                f"{found.capacity_bytes} bytes are taken"
            )
        return offset

    def statistics(self) -> ArenaStatistics:
        """Measure how much is taken now."""
        return ArenaStatistics(capacity_bytes=self._header.capacity, used_bytes=self._header.used)

    def _at(self, offset: int, size_bytes: int) -> Any:
        """The address of a region.

        Raises:
            ArenaError: nothing of that size was allocated there.
        """
        begin = lib.vp_arena_segment_size(0)
        end = begin + min(self._header.used, self._capacity_bytes)
        if not begin <= offset <= end - size_bytes or lib.vp_arena_rounded(offset) != offset:
            raise ArenaError(
                f"no region of {size_bytes} bytes at offset {offset}: the arena is used up to {end}, "
                f"from {begin} on, and regions begin at multiples of {lib.vp_arena_rounded(1)}"
            )
        return lib.vp_arena_at(self._header, offset)


def _unmapping(capacity_bytes: int) -> Callable[[Any], None]:
    free = lib.vp_arena_free  # here, as the interpreter may be about to end when it is called
    return lambda header: free(header, capacity_bytes)


def _checked_size(size_bytes: int, least: int = 0) -> int:
    if not least <= size_bytes < 2**63:
        raise ArenaError(f"{size_bytes} bytes of an arena: expected {least} to 2**63 - 1")
    return size_bytes


def _system_error(what: str) -> ArenaError:
    return ArenaError(f"{what}: {os.strerror(ffi.errno)}")


def _foreign(fault: int, found: Any, size: int) -> ArenaError:
    if fault == lib.VP_ARENA_FOREIGN:
        _check_header(found)
    claimed, used = lib.vp_arena_segment_size(found.capacity), found.used
    return ArenaError(
        f"a segment of {size} bytes is no arena: its header tells of {claimed}, {used} of them used"
    )


def _check_header(header: Any) -> None:
    expected = {
        "magic": lib.VP_ARENA_MAGIC,
        "version": lib.VP_ARENA_VERSION,
        "layout": lib.vp_arena_layout(),
    }
    for field, value in expected.items():
        found = getattr(header, field)
        if found != value:
            raise ArenaError(
                f"the arena's header has {field} {found:#x}, this build expects {value:#x}: "
                "it was overwritten, or made by another version"
            )
