"""The black box: what a process last wrote about itself, readable after it has died at any moment."""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena

_COUNT: Final = struct.Struct("=Q")
"""The number of records that have been written."""
_RECORD: Final = struct.Struct("=II")
"""A record's length in bytes, and its checksum."""


class BlackBox:
    """Keeps the last record of one writing process for any number of reading ones.

    Records are written to two slots in turn, each with a checksum, and are counted afterwards. A writer that
    is killed within a record leaves the one before. A reader that looks while both slots are written finds
    neither of them whole, and may look again.
    `create` makes one, `attach` finds one that another process made.
    """

    __slots__ = ("_arena", "_capacity", "_memory", "offset")

    def __init__(self, arena: Arena, offset: int, capacity_bytes: int) -> None:
        self._arena = arena  # keeps the memory
        size = _bytes_taken(capacity_bytes)
        self._memory = memoryview(ffi.buffer(ffi.cast("char *", arena._at(offset, size)), size))
        self._capacity = capacity_bytes
        self.offset = offset
        """Its offset in its arena."""

    @classmethod
    def create(cls, arena: Arena, capacity_bytes: int) -> BlackBox:
        """A new one without a record.

        Args:
            arena: where its memory comes from.
            capacity_bytes: the size of the longest record.

        Raises:
            ArenaError: the arena has no room for it.
        """
        return cls(arena, arena.allocate(cls.size(capacity_bytes)), capacity_bytes)

    @classmethod
    def attach(cls, arena: Arena, offset: int, capacity_bytes: int) -> BlackBox:
        """The one at an offset, with the capacity that it was made with; ArenaError if there is none."""
        return cls(arena, offset, capacity_bytes)

    @staticmethod
    def size(capacity_bytes: int) -> int:
        """Bytes that one for records of up to `capacity_bytes` takes of an arena."""
        return int(lib.vp_arena_rounded(_bytes_taken(capacity_bytes)))

    def write(self, record: bytes) -> bool:
        """Keep a record instead of the one before; False if it is too long, and the one before stays.

        Only one process may write, and one thread of it at a time.
        """
        if len(record) > self._capacity:
            return False
        count = self._count + 1
        at = self._slot(count)
        begin = at + _RECORD.size
        self._memory[begin : begin + len(record)] = record
        _RECORD.pack_into(self._memory, at, len(record), _checksum(count, record))
        _COUNT.pack_into(self._memory, 0, count)
        return True

    def read(self) -> bytes | None:
        """The last record that is whole; None if there is none."""
        count = self._count
        for number in (count + 1, count, count - 1):  # the first was written, and not counted any more
            record = self._record(number) if number > 0 else None
            if record is not None:
                return record
        return None

    def clear(self) -> None:
        """Forget all records; nobody may write meanwhile."""
        for number in (0, 1):
            _RECORD.pack_into(self._memory, self._slot(number), 0, 0)
        _COUNT.pack_into(self._memory, 0, 0)

    @property
    def _count(self) -> int:
        (count,) = _COUNT.unpack_from(self._memory, 0)
        return int(count)

    def _slot(self, number: int) -> int:
        return _COUNT.size + number % 2 * (_RECORD.size + self._capacity)

    def _record(self, number: int) -> bytes | None:
        at = self._slot(number)
        length, checksum = _RECORD.unpack_from(self._memory, at)
        if length > self._capacity:
            return None
        begin = at + _RECORD.size
        record = bytes(self._memory[begin : begin + length])
        return record if checksum == _checksum(number, record) else None


def _bytes_taken(capacity_bytes: int) -> int:
    return _COUNT.size + 2 * (_RECORD.size + capacity_bytes)


def _checksum(number: int, record: Any) -> int:
    """Of a record and its number, so that one that was overwritten is not taken for another; never 0."""
    return zlib.crc32(record, zlib.crc32(_COUNT.pack(number))) or 1
