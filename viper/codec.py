"""Jumbo tuples as bytes, for readers in other processes.

An encoding is a header, the tags, and the rows: marshalled where all values are of the few immutable
types that marshal keeps exactly, else pickled. Who can write into an arena can make its readers run
code; it is as trusted as they are.
"""

from __future__ import annotations

import marshal
import pickle
from array import array
from struct import Struct
from typing import Final

from viper.errors import CodecError
from viper.jumbo import Jumbo, Row

_HEADER: Final = Struct("=BBxxI")  # the form of the rows, mutable, bytes of the tags
_MARSHALLED: Final = 0
_PICKLED: Final = 1


def encode(jumbo: Jumbo) -> bytes:
    """The bytes of a jumbo tuple.

    Raises:
        CodecError: a value cannot be carried to another process.
    """
    form, rows = _encode_rows(jumbo)
    tags = b"" if jumbo.tags is None else jumbo.tags.tobytes()
    return b"".join((_HEADER.pack(form, jumbo.mutable, len(tags)), tags, rows))


def _encode_rows(jumbo: Jumbo) -> tuple[int, bytes]:
    if not jumbo.mutable:  # marshal would make bytes of a bytearray, without a word
        try:
            return _MARSHALLED, marshal.dumps(jumbo.rows)
        except ValueError:
            pass  # a date, say
    try:
        return _PICKLED, pickle.dumps(jumbo.rows, 5)
    except Exception as error:
        raise CodecError(f"cannot carry {_culprit(jumbo.rows)} to another process: {error}") from error


def _culprit(rows: list[Row]) -> str:
    """The first row that cannot be pickled."""
    for row in rows:
        try:
            pickle.dumps(row, 5)
        except Exception:
            return f"the tuple {row!r:.200}"
    return f"{len(rows)} tuples together"


def decode(buffer: memoryview) -> Jumbo:
    """The jumbo tuple of an encoding, which is read in place.

    Raises:
        CodecError: it cannot be read here.
    """
    form, mutable, tag_bytes = _HEADER.unpack_from(buffer)
    tags = None
    start = _HEADER.size + tag_bytes
    if tag_bytes:
        tags = array("H")
        tags.frombytes(buffer[_HEADER.size : start])
    load = marshal.loads if form == _MARSHALLED else pickle.loads
    try:
        return Jumbo(load(buffer[start:]), tags, bool(mutable))
    except Exception as error:
        raise CodecError(
            f"cannot read a payload of {len(buffer)} bytes from another process: {error}"
        ) from error
