"""The stable hash of version 2 in plain Python, from its description and without Python's own hashes."""

from __future__ import annotations

import datetime
import enum
import math
import uuid
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

KEY = b"ViperStorm hash2"
MODULUS = 2**61 - 1
WORD = 2**64 - 1
INFINITY = 314159


def reference_hash(value: Any) -> int:
    """The hash of a key."""
    return siphash13(canonical(value), KEY)


def canonical(value: Any) -> bytes:
    """The canonical bytes of a key; the last one is for their kind."""
    if value is None:
        return b"0"
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass") + b"t"
    if isinstance(value, bytes | bytearray):
        return bytes(value) + b"b"
    if isinstance(value, int | float | Decimal | Fraction):
        return residue(value).to_bytes(8, "little", signed=True) + b"n"
    if isinstance(value, list | tuple):
        return b"".join(map(_packed, value)) + b"s"
    if isinstance(value, set | frozenset):
        return b"".join(_word(found) for found in sorted(map(reference_hash, value))) + b"e"
    if isinstance(value, Mapping):
        pairs = sorted((reference_hash(key), reference_hash(of)) for key, of in value.items())
        return b"".join(_word(key) + _word(of) for key, of in pairs) + b"m"
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return (value - datetime.date(1970, 1, 1)).days.to_bytes(8, "little", signed=True) + b"d"
    return _named(value).encode() + b"x"


def residue(number: int | float | Decimal | Fraction) -> int:
    """Compute Python's numeric hash as it is defined, of a number that is not NaN."""
    if number in (math.inf, -math.inf):
        return INFINITY if number > 0 else -INFINITY
    exact = Fraction(number)
    if exact.denominator % MODULUS == 0:
        return INFINITY if exact > 0 else -INFINITY
    magnitude = abs(exact.numerator) * pow(exact.denominator, -1, MODULUS) % MODULUS
    signed = -magnitude if exact < 0 else magnitude
    return -2 if signed == -1 else signed


def siphash13(data: bytes, key: bytes) -> int:
    """SipHash-1-3, after its paper."""
    first, second = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    state = [first, second, first, second]
    # The four constants spell this text.
    for index, at in enumerate(range(0, 32, 8)):
        state[index] ^= int.from_bytes(b"somepseudorandomlygeneratedbytes"[at : at + 8], "big")
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        state[3] ^= word
        _mix(state)
        state[0] ^= word
    state[2] ^= 0xFF
    for _ in range(3):
        _mix(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _mix(v: list[int]) -> None:
    for a, b, by, also in ((0, 1, 13, True), (2, 3, 16, False), (2, 1, 17, True), (0, 3, 21, False)):
        v[a] = (v[a] + v[b]) & WORD
        v[b] = _rotated(v[b], by) ^ v[a]
        if also:
            v[a] = _rotated(v[a], 32)


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & WORD


def _packed(value: Any) -> bytes:
    return _word(reference_hash(value))


def _word(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _named(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        at = value if value.tzinfo is None else value.astimezone(datetime.UTC)
        return f"datetime {at.isoformat()}"
    if isinstance(value, datetime.time):
        return f"time {value.isoformat()}"
    if isinstance(value, datetime.timedelta):
        return f"timedelta {value // datetime.timedelta(microseconds=1)}"
    if isinstance(value, uuid.UUID):
        return f"uuid {value.hex}"
    assert isinstance(value, enum.Enum)
    return f"enum {type(value).__qualname__}.{value.name}"
