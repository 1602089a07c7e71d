"""Jumbo tuples as bytes, for readers in other processes.

An encoding is a header, the tags, and the payload: rows, or columns in Arrow's form. Rows whose values are
    all of the common immutable types have a form of our own, in which addressed rows can be skipped; others
    are pickled. A process that can write into an arena can make its readers run code; it is as trusted as
    they are.
"""

from __future__ import annotations

import pickle
from array import array
from struct import Struct
from typing import TYPE_CHECKING, Final
from zlib import crc32

from viper.addressed import EVERYTHING
from viper.errors import CodecError
from viper.jumbo import Jumbo
from viper.payload import Payload, Row, Rows
from viper.rows import Decoder, encode_addressed, encode_rows

if TYPE_CHECKING:
    from typing_extensions import Buffer

_HEADER: Final = Struct("=B3xI")  # the form of the payload, bytes of the tags
_unpack: Final = _HEADER.unpack_from
_ALIGNMENT: Final = 8
"""Payloads begin at multiples of so many bytes, as Arrow wants it of columns that are read in place."""
_PLAIN: Final = 0
_PICKLED: Final = 1
_COLUMNS: Final = 2
_ADDRESSED: Final = 3
_UNTAGGED: Final = tuple(_HEADER.pack(form, 0) for form in (_PLAIN, _PICKLED, _COLUMNS, _ADDRESSED))
"""By form, the header where there are no tags."""
UNKNOWN: Final = 1
"""The mark of values that nothing is known of."""


def encode(jumbo: Jumbo) -> bytes:
    """The bytes of a jumbo tuple.

    Raises:
        CodecError: a value cannot be carried to another process.
    """
    payload = jumbo.payload
    if jumbo.tags is None and jumbo.mask_shift is None and isinstance(payload, Rows):
        whole = encode_rows(payload.rows, _UNTAGGED[_PLAIN])  # the common case, written where it stays
        return _UNTAGGED[_PICKLED] + _pickled(payload.rows) if whole is None else whole
    if jumbo.mask_shift is not None:
        form, encoded = _ADDRESSED, encode_addressed(payload.rows, jumbo.mask_shift)
    else:
        form, encoded = _PLAIN if isinstance(payload, Rows) else _COLUMNS, payload.encoded()
    if encoded is None:
        form, encoded = _PICKLED, _pickled(payload.rows)
    if jumbo.tags is None:
        return _UNTAGGED[form] + encoded
    tags = jumbo.tags.tobytes()
    return b"".join((_HEADER.pack(form, len(tags)), tags, bytes(-len(tags) % _ALIGNMENT), encoded))


def mark_of(jumbo: Jumbo, index: int) -> int:
    """A number that tuples of the same values have in common, of one in a jumbo tuple.

    It is `UNKNOWN` where only pickle carries them, as what that makes of equal values may differ.
    """
    payload = jumbo.payload
    is_rows = isinstance(payload, Rows)  # else only the one is made a row
    encoded = encode_rows(payload.rows[index : index + 1] if is_rows else payload.slice(index, 1).rows)
    return UNKNOWN if encoded is None else UNKNOWN + 1 + crc32(encoded)


def are_same(one: Jumbo, other: Jumbo) -> bool:
    """True if two jumbo tuples have the same tuples, as another process would see them.

    Raises:
        CodecError: a value cannot be carried to another process.
    """
    mine, others = (Jumbo(Rows(jumbo.payload.rows), jumbo.tags) for jumbo in (one, other))
    if encode(mine) == encode(others):
        return True
    # A set, for instance, may be encoded in another order.
    return mine.tags == others.tags and one.payload.rows == other.payload.rows


def _pickled(rows: list[Row]) -> bytes:
    try:
        return pickle.dumps(rows, 5)
    except Exception as error:
        raise CodecError(f"cannot carry {_culprit(rows)} to another process: {error}") from error


def _culprit(rows: list[Row]) -> str:
    """The first row that cannot be pickled."""
    for row in rows:
        try:
            pickle.dumps(row, 5)
        except Exception:
            return f"the tuple {row!r:.200}"
    return f"{len(rows)} tuples together"


def decode(
    buffer: Buffer, decoder: Decoder, *, lends: bool = False, mask: int = EVERYTHING
) -> Jumbo:
    """The jumbo tuple of an encoding, which is read in place.

    Its values are nobody else's, unless they are lent.

    Args:
        buffer: the encoding.
        decoder: remembers texts that come again; always the same one for the same reader.
        lends: whether columns are to lie in the encoding itself, on a lease.
        mask: what the reader has: addressed rows that have no bit in common with it are None.

    Raises:
        CodecError: it cannot be read here.
    """
    form, tag_bytes = _unpack(buffer)
    tags = None
    start = _HEADER.size + tag_bytes + -tag_bytes % _ALIGNMENT
    if tag_bytes:
        tags = array("H")
        tags.frombytes(memoryview(buffer)[_HEADER.size : _HEADER.size + tag_bytes])
    try:
        if form == _PLAIN:
            return Jumbo(Rows(decoder.decode(buffer, start)), tags)
        return Jumbo(_payload(form, memoryview(buffer)[start:], decoder, lends, mask), tags)
    except Exception as error:
        raise CodecError(
            f"cannot read a payload of {memoryview(buffer).nbytes} bytes from another process: {error}"
        ) from error


def _payload(form: int, encoded: memoryview, decoder: Decoder, lends: bool, mask: int) -> Payload:
    if form == _COLUMNS:
        from viper.columns.payload import decoded, lent  # wants pyarrow, which most topologies do without

        return lent(encoded) if lends else decoded(encoded)
    if form == _ADDRESSED:
        return Rows(decoder.decode_addressed(encoded, mask))
    return Rows(pickle.loads(encoded))
