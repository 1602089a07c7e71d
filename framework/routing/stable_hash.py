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
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

_MICROSECOND = datetime.timedelta(microseconds=1)


def stable_hash(key: object) -> int:
    """A hash in [0, 2**64) of a key of plain values.

    Takes str, bytes, numbers of any kind, None, dates and times, UUIDs, enums, and
    lists, tuples, sets and mappings of these.

    Raises:
        TypeError: a value whose equality this hash cannot follow, e.g. an object of a user's class.
    """
    return int.from_bytes(_digest(key), "little")


def _digest(key: object) -> bytes:
    if isinstance(key, enum.Enum) and not isinstance(key, numbers.Number | str):
        return _mixed(f"enum {type(key).__qualname__}.{key.name}".encode())
    if isinstance(key, str):
        return _mixed(key.encode("utf-8", "surrogatepass"))
    if isinstance(key, bytes | bytearray):
        return _mixed(b"bytes " + key)
    if isinstance(key, numbers.Number):
        return _mixed(_of_number(key))
    if isinstance(key, list | tuple):
        return _mixed(b"sequence " + b"".join(map(_digest, key)))
    if isinstance(key, set | frozenset):
        return _mixed(b"set " + b"".join(sorted(map(_digest, key))))
    if isinstance(key, Mapping):
        return _mixed(b"mapping " + b"".join(sorted(_digest(k) + _digest(v) for k, v in key.items())))
    return _mixed(_as_text(key).encode())


def _mixed(data: bytes) -> bytes:
    # Far cheaper functions spread most keys as evenly, but each has families of keys that it does not,
    # and the routers remember the keys that they have seen.
    return blake2b(data, digest_size=8, usedforsecurity=False).digest()


def _of_number(key: Any) -> bytes:
    # Python's numeric hash is the same for equal numbers of all types, and not randomized.
    hashed = hash(key)
    if key != key:
        raise TypeError("nan is no key: it does not equal itself")
    return b"number " + hashed.to_bytes(8, "little", signed=True)


def _as_text(key: object) -> str:
    # By the base class's name, as a subclass's instances equal those of the base.
    if key is None:
        return "none"
    if isinstance(key, datetime.datetime):
        return f"datetime {(key if key.tzinfo is None else key.astimezone(datetime.UTC)).isoformat()}"
    if isinstance(key, datetime.date):
        return f"date {key.isoformat()}"
    if isinstance(key, datetime.time):
        return f"time {_in_utc(key)}"
    if isinstance(key, datetime.timedelta):
        return f"timedelta {key // _MICROSECOND}"
    if isinstance(key, uuid.UUID):
        return f"uuid {key.hex}"
    raise TypeError(
        f"{key!r} is no key for a grouping: a {type(key).__qualname__} has no hash that is the same in every "
        "process; expected str, bytes, numbers, None, dates, UUIDs, or lists, tuples, sets and dicts of these"
    )


def _in_utc(key: datetime.time) -> str:
    offset = key.utcoffset()
    if offset is None:
        return key.isoformat()
    since_midnight = (
        datetime.datetime.combine(datetime.date.min, key.replace(tzinfo=None)) - datetime.datetime.min
    )
    return f"utc {(since_midnight - offset) // _MICROSECOND}"
