"""The stable hash of keys, the same in every process and every run, in C for rows and for Arrow columns.

Python's own hash of a str differs between processes. This one is fixed. As a key's task depends on it, equal
keys hash equally whatever their types (1, 1.0 and True are one key). A column of keys hashes as its values do
in Python. A type that cannot promise that is refused.

The hash is SipHash-1-3 (J.-P. Aumasson and D. J. Bernstein, 2012) with a fixed key over canonical bytes,
which end with a byte for their kind. `csrc/keys/canonical.h` has the form of plain values: str, bytes, int,
float, bool, None, and tuples and lists of these. C calls `hash_of_rare` for all others.

Of no key, but of what is stored, `xxh64` makes checksums.
"""

from __future__ import annotations

import datetime
import enum
import fractions
import math
import numbers
import pickle
import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from viper import _rows
from viper._rows import siphash, split, xxh64
from viper.scalars import python_of

__all__ = [
    "HASH_VERSION",
    "ArrowColumn",
    "NanError",
    "are_partners",
    "canonical_of_rare",
    "comparable",
    "group_of_hash",
    "groups_of_task",
    "hash_of_rare",
    "hashes_of_columns",
    "hashes_of_rows",
    "partner",
    "placing_hash",
    "placing_hash_of_rare",
    "siphash",
    "split",
    "stable_hash",
    "targets_of_columns",
    "targets_of_rows",
    "task_of_group",
    "xxh64",
]

HASH_VERSION = 2
"""Goes up when keys hash otherwise. Whatever is kept by key, or by its hash, belongs to one version."""

Row = tuple[Any, ...]

_MICROSECOND = datetime.timedelta(microseconds=1)
_EPOCH = datetime.date(1970, 1, 1).toordinal()

# The last byte of canonical bytes; csrc/keys/canonical.h has the others.
_DATE = b"d"
_SET = b"e"
_MAPPING = b"m"
_NAMED = b"x"
_NAN_HASH = siphash(b"nan" + _NAMED)

_PLAIN = frozenset((str, int, float, bool, bytes))
"""The types whose values equal each other exactly if they are one key."""


class ArrowColumn(Protocol):
    """An array of any library that exports it through the Arrow C data interface, such as pyarrow's."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Capsules of the schema and of the array."""


def stable_hash(key: object) -> int:
    """A hash in [0, 2**64) of a key of plain values.

    Takes str, bytes, numbers of any kind, None, dates and times, UUIDs, enums, and
    lists, tuples, sets and mappings of these.

    Raises:
        TypeError: a value whose equality this hash cannot follow, e.g. an object of a user's class.
    """
    return _rows.hash_of(key, hash_of_rare)


def hashes_of_rows(
    rows: Sequence[Row], indexes: tuple[int, ...], rare: Callable[[Any], int] | None = None
) -> bytes:
    """The hash of each row's key, as native unsigned 64-bit numbers.

    Args:
        rows: tuples.
        indexes: the fields of the key; a key of one field is its value, of several the tuple of their values.
        rare: what hashes values that are not plain; `hash_of_rare` if it is left out.

    Raises:
        TypeError: a key that has no stable hash.
    """
    return _rows.hashes_of_rows(rows, indexes, rare or hash_of_rare)


def group_of_hash(hashed: int, groups: int) -> int:
    """The key group of a key with this hash, of a power of two of groups."""
    return hashed & (groups - 1)


def task_of_group(group: int, tasks: int, groups: int) -> int:
    """The index of the task that has a key group: each has as many in a row as any other, or one more."""
    return group * tasks // groups


def groups_of_task(task: int, tasks: int, groups: int) -> range:
    """The key groups of a task, given by its index."""
    return range(-(-task * groups // tasks), -(-(task + 1) * groups // tasks))


def targets_of_rows(
    rows: Sequence[Row],
    indexes: tuple[int, ...],
    tasks: int,
    groups: int,
    rare: Callable[[Any], int] | None = None,
) -> bytes:
    """The index of the task that has the key group of each row, as native unsigned 16-bit numbers.

    Args:
        rows: as for `hashes_of_rows`.
        indexes: as for `hashes_of_rows`.
        tasks: from 1 to the number of groups.
        groups: a power of two from 1 to 65,536.
        rare: as for `hashes_of_rows`.

    Raises:
        TypeError: a key that has no stable hash.
        ValueError: a number out of range.
    """
    return _rows.targets_of_rows(rows, indexes, tasks, groups, rare or hash_of_rare)


def hashes_of_columns(columns: Sequence[ArrowColumn]) -> bytes | None:
    """The hash of each row's key in columns, as native unsigned 64-bit numbers.

    A row hashes as its values do in Python: a timestamp as the int of its unit, whatever its zone, a date as
    a `datetime.date`, and null as None.

    Args:
        columns: the fields of the key, one or several of equal length. They are booleans, integers, floats of
            32 and 64 bits, decimals of 128, timestamps, or dates of 32 bits. Or they are strings and binary
            values with offsets of 32 or 64 bits or of fixed size.

    Returns:
        None where a column is of another type; its keys have to be hashed as values.

    Raises:
        TypeError: a key is NaN; the message names the row, from 0 upwards.
        ValueError: the columns differ in length.
    """
    return _rows.hashes_of_columns(columns)


def targets_of_columns(columns: Sequence[ArrowColumn], tasks: int, groups: int) -> bytes | None:
    """The index of the task that has the key group of each row in columns, as native unsigned 16-bit numbers.

    Arguments, result and errors are otherwise those of `hashes_of_columns` and `targets_of_rows`.
    """
    return _rows.targets_of_columns(columns, tasks, groups)


def hash_of_rare(key: Any) -> int:
    """The stable hash of a value that C leaves to Python: of a rarer type, of a subclass, or NaN.

    An instance of a subclass equals those of its base, and hashes as they do. A scalar of NumPy or pandas is
    the value of Python that it stands for.

    Raises:
        TypeError: as for `stable_hash`.
    """
    return _hash_of_rare(key, hash_of_rare)


def placing_hash_of_rare(key: Any) -> int:
    """As `hash_of_rare`, for what only says where a tuple goes: NaN has one, too, of whichever type.

    NaN is no key of anything that is kept, as it does not equal itself. But a tuple with it goes to the same
    task whenever it comes, as it does where there is one task only, and that task says what becomes of it.
    """
    return _NAN_HASH if _is_nan(key) else _hash_of_rare(key, placing_hash_of_rare)


def placing_hash(key: object) -> int:
    """As `stable_hash`, by `placing_hash_of_rare`."""
    return _rows.hash_of(key, placing_hash_of_rare)


def _hash_of_rare(key: Any, rare: Callable[[Any], int]) -> int:
    scalar = python_of(key)
    if scalar is not key:
        return _rows.hash_of(scalar, rare)
    if isinstance(key, str):
        return stable_hash(str.__str__(key))
    if isinstance(key, bytes | bytearray):
        return stable_hash(bytes(key))
    if isinstance(key, numbers.Number):
        return stable_hash(_residue(key))
    if isinstance(key, list | tuple):
        return _rows.hash_of(tuple(key), rare)
    if isinstance(key, set | frozenset):
        return siphash(_joined(sorted(_rows.hash_of(member, rare) for member in key)) + _SET)
    if isinstance(key, Mapping):
        pairs = sorted((_rows.hash_of(k, rare), _rows.hash_of(v, rare)) for k, v in key.items())
        return siphash(_joined(number for pair in pairs for number in pair) + _MAPPING)
    if isinstance(key, datetime.date) and not isinstance(key, datetime.datetime):
        return siphash((key.toordinal() - _EPOCH).to_bytes(8, "little", signed=True) + _DATE)
    return siphash(_as_text(key).encode() + _NAMED)


def comparable(key: Any, nan: Hashable = None) -> Hashable:
    """A hashable value that equals that of another key exactly if both are one key.

    Of most keys it is the key itself. It is for dictionaries and comparisons of keys in one process; other
    processes may make another one.

    Args:
        key: the key.
        nan: what stands for NaN, which is no key; None to refuse it.

    Raises:
        TypeError: as for `stable_hash`.
    """
    if type(key) in _PLAIN:
        return _number(key, nan)  # or a text, which is no NaN
    key = python_of(key)
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bytes | bytearray):
        return bytes(key)
    if isinstance(key, numbers.Number):
        return _number(key, nan)
    if isinstance(key, list | tuple):
        return tuple([comparable(member, nan) for member in key])
    if isinstance(key, set | frozenset):
        return frozenset([comparable(member, nan) for member in key])
    if isinstance(key, Mapping):
        return _Pairs(frozenset([(comparable(k, nan), comparable(v, nan)) for k, v in key.items()]))
    if key is not None:
        stable_hash(key)  # which refuses what is no key
    found: Hashable = key
    return found


def partner(value: Any) -> Hashable | None:
    """The value that a join finds partners by: equal for equal keys, as that of `comparable`.

    It is None where there is no partner, as in SQL: for None itself, and for what is NaN or has it within.

    Raises:
        TypeError: the value is no key.
    """
    try:
        return comparable(value)
    except NanError:
        return None


def are_partners(left: Any, right: Any) -> bool:
    """True if a join takes two values for equal; errors as of `partner`."""
    if type(left) in _PLAIN and type(right) in _PLAIN:
        return bool(left == right)
    found = partner(left)
    return found is not None and found == partner(right)


class NanError(TypeError):
    """NaN, where a key is wanted."""

    def __init__(self) -> None:
        super().__init__("nan is no key: it does not equal itself")


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs of a mapping."""

    pairs: frozenset[Any]


def _number(key: Any, nan: Hashable) -> Hashable:
    if not _is_nan(key):
        found: Hashable = key
        return found
    if nan is None:
        raise NanError
    return nan


def _is_nan(key: Any) -> bool:
    if type(key) is float:
        return key != key
    return isinstance(key, numbers.Number) and bool(key.is_nan() if isinstance(key, Decimal) else key != key)


def canonical_of_rare(key: Any) -> tuple[Any] | bytes:
    """Make the substitute for a key that C leaves to Python: the same for equal keys, and for no others.

    C leaves to Python what is no plain value, and also an int beyond 64 bits and a float that may equal one.

    Returns:
        In a tuple the plain value that the key equals; else bytes.

    Raises:
        TypeError: as for `stable_hash`.
    """
    scalar = python_of(key)
    if scalar is not key:
        return (scalar,)
    if isinstance(key, str):
        return (str.__str__(key),)
    if isinstance(key, bytes | bytearray):
        return (bytes(key),)
    if isinstance(key, numbers.Number):
        return _canonical_number(key)
    if isinstance(key, list | tuple):
        return (tuple(key),)
    if isinstance(key, set | frozenset):
        return pickle.dumps(("set", sorted(map(_canonical_member, key))), 5)
    if isinstance(key, Mapping):
        pairs = ((_canonical_member(k), _canonical_member(v)) for k, v in key.items())
        return pickle.dumps(("mapping", sorted(pairs)), 5)
    if isinstance(key, datetime.date) and not isinstance(key, datetime.datetime):
        return pickle.dumps(("date", key.toordinal()), 5)
    return pickle.dumps(("named", _as_text(key)), 5)


def _canonical_member(key: Any) -> bytes:
    return _rows.canonical_key(key, hash_of_rare, canonical_of_rare)


def _canonical_number(key: Any) -> tuple[Any] | bytes:
    if isinstance(key, numbers.Complex) and key.imag != 0:
        return pickle.dumps(("complex", *map(_canonical_member, (key.real, key.imag))), 5)
    real = key.real
    if real in (math.inf, -math.inf):
        return (float(real),)
    exact = fractions.Fraction(real)
    if exact.denominator == 1 and -(2**63) <= exact.numerator < 2**63:
        return (exact.numerator,)
    if exact.denominator != 1 and abs(exact) < 2**53 and fractions.Fraction(float(exact)) == exact:
        return (float(exact),)
    return pickle.dumps(("number", exact.numerator, exact.denominator), 5)


def _residue(key: Any) -> int:
    # Python's numeric hash is the same for equal numbers of all types, and not randomized.
    if _is_nan(key):
        raise NanError
    return hash(key)


def _joined(hashes: Iterable[int]) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in hashes)


def _as_text(key: object) -> str:
    # By the base class's name, as a subclass's instances equal those of the base.
    if isinstance(key, datetime.datetime):
        return f"datetime {(key if key.tzinfo is None else key.astimezone(datetime.UTC)).isoformat()}"
    if isinstance(key, datetime.time):
        return f"time {_in_utc(key)}"
    if isinstance(key, datetime.timedelta):
        return f"timedelta {key // _MICROSECOND}"
    if isinstance(key, uuid.UUID):
        return f"uuid {key.hex}"
    if isinstance(key, enum.Enum):  # one that equals a value of another type has been that value above
        return f"enum {type(key).__qualname__}.{key.name}"
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
