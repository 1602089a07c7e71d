"""A quota is shared, settled and used up."""

from __future__ import annotations

import pytest

from viper.arena import Arena
from viper.quota import Quota


@pytest.fixture
def arena() -> Arena:
    return Arena.private(10_000)


def test_what_is_not_needed_goes_back(arena: Arena) -> None:
    quota = Quota.create(arena, 10)
    other = Quota.attach(arena, quota.offset)
    assert (quota.take(7), other.take(7), quota.take(1)) == (7, 3, 0)
    assert not quota.used_up
    other.settle(7, 4)
    assert quota.left == 3
    assert quota.take(100) == 3
    quota.settle(3, 3)
    quota.settle(3, 3)
    assert quota.used_up and other.used_up and quota.left == 0


def test_more_may_be_needed_than_there_was(arena: Arena) -> None:
    quota = Quota.create(arena, 5)
    quota.settle(quota.take(5), 9)
    assert quota.used_up and quota.left == 0
    assert quota.take(1) == 0


def test_nothing_may_be_spent_of_an_empty_one(arena: Arena) -> None:
    quota = Quota.create(arena, 0)
    assert quota.used_up and quota.take(1) == 0


def test_no_limit(arena: Arena) -> None:
    quota = Quota.create(arena, None)
    assert quota.take(2**40) == 2**40
    quota.settle(0, 2**62)
    assert quota.left is None and not quota.used_up


@pytest.mark.parametrize("limit", [-1, 2**63 - 1])
def test_limits_out_of_range(arena: Arena, limit: int) -> None:
    with pytest.raises(ValueError, match=f"limit={limit}: expected 0 to"):
        Quota.create(arena, limit)


@pytest.mark.parametrize("count", [-1, 2**63])
def test_counts_out_of_range(arena: Arena, count: int) -> None:
    quota = Quota.create(arena, 3)
    for method in (quota.take, lambda n: quota.settle(n, 0), lambda n: quota.settle(0, n)):
        with pytest.raises(ValueError, match=f"^{count} of a quota: expected 0 to"):
            method(count)
    assert quota.left == 3
