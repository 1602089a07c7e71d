"""Values that stand for keys where these are compared: equal exactly for keys that are one."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from tests.viper.test_hashing import keys
from viper.hashing import NanError, are_partners, comparable, partner, placing_hash, stable_hash
from viper.state import token_of

NANS = [
    math.nan,
    -math.nan,
    Decimal("nan"),
    Decimal("snan"),
    complex(0, math.nan),
    (1, math.nan),
    [[math.nan]],
    {"a": math.nan},
]


@given(keys, keys)
def test_it_is_equal_for_keys_that_are_one(one: Any, other: Any) -> None:
    is_one = token_of(one) == token_of(other)
    assert (comparable(one) == comparable(other)) == is_one
    assert (hash(comparable(one)) == hash(comparable(other))) or not is_one
    assert are_partners(one, other) == (is_one and one is not None)


@given(keys)
def test_a_tuple_goes_by_its_key(key: Any) -> None:
    assert placing_hash(key) == stable_hash(key)


@pytest.mark.parametrize("key", NANS, ids=repr)
def test_nan_is_no_key_and_has_no_partner(key: Any) -> None:
    for refusing in (comparable, stable_hash, token_of):
        with pytest.raises(TypeError, match="nan is no key"):
            refusing(key)
    with pytest.raises(NanError):
        comparable(key)
    assert partner(key) is None
    assert not are_partners(key, key)
    assert placing_hash(key) == placing_hash(key)


def test_what_is_no_key_is_refused() -> None:
    with pytest.raises(TypeError, match="is no key for a grouping"):
        comparable(object())
    with pytest.raises(TypeError, match="is no key for a grouping"):
        are_partners(object(), 1)
