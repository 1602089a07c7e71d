from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from spark_ingest.errors import JobError  # noqa: E402
from spark_ingest.job.stream_spec import TIME  # noqa: E402
from spark_ingest.replaying.values import BLOCK_ROWS, Blocks  # noqa: E402
from viper.columns import scalars  # noqa: E402

UTC = datetime.UTC


def blocks_of(column: Any, unit: str = "us") -> list[Any]:
    batch = pa.record_batch({TIME: pa.array(range(len(column)), pa.int64()), "value": column})
    return list(Blocks(unit).of(batch))


def converted(column: Any, unit: str = "us") -> list[Any]:
    return [value for block in blocks_of(column, unit) for (value,) in block.rows]


def exactly(found: list[Any], expected: list[Any]) -> None:
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


COLUMNS = {
    "int8": (pa.int8(), [-128, None, 127]),
    "int16": (pa.int16(), [-(2**15), None, 2**15 - 1]),
    "int32": (pa.int32(), [-(2**31), None, 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), None, 2**63 - 1]),
    "uint64": (pa.uint64(), [0, None, 2**64 - 1]),
    "float": (pa.float32(), [0.5, None, -1.25]),
    "double": (pa.float64(), [0.1, None, float("inf")]),
    "bool": (pa.bool_(), [True, None, False]),
    "string": (pa.string(), ["", None, "naïve \U0001f409\0"]),
    "large_string": (pa.large_string(), ["x", None, "ÿ"]),
    "binary": (pa.binary(), [b"", None, b"\0\xff"]),
    "date": (pa.date32(), [datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)]),
    "decimal": (
        pa.decimal128(38, 2),
        [Decimal("-0.10"), None, Decimal("1234567890123456789012345678901234.56")],
    ),
    "small decimal": (pa.decimal128(12, 9), [Decimal("1E-9"), None, Decimal("0E-9")]),
    "duration": (pa.duration("us"), [datetime.timedelta(days=-1), None, datetime.timedelta(microseconds=1)]),
    "null": (pa.null(), [None, None, None]),
    "list": (pa.list_(pa.int64()), [(1, None, 3), None, ()]),
    "large_list": (pa.large_list(pa.string()), [("a",), None, ("b", "c")]),
    "nested list": (pa.list_(pa.list_(pa.bool_())), [((True,), None, ()), None, ()]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_of_every_type(name: str) -> None:
    kind, expected = COLUMNS[name]
    exactly(converted(pa.array(expected, kind)), expected)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_slice_of_a_column_has_its_own_values(name: str) -> None:
    kind, expected = COLUMNS[name]
    array = pa.array(expected * 4, kind)
    for start in range(len(array)):
        exactly(converted(array.slice(start, 5)), (expected * 4)[start : start + 5])


@pytest.mark.parametrize("name", COLUMNS)
def test_no_rows_make_no_block(name: str) -> None:
    assert blocks_of(pa.array([], COLUMNS[name][0])) == []


def test_structs_are_tuples_of_their_values() -> None:
    kind = pa.struct([("city", pa.string()), ("at", pa.timestamp("us")), ("tags", pa.list_(pa.string()))])
    given = [{"city": "Oslo", "at": 7, "tags": ["a"]}, None, {"city": None, "at": None, "tags": None}]
    expected = [("Oslo", 7, ("a",)), None, (None, None, None)]
    assert converted(pa.array(given, kind)) == expected
    assert converted(pa.array(given, kind).slice(1)) == expected[1:]


def test_a_struct_without_fields_is_an_empty_tuple() -> None:
    assert converted(pa.array([{}, None], pa.struct([]))) == [(), None]


def test_maps_are_pairs() -> None:
    given = [[("a", 1), ("b", None)], None, []]
    array = pa.array(given, pa.map_(pa.string(), pa.int64()))
    assert converted(array) == [(("a", 1), ("b", None)), None, ()]
    assert converted(array.slice(1)) == [None, ()]


def test_maps_of_structs_and_timestamps() -> None:
    kind = pa.map_(pa.string(), pa.list_(pa.struct([("at", pa.timestamp("us"))])))
    assert converted(pa.array([[("a", [{"at": 1_500}])]], kind), "ms") == [(("a", ((1,),)),)]


class TestTimestamps:
    @pytest.mark.parametrize(
        ("unit", "expected"),
        [
            ("s", [1, None, -2, 0]),
            ("ms", [1_999, None, -1_001, 0]),
            ("us", [1_999_999, None, -1_000_001, 0]),
            ("ns", [1_999_999_000, None, -1_000_001_000, 0]),
        ],
    )
    @pytest.mark.parametrize("zone", [None, "UTC", "Europe/Oslo"])
    def test_in_every_unit_rounded_to_the_past(
        self, unit: str, expected: list[Any], zone: str | None
    ) -> None:
        array = pa.array([1_999_999, None, -1_000_001, 0], pa.timestamp("us", zone))
        exactly(converted(array, unit), expected)

    @pytest.mark.parametrize("stored", ["s", "ms", "us", "ns"])
    def test_however_they_are_stored(self, stored: str) -> None:
        moment = datetime.datetime(2013, 1, 1, 5, tzinfo=UTC)
        array = pa.array([moment], pa.timestamp(stored, "UTC"))
        assert converted(array, "s") == [int(moment.timestamp())]

    def test_too_far_for_nanoseconds(self) -> None:
        array = pa.array([datetime.datetime(9999, 1, 1)], pa.timestamp("us"))
        with pytest.raises(
            JobError, match=r"'value' has a timestamp .* in ns: ask for a coarser unit, e.g. unit='us'"
        ):
            converted(array, "ns")

    def test_no_unit(self) -> None:
        with pytest.raises(JobError, match="unit is 'sec': expected 's', 'ms', 'us' or 'ns'"):
            Blocks("sec")


class TestDictionaries:
    def array(self) -> Any:
        return pa.array(["b", None, "a", "b"] * 3, pa.string()).dictionary_encode()

    def test_texts_are_shared(self) -> None:
        found = converted(self.array())
        assert found == ["b", None, "a", "b"] * 3
        assert len({id(text) for text in found}) == 3

    def test_a_null_in_the_dictionary_itself(self) -> None:
        array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.int32()), pa.array(["x", None]))
        assert converted(array) == ["x", None, None, "x"]

    @pytest.mark.parametrize("index", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint16()])
    def test_any_type_of_index(self, index: Any) -> None:
        assert converted(self.array().cast(pa.dictionary(index, pa.string()))) == self.array().to_pylist()

    def test_each_batch_has_a_dictionary_of_its_own(self) -> None:
        made = Blocks()
        schema = pa.schema([(TIME, pa.int64()), ("value", pa.dictionary(pa.int32(), pa.string()))])
        for words in (["a", "b"], ["b", "c"], ["c"], ["a", "b"]):
            column = pa.array(words).dictionary_encode()
            times = pa.array(range(len(words)), pa.int64())
            found = [row for block in made.of(pa.record_batch([times, column], schema)) for row in block.rows]
            assert found == [(word,) for word in words]


def test_text_comes_by_both_ways_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    kind, expected = COLUMNS["string"]
    for fast in (True, False):
        monkeypatch.setattr(scalars, "_LISTS_ARE_FAST", fast)
        exactly(converted(pa.array(expected, kind)), expected)


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64(), 2), pa.float16(), pa.month_day_nano_interval(), pa.list_(pa.float16())]
)
def test_a_type_that_cannot_be_carried(kind: Any) -> None:
    with pytest.raises(JobError, match=r"column 'value.*' is .*cannot be carried: cast it, or leave it out"):
        converted(pa.array([None], kind))


def test_blocks_are_short_and_have_the_times_of_their_rows() -> None:
    count = 2 * BLOCK_ROWS + 1
    found = blocks_of(pa.array(range(count), pa.int64()))
    assert [len(block.rows) for block in found] == [BLOCK_ROWS, BLOCK_ROWS, 1]
    assert all(list(block.times) == [row[0] for row in block.rows] for block in found)
    assert all(block.times.typecode == "q" and not block.mutable for block in found)


@pytest.mark.parametrize("kind", [pa.int32(), pa.timestamp("us"), pa.float64()])
def test_times_of_another_type(kind: Any) -> None:
    with pytest.raises(JobError, match=rf"the event time is {kind}.*, expected int64".replace("[", r"\[")):
        list(Blocks().of(pa.record_batch({TIME: pa.array([1, 2], kind)})))


def test_times_that_are_missing() -> None:
    with pytest.raises(JobError, match="the event time has 1 nulls: leave these rows out"):
        list(Blocks().of(pa.record_batch({TIME: pa.array([1, None], pa.int64())})))


def test_empty_lists_without_offsets() -> None:
    """Arrow allows a list column of no rows to have no offsets, as within a struct or a list of none."""
    numbers = pa.array([], pa.int64())
    inner = pa.ListArray.from_buffers(pa.list_(pa.int64()), 0, [None, pa.py_buffer(b"")], children=[numbers])
    outer = pa.ListArray.from_arrays(pa.array([0, 0, 0], pa.int32()), inner)
    assert converted(outer) == [(), ()]


def test_rows_without_columns() -> None:
    (block,) = Blocks().of(pa.record_batch({TIME: pa.array([1, 2], pa.int64())}))
    assert block.rows == [(), ()]


def test_random_columns_equal_what_arrow_says() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for kind in (pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.binary()):
        make = {
            pa.int64(): lambda: rng.randrange(-(2**63), 2**63),
            pa.float64(): rng.random,
            pa.string(): lambda: "".join(
                chr(rng.choice([65, 0xE9, 0x4E2D, 0x1F409])) for _ in range(rng.randrange(9))
            ),
            pa.bool_(): lambda: rng.random() < 0.5,
            pa.binary(): lambda: rng.randbytes(rng.randrange(9)),
        }[kind]
        nulls = rng.choice([0, 0.1, 0.9])
        given = [None if rng.random() < nulls else make() for _ in range(rng.randrange(10_000))]
        exactly(converted(pa.array(given, kind)), given)
