"""The hash in C of values and rows, against its reference in Python; rows divided by their targets."""

from __future__ import annotations

import _imp
import datetime
import enum
import math
from array import array
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.viper.hash_reference import KEY, reference_hash, residue, siphash13
from viper.hashing import (
    group_of_hash,
    groups_of_task,
    hash_of_rare,
    hashes_of_rows,
    siphash,
    split,
    stable_hash,
    targets_of_rows,
    task_of_group,
)

REFERENCE_VECTORS = [
    *(0xABAC0158050FC4DC, 0xC9F49BF37D57CA93, 0x82CB9B024DC7D44D, 0x8BF80AB8E7DDF7FB, 0xCF75576088D38328),
    *(0xDEF9D52F49533B67, 0xC50D2B50C59F22A7, 0xD3927D989BB11140, 0x369095118D299A8E, 0x25A48EB36C063DE4),
    *(0x79DE85EE92FF097F, 0x70C118C1F94DC352, 0x78A384B157B4D9A2, 0x306F760C1229FFA7, 0x605AA111C0F95D34),
    *(0xD320D86D2A519956, 0xCC4FDD1A7D908B66),
]
"""Its authors' results for so many bytes 0, 1, 2 and so on, with the bytes 0 to 15 as key."""


class Colour(enum.Enum):
    RED = 1


class Mark(bytes, enum.Enum):
    CROSS = b"x"


class Day(datetime.date, enum.Enum):
    EPOCH = 1970, 1, 1


class Pair(NamedTuple):
    word: str
    number: int


any_text = st.text(st.characters(exclude_categories=()))
numbers = st.one_of(
    st.integers(),
    st.integers(-(2**65), 2**65),
    st.booleans(),
    st.floats(allow_nan=False),
    st.fractions(),
    st.decimals(allow_nan=False),
)
leaves = st.one_of(
    *(st.none(), any_text, st.binary(), numbers, st.dates(), st.datetimes(), st.timedeltas(), st.uuids()),
    *(st.times(), st.sampled_from(Colour)),
)
keys = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner), st.tuples(inner, inner), st.dictionaries(any_text, inner), st.frozensets(leaves)
    ),
    max_leaves=8,
)
NUMBERS_AT_EDGES: list[Any] = [
    *(0, -0.0, 1, -1, -1.0, Decimal(-1), -2, 2**61 - 2, 2**61 - 1, 2**61, 1 - 2**61, -(2**61)),
    *(2**63, -(2**63), 2**64 - 1, 2**122, float(2**61), 1.5, -1.5, 5e-324, -5e-324, 2.2250738585072014e-308),
    *(1.7976931348623157e308, math.inf, -math.inf, Decimal("Infinity"), 1e22, float(2**53), 2**53 + 1),
    *(Decimal("1e400"), Decimal("1e-400"), Fraction(1, 2**61 - 1), Fraction(-3, 7)),
]


class TestSipHash:
    @pytest.mark.parametrize("size", range(len(REFERENCE_VECTORS)))
    def test_vectors_of_its_authors(self, size: int) -> None:
        key = bytes(range(16))
        words = (int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little"))
        assert siphash(bytes(range(size)), *words) == REFERENCE_VECTORS[size]
        assert siphash13(bytes(range(size)), key) == REFERENCE_VECTORS[size]

    @given(st.binary(max_size=70), st.binary(min_size=16, max_size=16))
    def test_the_reference(self, data: bytes, key: bytes) -> None:
        words = (int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little"))
        assert siphash(data, *words) == siphash13(data, key)

    @given(st.binary(max_size=300), st.integers(0, 2**63 - 1))
    def test_the_interpreters_own(self, data: bytes, key: int) -> None:
        # Sources that are compiled are recognized by it (PEP 552), since 3.11 with these rounds.
        assert siphash(data, key, 0).to_bytes(8, "little") == _imp.source_hash(key, data)

    def test_the_key_is_that_of_the_version(self) -> None:
        assert siphash(b"word" + b"t") == siphash13(b"word" + b"t", KEY) == stable_hash("word")


class TestValues:
    @given(keys)
    @example("\ud800 and \U0001f40d")
    @example("é" * 64)
    @example("é" * 65)
    @example("\U0001f40d" * 1000)
    def test_the_reference(self, key: Any) -> None:
        assert stable_hash(key) == reference_hash(key)

    @pytest.mark.parametrize("size", range(30))
    def test_bytes_and_texts_of_each_length(self, size: int) -> None:
        assert stable_hash(b"x" * size) == reference_hash(b"x" * size)
        assert stable_hash("x" * size) == reference_hash("x" * size)

    @pytest.mark.parametrize("number", NUMBERS_AT_EDGES, ids=repr)
    def test_numbers_at_edges(self, number: Any) -> None:
        assert hash(number) == residue(number)
        assert stable_hash(number) == reference_hash(number)

    @given(st.floats(allow_nan=False))
    def test_floats(self, number: float) -> None:
        assert stable_hash(number) == stable_hash(Decimal(number)) == reference_hash(number)

    @pytest.mark.parametrize(
        ("rare", "plain"),
        [(Mark.CROSS, b"x"), (Day.EPOCH, datetime.date(1970, 1, 1)), (Pair("a", 1), ("a", 1.0))],
    )
    def test_an_instance_of_a_subclass_is_what_it_equals(self, rare: Any, plain: Any) -> None:
        assert rare == plain
        assert stable_hash(rare) == stable_hash(plain)

    def test_a_key_that_is_nested_too_deeply(self) -> None:
        key: Any = ()
        for _ in range(100_000):
            key = (key,)
        with pytest.raises(RecursionError):
            stable_hash(key)
        while key:  # else its end would be nested as deeply
            (key,) = key

    def test_a_list_that_changes_while_it_is_hashed(self) -> None:
        key: list[Any] = [1, 2, 3]

        class Clearing(datetime.date):
            def toordinal(self) -> int:
                key.clear()
                return super().toordinal()

        key[1:1] = [Clearing(2020, 1, 1)]
        assert stable_hash(key) == reference_hash([1, datetime.date(2020, 1, 1), 2, 3])


rows = st.lists(st.tuples(st.one_of(leaves, st.tuples(leaves, leaves)), numbers, any_text), max_size=6)


class TestRows:
    @given(rows)
    def test_a_key_of_one_field_is_its_value(self, rows: list[Any]) -> None:
        for index in range(3):
            found = memoryview(hashes_of_rows(rows, (index,))).cast("Q")
            assert list(found) == [stable_hash(row[index]) for row in rows]

    @given(rows, st.permutations(range(3)), st.integers(2, 3))
    def test_a_key_of_several_is_their_tuple(self, rows: list[Any], order: list[int], count: int) -> None:
        indexes = tuple(order[:count])
        found = memoryview(hashes_of_rows(rows, indexes)).cast("Q")
        assert list(found) == [stable_hash(tuple(row[index] for index in indexes)) for row in rows]

    @given(rows, st.one_of(st.integers(1, 70), st.sampled_from([1 << 15, (1 << 16) - 1, 1 << 16])), st.data())
    def test_targets_are_the_tasks_of_the_groups(self, rows: list[Any], tasks: int, data: Any) -> None:
        groups = 1 << data.draw(st.integers((tasks - 1).bit_length(), 16))
        found = array("H", targets_of_rows(tuple(rows), (0,), tasks, groups))
        expected = [group_of_hash(stable_hash(row[0]), groups) for row in rows]
        assert list(found) == [task_of_group(group, tasks, groups) for group in expected]

    @given(st.integers(0, 10), st.data())
    def test_each_group_is_of_one_task_and_none_has_two_more_than_another(self, bits: int, data: Any) -> None:
        groups = 1 << bits
        tasks = data.draw(st.integers(1, groups))
        shares = [groups_of_task(task, tasks, groups) for task in range(tasks)]
        assert [group for share in shares for group in share] == list(range(groups))
        for task, share in enumerate(shares):
            assert {task_of_group(group, tasks, groups) for group in share} <= {task}
        assert max(map(len, shares)) - min(map(len, shares)) <= 1

    def test_plain_values_need_no_python(self) -> None:
        plain = [("a", 1), ("é", 2**70), (b"b", 1.5), (None, True), (("a", (1, [2])), ["b"])]

        def refused(value: object) -> int:
            raise AssertionError(value)

        assert hashes_of_rows(plain, (0, 1), refused) == hashes_of_rows(plain, (0, 1))

    @pytest.mark.parametrize("row", [[1, 2], (1,), None])
    def test_what_is_no_row(self, row: Any) -> None:
        with pytest.raises(TypeError, match="is no row with a field 1"):
            hashes_of_rows([(1, 2), row], (1,))

    @pytest.mark.parametrize("tasks", [0, -1, 257])
    def test_tasks_that_cannot_be(self, tasks: int) -> None:
        with pytest.raises(ValueError, match=f"{tasks} tasks: expected 1 to 256, the number of key groups"):
            targets_of_rows([], (0,), tasks, 256)

    @pytest.mark.parametrize("groups", [0, -1, 3, 1 << 17])
    def test_groups_that_cannot_be(self, groups: int) -> None:
        with pytest.raises(ValueError, match=f"{groups} key groups: expected a power of two from 1 to 65536"):
            targets_of_rows([], (0,), 1, groups)

    @pytest.mark.parametrize("result", [-1, 2**64, "1", None])
    def test_what_is_no_hash(self, result: Any) -> None:
        with pytest.raises((OverflowError, TypeError)):
            hashes_of_rows([(object(),)], (0,), lambda value: result)

    def test_an_index_that_is_none(self) -> None:
        with pytest.raises(IndexError):
            hashes_of_rows([(1,)], (-1,))

    def test_rows_that_change_while_they_are_hashed(self) -> None:
        changing: list[Any] = [(object(),), (1,)]

        def clearing(value: object) -> int:
            changing.clear()
            return 1

        with pytest.raises(RuntimeError, match="changed"):
            hashes_of_rows(changing, (0,), clearing)

    @pytest.mark.parametrize(
        "hashed", [lambda row: stable_hash(row[0]), lambda row: hashes_of_rows([row], (0,))]
    )
    @pytest.mark.parametrize("key", [math.nan, (1, math.nan), [math.nan], Decimal("nan")], ids=repr)
    def test_nan_is_refused(self, hashed: Callable[[Any], object], key: Any) -> None:
        with pytest.raises(TypeError, match="nan is no key: it does not equal itself"):
            hashed((key,))

    def test_what_has_no_hash_is_refused(self) -> None:
        with pytest.raises(TypeError, match="is no key for a grouping"):
            hash_of_rare(object())


class TestSplit:
    @given(st.lists(st.integers(0, 9)), st.integers(1, 12))
    def test_rows_stand_by_part_and_in_order_within_it(self, targets: Sequence[int], parts: int) -> None:
        found, bounds = split(array("H", targets), parts)
        indexes = memoryview(found).cast("I").tolist()
        assert bounds[0] == 0 and bounds[-1] == len(indexes) and len(bounds) == parts + 1
        divided = [indexes[start:end] for start, end in pairwise(bounds)]
        assert divided == [[i for i, target in enumerate(targets) if target == part] for part in range(parts)]

    def test_the_highest_part(self) -> None:
        found, bounds = split(array("H", [65535, 0]), 1 << 16)
        assert memoryview(found).cast("I").tolist() == [1, 0]
        assert bounds[1] == bounds[65535] == 1 and bounds[65536] == 2

    def test_what_are_no_targets(self) -> None:
        with pytest.raises(ValueError, match="3 bytes are no 16-bit targets"):
            split(b"abc", 2)
        with pytest.raises(ValueError, match="0 parts"):
            split(b"", 0)
