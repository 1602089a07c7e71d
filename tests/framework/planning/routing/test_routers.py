"""Routers: who gets which row, however the rows come in buffers."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.model.topology import Grouping
from framework.planning.routing import Router, make_router, storm_hash
from framework.planning.routing import router as router_module
from framework.planning.routing.router import ByKey, PartialKey, Shuffle
from tests.portions import at_every_change
from viper.hashing import hash_of_rare, stable_hash

FIELDS = ("word", "number")
DAYS = [datetime.date(2020, 1, day) for day in range(1, 4)]
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


class TestShuffle:
    @given(st.integers(2, 20), st.integers(0, 40), st.lists(st.integers(0, 30), max_size=8))
    def test_one_by_one(self, tasks: int, first: int, sizes: list[int]) -> None:
        router = Shuffle(tasks, first)
        found = [target for size in sizes for target in router.targets([()] * size)]
        assert found == [(first + n) % tasks for n in range(sum(sizes))]

    @given(
        st.integers(2, 5), st.integers(0, 9), st.integers(1, 40), st.lists(st.integers(0, 900), max_size=9)
    )
    def test_runs_depend_on_the_count_alone(
        self, tasks: int, first: int, longest: int, sizes: list[int]
    ) -> None:
        whole, cut = Shuffle(tasks, first, longest), Shuffle(tasks, first, longest)
        found = [target for size in sizes for target in cut.targets([()] * size)]
        assert found == list(whole.targets([()] * sum(sizes)))

    @pytest.mark.parametrize(("tasks", "longest"), [(2, 64), (3, 16), (5, 3), (4, 1)])
    def test_shares_differ_by_a_sixteenth_at_most(self, tasks: int, longest: int) -> None:
        shares = [0] * tasks
        for target in Shuffle(tasks, 1, longest).targets([()] * 20_000):
            shares[target] += 1
            assert max(shares) - min(shares) <= max(1, min(longest, min(shares) / 16))

    def test_runs_grow_up_to_the_longest(self) -> None:
        targets = Shuffle(3, 0, 12).targets([()] * 5000)
        runs = [len(list(group)) for _, group in itertools.groupby(targets)]
        grown = [1] * 96 + [2] * 48 + [4] * 48 + [8] * 48
        assert runs[: len(grown)] == grown and set(runs[len(grown) : -1]) == {12}

    def test_producers_begin_with_different_tasks(self) -> None:
        first = [make_router(Grouping.SHUFFLE, FIELDS, 3, producer).targets([()])[0] for producer in range(4)]
        assert first == [0, 1, 2, 0]


class TestByKey:
    @given(rows=rows, tasks=st.integers(2, 9))
    def test_the_hash_chooses_the_task(self, rows: list[Any], tasks: int) -> None:
        router = ByKey([1, 0], tasks, 256)
        assert list(router.targets(rows)) == [stable_hash((b, a)) % 256 * tasks // 256 for a, b in rows]

    @pytest.fixture
    def hashed(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        """The keys that are hashed in Python."""
        calls: list[Any] = []

        def noting(key: Any) -> int:
            calls.append(key)
            return hash_of_rare(key)

        monkeypatch.setattr(router_module, "placing_hash_of_rare", noting)
        return calls

    def test_a_rare_key_is_hashed_once(self, hashed: list[Any]) -> None:
        router = ByKey([0], 3, 256)
        router.targets([(DAYS[0],), ("plain",), (DAYS[1],), (DAYS[0],)])
        router.targets([(DAYS[1],), (DAYS[2],), (1,)])
        assert hashed == DAYS[:3]

    def test_rare_keys_seen_long_ago_are_forgotten(
        self, hashed: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(router_module, "_KEYS_REMEMBERED", 2)
        router = ByKey([0], 3, 256)
        rows = [(day,) for day in (*DAYS[:3], DAYS[0])]
        first = router.targets(rows)
        assert hashed == DAYS[:3]
        assert router.targets(rows) == first
        assert hashed == DAYS[:3] * 2

    def test_a_key_that_no_dict_takes(self) -> None:
        rows = [("a",), ({"a"},), ({"b": 1},), (DAYS[0],), ({"a"},)]
        expected = [stable_hash(key) % 256 * 3 // 256 for (key,) in rows]
        assert list(ByKey([0], 3, 256).targets(rows)) == expected

    @pytest.mark.parametrize("grouping", [Grouping.fields("word"), Grouping.partial_key("word")], ids=repr)
    def test_a_key_without_a_hash_is_refused(self, grouping: Grouping) -> None:
        router = make_router(grouping, FIELDS, 3, 0)
        with pytest.raises(TypeError, match="is no key"):
            router.targets([("a", 1), (object(), 1)])

    def test_nan_of_whichever_type_goes_to_one_task(self) -> None:
        router = make_router(Grouping.fields("word"), FIELDS, 256, 0)
        keys = [float("nan"), -float("nan"), Decimal("nan"), Decimal("snan"), np.float32("nan")]
        assert len(set(router.targets([(key, 1) for key in keys]))) == 1
        within = [(1, key) for key in keys] + [[1, key] for key in keys]
        assert len(set(router.targets([(key, 1) for key in within]))) == 1
        sets = [frozenset([1, key]) for key in (float("nan"), float("nan"))]
        assert len(set(router.targets([(key, 1) for key in sets]))) == 1


class TestStormPlacement:
    def test_equal_keys_of_different_types_part_ways(self) -> None:
        # To Java 1, 1.0 and true are three different keys.
        router = make_router(Grouping.fields("word"), FIELDS, 1000, 0, "storm")
        assert len(set(router.targets([(1, 0), (1.0, 0), (True, 0)]))) == 3


class TestPartialKey:
    def loads(self, keys: Sequence[str], tasks: int) -> tuple[dict[str, set[int]], Counter[int]]:
        router = PartialKey([0], tasks)
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


class TestColumns:
    """Of a record batch, each row goes where it goes as a tuple."""

    SCHEMA = pa.schema([("word", pa.string()), ("number", pa.int64())])
    batches = st.lists(
        st.lists(st.tuples(st.text(max_size=2), st.one_of(st.none(), st.integers(-3, 3))), max_size=9),
        max_size=6,
    )

    def columns(self, rows: Sequence[Any]) -> list[Any]:
        held = [list(values) for values in zip(*rows, strict=True)] or [[], []]
        return [pa.array(values, field.type) for values, field in zip(held, self.SCHEMA, strict=True)]

    @pytest.mark.few(1)
    @pytest.mark.parametrize("grouping", GROUPINGS, ids=repr)
    @given(batches=batches, tasks=st.integers(2, 9), as_tuples=st.lists(st.booleans(), min_size=6))
    def test_they_may_take_turns_with_tuples(
        self, grouping: Grouping, batches: list[Any], tasks: int, as_tuples: list[bool]
    ) -> None:
        router, expected = (make_router(grouping, FIELDS, tasks, 1) for _ in range(2))
        for rows, is_tuples in zip(batches, as_tuples, strict=False):
            by_columns = router.targets_of_columns(self.columns(rows), len(rows))
            assert by_columns == expected.targets(rows)
            if is_tuples:
                assert router.targets(rows) == expected.targets(rows)

    @pytest.mark.parametrize("grouping", [Grouping.fields("word"), Grouping.partial_key("word")], ids=repr)
    def test_what_only_values_tell_is_left_to_tuples(self, grouping: Grouping) -> None:
        router, other = (make_router(grouping, FIELDS, 5, 0) for _ in range(2))
        words = [[word] for word in "abcabc"]
        assert router.targets_of_columns([pa.array(words), pa.array(range(6))], 6) is None
        rows = [(word, number) for number, word in enumerate(words)]
        assert router.targets(rows) == other.targets(rows)

    def test_a_cluster_hashes_values(self) -> None:
        router = make_router(Grouping.fields("word"), FIELDS, 3, 0, "storm")
        assert router.targets_of_columns(self.columns([("a", 1)]), 1) is None

    @pytest.mark.parametrize("grouping", [Grouping.fields("word"), Grouping.partial_key("word")], ids=repr)
    def test_nan_is_left_to_tuples(self, grouping: Grouping) -> None:
        router, other = (make_router(grouping, FIELDS, 3, 0) for _ in range(2))
        keys = [1.0, float("nan"), 2.0, float("nan")]
        assert router.targets_of_columns([pa.array(keys), pa.array([1, 2, 3, 4])], 4) is None
        rows = list(zip(keys, [1, 2, 3, 4], strict=True))
        assert router.targets(rows) == other.targets(rows)
