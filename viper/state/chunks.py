"""Key groups as bytes: how the rows of a table get into a checkpoint, and out of it into other tasks.

A chunk is a header and rows; viper/csrc/state/export.c has the form of these. A snapshot is all that a table
holds at one moment, or what has changed of it since another snapshot. It is taken out chunk by chunk, while
the table keeps changing. Rows are written with their numbers, so that they are entered again in the order of
their insertion, and a group iterates the same in whichever task it is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from viper._rows import KeyedTable
from viper.hashing import HASH_VERSION
from viper.state.memory import Writer

CHUNK_VERSION: Final = 2
"""Of the form of chunks."""
_MAGIC: Final = b"vpkg"
_HEADER: Final = struct.Struct("<4sHHII")
"""The word by which a chunk is known, its version, that of hashes, how many key groups, bytes of codes."""
_LOADED_AT_ONCE: Final = 1 << 22
"""Bytes of rows that are entered between two commits, which bounds what the undo log holds."""


class Chunk(NamedTuple):
    """Rows of one key group in a snapshot."""

    group: int
    is_whole: bool
    """True if the snapshot has all rows of the group; else it has those that have changed."""
    data: bytes


def next_chunk(table: KeyedTable, limit: int = 1 << 16) -> Chunk | None:
    """The next rows of the snapshot that `KeyedTable.cut` has begun; None when all have been taken.

    Args:
        table: a state's.
        limit: bytes of a chunk. One ends after the first row that reaches them; no row is divided.
    """
    piece = table.next_piece(limit)
    if piece is None:
        return None
    group, is_whole, rows = piece
    return Chunk(group, is_whole, _header(table) + rows)


def export(table: KeyedTable, limit: int = 1 << 20) -> Iterator[Chunk]:
    """All rows of the key groups that a task owns, group by group, as they are now.

    Args:
        table: a state's, of which nothing may be changed that is not committed.
        limit: as for `next_chunk`.
    """
    table.cut(0, 0, True)
    while (chunk := next_chunk(table, limit)) is not None:
        yield chunk


def load(table: KeyedTable, group: int, chunks: Sequence[bytes]) -> None:
    """Enter the rows of chunks, after those that the group has, and commit them.

    Args:
        table: one with the same columns, elements or values, of a `KeyedState` with as many key groups.
        group: the key group that the rows are of.
        chunks: `Chunk.data` of the group: of a snapshot that has it as a whole, and then of snapshots of
            what has changed since the one before.

    Raises:
        ValueError: the bytes are no chunk of this version, or one of another table; rows before those that
            are wrong may have been entered.
        LookupError: the group belongs to another task.
        StateFullError: there is no room for the rows.
    """
    expected = _header(table)
    for chunk in chunks:
        if not chunk.startswith(expected):
            raise ValueError(f"state {table.name}: {_difference(chunk, table)}")
    pieces = tuple(chunk[len(expected) :] for chunk in chunks)
    writer: Writer = table.owner
    limit = max(_LOADED_AT_ONCE, sum(map(len, pieces)) // 8)
    first: int | None = 0
    while first is not None:
        first = table.load(group, pieces, first, limit)
        writer.commit()


def _header(table: KeyedTable) -> bytes:
    codes = table.codes.encode()
    return _HEADER.pack(_MAGIC, CHUNK_VERSION, HASH_VERSION, table.groups, len(codes)) + codes


def _difference(chunk: bytes, table: KeyedTable) -> str:
    """Describe what is wrong with the header of a chunk."""
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
