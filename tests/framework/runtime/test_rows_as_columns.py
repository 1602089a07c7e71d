"""A typed stream as a batch bolt sees it: the same values as tuples, batches, arrays and slots."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from framework import BatchBolt, Bolt, Rows, Stream, TopologyBuilder
from framework.operators.components.rows import Origin
from tests.framework.runtime.pieces import listed, run_built
from viper.columns.batches import Batches
from viper.columns.payload import Columns
from viper.payload import Payload
from viper.payload import Rows as RowPayload

KINDS = {"n": "int64", "flag": "bool", "x": "float64 not null", "text": "string", "at": "timestamp[us, UTC]"}
VALUES = [
    (2**53 + 1, True, 0.5, "a", -1),
    (None, None, -0.0, None, None),
    (-3, False, 2.0, "b", 0),
    (7, True, float("inf"), "a", 2**62),
]


class Singly(Bolt):
    outputs = [Stream(schema=KINDS)]

    def process(self, tup: Any) -> None:
        for values in VALUES:
            self.emit(values)


class InColumns(BatchBolt):
    outputs = Singly.outputs

    def process_rows(self, rows: Rows) -> None:
        columns = {name: [row[index] for row in VALUES] for index, name in enumerate(KINDS)}
        self.emit_rows(columns, [0] * len(VALUES))


class Untyped(Singly):
    outputs = [Stream(list(KINDS))]  # type: ignore[assignment]


def seen_by(look: Callable[[Rows], Any], producer: type[Bolt] = Singly, **options: Any) -> list[Any]:
    """Collect the results of a function on the rows of each call."""
    seen: list[Any] = []

    class Looks(BatchBolt):
        def process_rows(self, rows: Rows) -> None:
            seen.append(look(rows))

    builder = TopologyBuilder()
    builder.set_spout("source", listed([1]))
    builder.set_bolt("producer", producer).shuffle_grouping("source")
    builder.set_bolt("looks", Looks).shuffle_grouping("producer")
    run_built(builder, **options)
    return seen


def look_at(look: Callable[[Rows], Any], producer: type[Bolt]) -> Any:
    """Apply a function to all rows, as they come in one call from a producer."""
    schema = Singly.outputs[0].schema
    payload: Payload = RowPayload(list(VALUES))
    if producer is InColumns:
        payload = Columns(Batches(schema, list(KINDS)).of_rows([(9, None, 0.0, "", 9), *VALUES])).slice(1, 4)
    return look(Rows.received(payload, Origin("producer", "default", tuple(KINDS), schema), (), 0))


both = pytest.mark.parametrize("producer", [Singly, InColumns])


@both
class TestForms:
    def test_tuples(self, producer: type[Bolt]) -> None:
        assert repr(look_at(list, producer)) == repr(look_at(Rows.values, producer)) == repr(VALUES)
        assert look_at(lambda rows: rows[1:][0], producer) == VALUES[1]
        assert look_at(lambda rows: rows.column("n"), producer) == [row[0] for row in VALUES]
        assert look_at(lambda rows: rows.column("at"), producer) == [-1, None, 0, 2**62]

    def test_a_batch(self, producer: type[Bolt]) -> None:
        batch = look_at(Rows.batch, producer)
        assert [str(field.type) for field in batch.schema] == [
            "int64",
            "bool",
            "double",
            "string",
            "timestamp[us, tz=UTC]",
        ]
        assert [field.nullable for field in batch.schema] == [True, True, False, True, True]
        assert repr(batch.column("x").to_pylist()) == "[0.5, -0.0, 2.0, inf]"
        assert look_at(lambda rows: rows.batch() is rows.batch(), producer)
        assert look_at(lambda rows: rows.array("text").to_pylist(), producer) == ["a", None, "b", "a"]

    def test_numpy(self, producer: type[Bolt]) -> None:
        found = look_at(lambda rows: rows.numpy("x"), producer)
        assert (found.dtype, found.flags.writeable) == (np.float64, False)
        assert repr(found.tolist()) == "[0.5, -0.0, 2.0, inf]"
        filled = look_at(lambda rows: rows.numpy("n", null=0), producer)
        assert filled.tolist() == [2**53 + 1, 0, -3, 7]
        flags = look_at(lambda rows: rows.numpy("flag", null=False), producer)
        assert flags.tolist() == [True, False, False, True]
        assert look_at(lambda rows: rows.valid("n"), producer).tolist() == [True, False, True, True]
        times = look_at(lambda rows: rows.numpy("at", null=0), producer)
        assert times.astype("i8").tolist() == [-1, 0, 0, 2**62]

    def test_a_view_is_of_the_very_memory(self, producer: type[Bolt]) -> None:
        view, column = look_at(lambda rows: (rows.numpy("x"), rows.array("x")), producer)
        assert view.ctypes.data == column.buffers()[1].address + 8 * column.offset

    @pytest.mark.parametrize(
        "mask",
        [
            lambda rows: [True, False, None, True],
            lambda rows: np.array([True, False, False, True]),
            lambda rows: pc.greater(rows.array("n"), 0),  # of which the second is None
        ],
    )
    def test_where(self, producer: type[Bolt], mask: Any) -> None:
        batch, of = look_at(lambda rows: rows.where(mask(rows)), producer)
        assert list(of) == [0, 3]
        assert batch.column("n").to_pylist() == [2**53 + 1, 7]

    def test_slots(self, producer: type[Bolt]) -> None:
        assert look_at(lambda rows: rows.slots("text").tolist(), producer) == [0, 1, 2, 0]
        assert look_at(lambda rows: rows.slots("text").dtype, producer) == np.uint32

    @pytest.mark.parametrize(
        ("look", "error", "message"),
        [
            (lambda rows: rows.numpy("n"), ValueError, "field 'n' holds 1 None among 4: give null="),
            (lambda rows: rows.numpy("text"), ValueError, "'text' holds 1 None"),
            (lambda rows: rows.numpy("text", null=""), ValueError, "is string, for which NumPy has no type"),
            (lambda rows: rows.numpy("n", null=0.5), ValueError, r"'n' is 0\.5, a float: expected int64"),
            (lambda rows: rows.numpy("n", null=2**63), ValueError, "'n' is 9223372036854775808"),
            (lambda rows: rows.numpy("n", null=None), ValueError, "it takes no None"),
            (lambda rows: rows.numpy("m"), KeyError, "has no field 'm': its fields are"),
            (lambda rows: rows.slots("m"), KeyError, "has no field 'm'"),
            (lambda rows: rows.where([True]), ValueError, "a mask of 1 for 4 rows"),
        ],
    )
    def test_errors(self, producer: type[Bolt], look: Any, error: type[Exception], message: str) -> None:
        def caught(rows: Rows) -> Any:
            with pytest.raises(error, match=message):
                look(rows)

        look_at(caught, producer)


def test_slots_are_the_same_in_every_call() -> None:
    found = seen_by(lambda rows: rows.slots("text").tolist(), viper__slice__tuples=1)
    assert list(itertools.chain(*found)) == [0, 1, 2, 0]
    assert len(found) > 1


@pytest.mark.parametrize("producer", [Singly, InColumns])
def test_what_a_bolt_keeps_stays_as_it_is(producer: type[Bolt]) -> None:
    kept = seen_by(lambda rows: (rows, rows.batch(), rows.numpy("x")), producer, viper__slice__tuples=2)
    assert repr([row for rows, *_ in kept for row in rows]) == repr(VALUES)
    assert [n for _, batch, _ in kept for n in batch.column("n").to_pylist()] == [row[0] for row in VALUES]
    assert [x for *_, array in kept for x in array] == [row[2] for row in VALUES]


UNTYPED: list[Any] = [
    Rows.batch,
    lambda rows: rows.array("n"),
    lambda rows: rows.numpy("n"),
    lambda rows: rows.where([True] * len(rows)),
]


@pytest.mark.parametrize("look", UNTYPED)
def test_an_untyped_stream_has_no_columns(look: Any) -> None:
    def caught(rows: Rows) -> None:
        assert rows.schema is None
        with pytest.raises(TypeError, match="stream 'default' of 'producer' declares no schema"):
            look(rows)

    assert set(seen_by(caught, Untyped)) == {None}


def test_rows_of_a_test() -> None:
    schema = Stream(schema={"n": "int64"}).schema
    rows = Rows([(1,), (None,)], "source", "default", ["n"], schema=schema)
    assert rows.batch().equals(pa.record_batch({"n": [1, None]}))


def test_streams_share_the_numbers_of_keys_in_fields_of_one_name() -> None:
    numbers: dict[str, set[int]] = {}

    class Joins(BatchBolt):
        def process_rows(self, rows: Rows) -> None:
            for (key, *_), slot in zip(rows, rows.slots("key").tolist(), strict=True):
                numbers.setdefault(key, set()).add(slot)

    class Left(Bolt):
        outputs = [Stream(schema={"key": "string"})]

        def process(self, tup: Any) -> None:
            self.emit([tup.values[0]])

    class Right(Left):
        outputs = [Stream(schema={"key": "string not null", "more": "int64"})]

        def process(self, tup: Any) -> None:
            self.emit([tup.values[0], 1])

    builder = TopologyBuilder()
    builder.set_spout("left_keys", listed(["a"], ["b"], ["c"]))
    builder.set_spout("right_keys", listed(["c"], ["a"], ["d"]))
    builder.set_bolt("left", Left).shuffle_grouping("left_keys")
    builder.set_bolt("right", Right).shuffle_grouping("right_keys")
    builder.set_bolt("join", Joins).shuffle_grouping("left").shuffle_grouping("right")
    run_built(builder)
    assert sorted(numbers) == ["a", "b", "c", "d"]
    assert sorted(map(list, numbers.values())) == [[0], [1], [2], [3]]
