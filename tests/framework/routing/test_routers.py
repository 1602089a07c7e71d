"""Routers: who gets which row, however the rows come in buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.routing import Router, make_router, stable_hash, storm_hash
from framework.routing import router as router_module
from framework.routing.router import ByKey, PartialKey, RoundRobin
from framework.topology import Grouping
from tests.portions import at_every_change

FIELDS = ("word", "number")
GROUPINGS = [
    Grouping.SHUFFLE,
    Grouping.NONE,
    Grouping.LOCAL_OR_SHUFFLE,
    Grouping.fields("word"),
    Grouping.fields("number", "word"),
    Grouping.partial_key("word"),
]
HASHES = ["stable", "storm"]

values = st.one_of(
    st.text(max_size=2), st.integers(-3, 3), st.booleans(), st.none(), st.lists(st.integers(0, 2))
)
rows = st.lists(st.tuples(values, values), max_size=60)


def in_buffers(router: Router, rows: Sequence[Any], cuts: Sequence[int]) -> list[int]:
    edges = [0, *sorted(cut % (len(rows) + 1) for cut in cuts), len(rows)]
    return [target for start, end in pairwise(edges) for target in router.targets(rows[start:end])]


@pytest.mark.parametrize("hash_name", at_every_change(HASHES))
@pytest.mark.parametrize("grouping", GROUPINGS, ids=repr)
@given(
    rows=rows,
    tasks=st.integers(2, 9),
    producer=st.integers(0, 9),
    cuts=st.lists(st.integers(0, 99), max_size=9),
)
def test_buffers_do_not_show(
    grouping: Grouping, hash_name: str, rows: list[Any], tasks: int, producer: int, cuts: list[int]
) -> None:
    whole, cut = (make_router(grouping, FIELDS, tasks, producer, hash_name) for _ in range(2))
    targets = list(whole.targets(rows))
    assert in_buffers(cut, rows, cuts) == targets
    assert len(targets) == len(rows)
    assert all(0 <= target < tasks for target in targets)


@given(rows=rows, tasks=st.integers(2, 9))
def test_equal_keys_meet(rows: list[Any], tasks: int) -> None:
    targets = make_router(Grouping.fields("word"), FIELDS, tasks, 0).targets(rows)
    placed = list(zip([word for word, _ in rows], targets, strict=True))
    assert all(there == here for key, here in placed for other, there in placed if other == key)


@given(rows=rows, tasks=st.integers(2, 9))
def test_a_storm_cluster_places_keys_alike(rows: list[Any], tasks: int) -> None:
    one = make_router(Grouping.fields("word"), FIELDS, tasks, 0, "storm").targets(rows)
    assert list(one) == [storm_hash([word]) % tasks for word, _ in rows]
    two = make_router(Grouping.fields("number", "word"), FIELDS, tasks, 0, "storm").targets(rows)
    assert list(two) == [storm_hash([number, word]) % tasks for word, number in rows]


class TestRoundRobin:
    @given(st.integers(2, 20), st.integers(0, 40), st.lists(st.integers(0, 30), max_size=8))
    def test_shares_are_exactly_even(self, tasks: int, first: int, sizes: list[int]) -> None:
        router = RoundRobin(tasks, first)
        found = [target for size in sizes for target in router.targets([()] * size)]
        assert found == [(first + n) % tasks for n in range(sum(sizes))]

    def test_producers_begin_with_different_tasks(self) -> None:
        first = [make_router(Grouping.SHUFFLE, FIELDS, 3, producer).targets([()])[0] for producer in range(4)]
        assert first == [0, 1, 2, 0]


class TestByKey:
    def counting(self, calls: list[Any]) -> Callable[[Any], int]:
        def place(key: Any) -> int:
            calls.append(key)
            return stable_hash(key) % 3

        return place

    def test_a_key_is_hashed_once(self) -> None:
        calls: list[Any] = []
        router = ByKey([0], self.counting(calls))
        router.targets([("a",), ("b",), ("a",)])
        router.targets([("b",), ("c",)])
        assert calls == ["a", "b", "c"]

    def test_keys_seen_long_ago_are_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(router_module, "_KEYS_REMEMBERED", 2)
        calls: list[Any] = []
        router = ByKey([0], self.counting(calls))
        keys = ["a", "b", "c", "a"]
        first = router.targets([(key,) for key in keys])
        assert calls == ["a", "b", "c"]
        assert router.targets([(key,) for key in keys]) == first
        assert calls == ["a", "b", "c"] * 2

    def test_a_key_that_no_dict_takes(self) -> None:
        router = ByKey([0], lambda key: stable_hash(key) % 3)
        rows = [("a",), (["a"],), ({"b": 1},), (["a"],)]
        assert list(router.targets(rows)) == [stable_hash(key) % 3 for (key,) in rows]

    @pytest.mark.parametrize("key", [float("nan"), object()])
    @pytest.mark.parametrize("grouping", [Grouping.fields("word"), Grouping.partial_key("word")], ids=repr)
    def test_a_key_without_a_hash_is_refused(self, key: object, grouping: Grouping) -> None:
        router = make_router(grouping, FIELDS, 3, 0)
        with pytest.raises(TypeError, match="is no key"):
            router.targets([("a", 1), (key, 1)])


class TestStormPlacement:
    def test_equal_keys_of_different_types_part_ways(self) -> None:
        # To Java 1, 1.0 and true are three different keys.
        router = make_router(Grouping.fields("word"), FIELDS, 1000, 0, "storm")
        assert len(set(router.targets([(1, 0), (1.0, 0), (True, 0)]))) == 3


class TestPartialKey:
    def loads(self, keys: Sequence[str], tasks: int) -> tuple[dict[str, set[int]], Counter[int]]:
        router = PartialKey([0], stable_hash, tasks)
        targets = router.targets([(key,) for key in keys])
        seen: dict[str, set[int]] = {}
        for key, target in zip(keys, targets, strict=True):
            seen.setdefault(key, set()).add(target)
        return seen, Counter(targets)

    @pytest.mark.parametrize("tasks", [2, 3, 8])
    def test_each_key_has_two_tasks_at_most(self, tasks: int) -> None:
        seen, _ = self.loads([f"key{n * n % 47}" for n in range(5000)], tasks)
        assert max(len(targets) for targets in seen.values()) == 2

    def test_a_hot_key_is_halved(self) -> None:
        _, loads = self.loads(["hot"] * 1000, 8)
        assert list(loads.values()) == [500, 500]

    def test_skewed_keys_are_spread_more_evenly_than_by_fields(self) -> None:
        keys = [f"key{min(n % 97, n % 13)}" for n in range(10_000)]
        _, partial = self.loads(keys, 4)
        by_fields = Counter(stable_hash(key) % 4 for key in keys)
        assert max(partial.values()) < max(by_fields.values())
