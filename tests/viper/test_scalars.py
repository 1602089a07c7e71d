"""Scalars of NumPy and pandas as values of Python, against what both libraries say of them."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from viper.hashing import stable_hash
from viper.payload import copy_of
from viper.scalars import ScalarError, python_of
from viper.state import token_of

pd = pytest.importorskip("pandas")

Point = namedtuple("Point", "x y")  # one without types, as most code has them
FIELDS = np.dtype([("a", "i4"), ("at", "M8[s]")])

SCALARS: list[tuple[Any, Any]] = [
    (np.int8(-3), -3),
    (np.uint8(255), 255),
    (np.uint64(2**64 - 1), 2**64 - 1),
    (np.bool_(True), True),
    (np.float16(1.5), 1.5),
    (np.float32(0.1), 0.10000000149011612),
    (np.float64("inf"), float("inf")),
    (np.longdouble(0.5), 0.5),
    (np.complex64(1j), 1j),
    (np.clongdouble(2), 2 + 0j),
    (np.str_("a"), "a"),
    (np.bytes_(b"a\0b"), b"a\0b"),
    (np.void(b"ab"), b"ab"),
    (np.array((1, "2024-01-01"), FIELDS)[()], (1, dt.datetime(2024, 1, 1))),
    (np.datetime64("2024-05"), dt.date(2024, 5, 1)),
    (np.datetime64("2024-05-02"), dt.date(2024, 5, 2)),
    (np.datetime64("2024-05-02T03", "h"), dt.datetime(2024, 5, 2, 3)),
    (np.datetime64("1969-12-31T23:59:59.999999", "ns"), dt.datetime(1969, 12, 31, 23, 59, 59, 999999)),
    (np.datetime64(3, "25s"), dt.datetime(1970, 1, 1, 0, 1, 15)),
    (np.timedelta64(-5, "D"), dt.timedelta(-5)),
    (np.timedelta64(-5000, "ns"), dt.timedelta(microseconds=-5)),
    (np.datetime64("NaT"), None),
    (np.timedelta64("NaT", "us"), None),
    (np.array(5), 5),
    (np.array(np.datetime64(0, "s")), dt.datetime(1970, 1, 1)),
    (np.ma.masked, None),
    (pd.NaT, None),
    (pd.NA, None),
    (pd.Timestamp("2024-05-02 03:00"), dt.datetime(2024, 5, 2, 3)),
    (pd.Timestamp("2024-05-02", tz="UTC"), dt.datetime(2024, 5, 2, tzinfo=dt.UTC)),
    (pd.Timedelta("1s"), dt.timedelta(seconds=1)),
]
NONE_OF_PYTHON: list[tuple[Any, str]] = [
    (np.longdouble(1) / 3, "has more digits than a float"),
    (np.clongdouble(1) / 3, "has more digits than a complex"),
    (np.datetime64("20000-01-01"), "no datetime of Python's does"),
    (np.datetime64(1, "ns"), "has nanoseconds"),
    (np.timedelta64(5), "has no unit"),
    (np.timedelta64(5, "M"), "months or years"),
    (np.timedelta64(10**18, "s"), "no timedelta of Python's does"),
    (pd.Timestamp(1), "has nanoseconds"),
    (pd.Timedelta("1ns"), "has nanoseconds"),
    (pd.Timestamp(np.datetime64("20000-01-01", "s")), "no datetime of Python's"),
]
OTHERS = [
    1,
    True,
    0.5,
    "numpy",
    b"pandas",
    None,
    Decimal("1.10"),
    Fraction(1, 3),
    dt.date(2024, 1, 1),
    (1, "a"),
]


@pytest.mark.parametrize(("scalar", "expected"), SCALARS, ids=repr)
def test_a_scalar_is_what_it_stands_for(scalar: Any, expected: Any) -> None:
    for found in (python_of(scalar), copy_of(scalar)):
        assert (type(found), found) == (type(expected), expected)
    assert stable_hash(scalar) == stable_hash(expected)
    assert token_of(scalar) == token_of(expected)
    assert token_of((1, scalar)) == token_of((1, expected))


def test_what_is_no_number_stays_so() -> None:
    found = copy_of(np.float32("nan"))
    assert type(found) is float and found != found


@pytest.mark.parametrize(("scalar", "reason"), NONE_OF_PYTHON, ids=repr)
def test_what_would_differ_is_refused(scalar: Any, reason: str) -> None:
    for use in (copy_of, stable_hash, token_of, lambda value: copy_of([value])):
        with pytest.raises(ScalarError, match=reason):
            use(scalar)


@pytest.mark.parametrize("value", OTHERS, ids=repr)
def test_values_of_python_are_themselves(value: Any) -> None:
    assert python_of(value) is value
    assert copy_of(value) is value


def test_arrays_and_objects_stay_what_they_are() -> None:
    array = np.array([1, 2], np.int32)
    assert copy_of(array).dtype == array.dtype
    assert copy_of([array])[0].dtype == array.dtype
    assert type(copy_of(np.ma.array(5))) is np.ma.MaskedArray
    held = copy_of(Held(np.float32(0.5)))
    assert type(held.value) is np.float32
    assert copy_of(pd.Period("2024-01")) == pd.Period("2024-01")


class Held:
    """An object with a value of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value


WITHIN: list[tuple[Any, Any]] = [
    ([np.int64(1), (np.int8(2), {np.int64(3): np.float64(4)})], [1, (2, {3: 4.0})]),
    ({np.int64(1), 2}, {1, 2}),
    (frozenset({np.str_("a")}), frozenset({"a"})),
    (Counter(np.array([1, 1, 2])), Counter([1, 1, 2])),
    (Point(np.int64(1), [np.int64(2)]), Point(1, [2])),
    (defaultdict(list, {np.int64(1): [np.bool_(True)]}), defaultdict(list, {1: [True]})),
    (deque([np.int64(1)], maxlen=3), deque([1], maxlen=3)),
    (OrderedDict([(np.int64(2), 1), (np.int64(1), pd.NaT)]), OrderedDict([(2, 1), (1, None)])),
]


@pytest.mark.parametrize(("value", "expected"), WITHIN, ids=repr)
def test_scalars_within_values(value: Any, expected: Any) -> None:
    found = copy_of(value)
    assert (type(found), repr(found)) == (type(expected), repr(expected))
    assert getattr(found, "maxlen", 3) == 3


def test_a_value_that_holds_itself() -> None:
    value: list[Any] = [np.int64(1)]
    value.append(value)
    found = copy_of(value)
    assert found[1] is found and type(found[0]) is int


def test_keys_that_would_be_one_are_refused() -> None:
    with pytest.raises(ScalarError, match="keys that are one"):
        copy_of({pd.NaT: 1, None: 2})


def test_neither_library_is_imported() -> None:
    code = (
        "import sys, viper.payload, viper.scalars as s; from viper.payload import copy_of; copy_of([1]); "
        "assert not {'numpy', 'pandas'} & set(sys.modules), 'imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
