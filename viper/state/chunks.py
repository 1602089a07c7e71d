"""Key groups as bytes: how the rows of a table get into a checkpoint, and out of it into other tasks.

A chunk is a header and rows; viper/csrc/state_export.c has the form of these. Rows stand in the order of
their insertion, and are entered in it again, so that a group iterates the same in whichever task it is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from viper._rows import KeyedTable
from viper.hashing import HASH_VERSION

CHUNK_VERSION: Final = 1
"""Of the form of chunks."""
_MAGIC: Final = b"vpkg"
_HEADER: Final = struct.Struct("<4sHHII")
"""The word by which a chunk is known, its version, that of hashes, how many key groups, bytes of codes."""


def export(table: KeyedTable, group: int, limit: int = 1 << 20) -> Iterator[bytes]:
    """The rows of a key group as chunks, in the order of insertion.

    The chunks of a group belong together: what is entered or dropped while they are made may be in some of
    them, or make others wrong.

    Args:
        table: a state's, whose task owns the group.
        group: number of the key group.
        limit: bytes of a chunk. One ends behind the first row that reaches them; a map goes on in the next
            chunk between two entries, but no list, and no single value, is divided.

    Raises:
        LookupError: the group belongs to another task.
    """
    header = _header(table)
    number = entry = 0
    while (rows := table.export(group, number, entry, limit)) is not None:
        data, number, entry = rows
        yield header + data


def load(table: KeyedTable, group: int, chunk: bytes) -> None:
    """Enter the rows of a chunk, behind those that the group has.

    The chunks of a group are loaded in the order in which `export` gave them; a commit after each bounds what
    the undo log holds.

    Args:
        table: one with the same columns, elements or values, of a `KeyedState` with as many key groups.
        group: the key group that the rows are of.
        chunk: what `export` gave.

    Raises:
        ValueError: the bytes are no chunk of this version, or one of another table; nothing is entered then.
        LookupError: the group belongs to another task.
        StateFullError: there is no room for the rows; none is entered then.
    """
    expected = _header(table)
    if not chunk.startswith(expected):
        raise ValueError(f"state {table.name}: {_difference(chunk, table)}")
    table.load(group, memoryview(chunk)[len(expected) :])


def _header(table: KeyedTable) -> bytes:
    codes = table.codes.encode()
    return _HEADER.pack(_MAGIC, CHUNK_VERSION, HASH_VERSION, table.groups, len(codes)) + codes


def _difference(chunk: bytes, table: KeyedTable) -> str:
    """What is wrong with the header of a chunk."""
    if len(chunk) < _HEADER.size or not chunk.startswith(_MAGIC):
        return f"{chunk[:16]!r}... is no chunk of rows"
    _, version, hashes, groups, length = _HEADER.unpack_from(chunk)
    if (version, hashes) != (CHUNK_VERSION, HASH_VERSION):
        return (
            f"rows in form {version} with hashes in form {hashes}; "
            f"expected form {CHUNK_VERSION} with hashes in form {HASH_VERSION}"
        )
    if groups != table.groups:
        return f"rows of one of {groups} key groups; expected one of {table.groups}"
    codes = chunk[_HEADER.size : _HEADER.size + length].decode(errors="replace")
    return f"rows that hold {codes!r}; expected {table.codes!r}"
