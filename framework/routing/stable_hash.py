"""A hash for keys that is the same in every process and every run.

Python's own hash of a str differs between processes. This one is fixed, and, as a
key's task depends on it, equal keys hash equally whatever their types (1, 1.0 and
True are one key). What cannot promise that is refused.
"""

from __future__ import annotations

import datetime
import enum
import numbers
import uuid
import zlib
from collections.abc import Mapping
from typing import Any

_MODULUS = (1 << 61) - 1


def stable_hash(key: object) -> int:
    """A hash in [0, 2**61 - 1) of a key of plain values.

    Takes str, bytes, numbers of any kind, None, dates and times, UUIDs, enums, and
    lists, tuples, sets and mappings of these.

    Raises:
        TypeError: a value whose equality this hash cannot follow, e.g. an object of a user's class.
    """
    if isinstance(key, enum.Enum) and not isinstance(key, numbers.Number | str):
        return _mix(f"{type(key).__qualname__}.{key.name}".encode())
    if isinstance(key, str):
        return _mix(key.encode("utf-8", "surrogatepass"))
    if isinstance(key, bytes | bytearray):
        return _mix(b"b" + key)
    if isinstance(key, numbers.Number):
        return _of_number(key)
    if key is None:
        return 0x9E3779B97F4A7C1 % _MODULUS
    if isinstance(key, list | tuple):
        return _of_sequence([stable_hash(item) for item in key])
    if isinstance(key, set | frozenset):
        return sum(stable_hash(item) for item in key) % _MODULUS
    if isinstance(key, Mapping):
        return sum(_of_sequence([stable_hash(k), stable_hash(v)]) for k, v in key.items()) % _MODULUS
    return _mix(_as_text(key).encode())


def _mix(data: bytes) -> int:
    # Two checksums that differ in start and polynomial; speed matters only on the first sight of a key.
    return (zlib.crc32(data) << 29 ^ zlib.adler32(data) * 0x9E3779B1) % _MODULUS


def _of_number(key: Any) -> int:
    # Python's numeric hash is the same for equal numbers of all types, and not randomized.
    if key != key:
        raise TypeError("nan is no key: it does not equal itself")
    return hash(key) * 0x9E3779B97F4A7C1 % _MODULUS


def _of_sequence(hashes: list[int]) -> int:
    mixed = 0x345678
    for item in hashes:
        mixed = (mixed * 1000003 ^ item) % _MODULUS
    return mixed


def _as_text(key: object) -> str:
    if isinstance(key, datetime.datetime) and key.tzinfo is not None:
        return key.astimezone(datetime.UTC).isoformat()
    if isinstance(key, datetime.date | datetime.time | datetime.timedelta):
        return f"{type(key).__name__} {key}"
    if isinstance(key, uuid.UUID):
        return key.hex
    raise TypeError(
        f"{key!r} is no key for a grouping: a {type(key).__qualname__} has no hash that is the same in every "
        "process; expected str, bytes, numbers, None, dates, UUIDs, or lists, tuples, sets and dicts of these"
    )
