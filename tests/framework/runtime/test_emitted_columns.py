"""Columns that components emit: which row each tuple belongs to, their order, and what is refused."""

from __future__ import annotations

import random
from array import array
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework import BatchBolt, Bolt, RowError, Rows, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime.exchange.bulk import Marks
from tests.framework.runtime.pieces import FakeClock, listed, run_built
from tests.framework.runtime.workers.running import PROCESSES, THREADS, Workers
from viper.lineage import Fanout

NUMBER = Stream(schema={"number": "int64 not null"})
NAMES = ("default", "other", "plain")


class Typed(Bolt):
    """Emits the numbers up to the one that it receives, which come in one batch."""

    outputs = [NUMBER]

    def process(self, tup: Any) -> None:
        for number in range(tup.values[0]):
            self.emit([number])


Emit = tuple[str, str, str, tuple[int, ...]]
"""Stream, form and kind of ``of``, and how many tuples for each row in turn."""


class Scripted(BatchBolt):
    """Makes some emits in each call; every tuple tells its row, its emit and its place there."""

    outputs = [NUMBER, Stream(schema=dict(number="int64"), name="other"), Stream(["number"], name="plain")]

    def __init__(self, emits: list[Emit]) -> None:
        super().__init__()
        self._emits = emits

    def process_rows(self, rows: Rows) -> None:
        for number, (stream, form, kind, counts) in enumerate(self._emits):
            made = [
                (index, row * 1000 + number * 10 + copy)
                for index, (row,) in enumerate(rows)
                for copy in range(counts[row % len(counts)])
            ]
            if kind == "shuffled":
                order = random.Random(len(made)).sample(range(len(rows)), len(rows))
                made.sort(key=lambda one: order[one[0]])
            of, numbers = [index for index, _ in made], [value for _, value in made]
            ends = {"ends": array("I", np.searchsorted(of, range(len(rows)), "right").tolist())}
            given_of = ends if kind == "ends" else {"of": KINDS[kind](of)}
            self.emit_rows(columns(numbers, "rows" if stream == "plain" else form), stream=stream, **given_of)


KINDS: dict[str, Any] = {
    "list": list,
    "shuffled": list,
    "numpy": lambda of: np.array(of, "u2"),
    "gaps": lambda of: np.repeat(np.array(of, "i8"), 2)[::2],
    "arrow": lambda of: pa.array(of, pa.int32()),
    "memory": lambda of: memoryview(array("Q", of)),
}


def columns(numbers: list[int], form: str) -> Any:
    """Numbers as one of the things that may be emitted."""
    return {
        "rows": [[number] for number in numbers],
        "mapping": MappingProxyType({"number": numbers}),
        "numpy": {"number": np.array(numbers, "i8")},
        "batch": pa.record_batch({"number": pa.array(numbers, pa.int64())}),
        "table": pa.table({"number": pa.array(numbers, pa.int64())}),
    }[form]


def scripted(emits: list[Emit]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", single)
    builder.set_bolt("typed", Typed).shuffle_grouping("source")
    builder.set_bolt("scripted", Scripted, args=[emits]).shuffle_grouping("typed")
    sink = builder.set_bolt("sink", CollectingSink)
    for name in NAMES:
        sink.global_grouping("scripted", name)
    return builder


ROWS = 12
single = listed([ROWS])
single.__module__, single.__qualname__ = __name__, "single"


def expected(emits: list[Emit]) -> list[tuple[int]]:
    """By row, then by emit, then within an emit."""
    return [
        (row * 1000 + number * 10 + copy,)
        for row in range(ROWS)
        for number, (*_, counts) in enumerate(emits)
        for copy in range(counts[row % len(counts)])
    ]


drawn = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["rows", "mapping", "numpy", "batch", "table"]),
        st.sampled_from(["list", "shuffled", "ends", *KINDS]),
        st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple),
    ),
    max_size=3,
)


@settings(max_examples=40)
@given(drawn, st.sampled_from([1, 5, 4096]))
def test_tuples_come_by_their_row_then_by_emit(emits: list[Emit], slice_tuples: int) -> None:
    found = run_built(scripted(emits), viper__slice__tuples=slice_tuples).result("sink")
    assert found == expected(emits)


ALL_FORMS: list[Emit] = [
    ("default", "batch", "shuffled", (2, 0, 1)),
    ("other", "numpy", "numpy", (1,)),
    ("default", "rows", "list", (1, 0)),
    ("plain", "rows", "arrow", (0, 1)),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("emits", [ALL_FORMS, ALL_FORMS[:1]], ids=len)
def test_so_they_do_in_several_workers(workers: Workers, emits: list[Emit]) -> None:
    found = workers.run(scripted(emits), viper__columns__rows=2)
    assert found.result("sink") == expected(emits)


def test_planted_marks_that_are_off_by_one_are_found(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that stands still, as slices that take their time have one row each, and hide it."""
    extend = Marks.extend

    def off_by_one(self: Marks, fanout: Fanout, before: int) -> None:
        ends = fanout.ends
        extend(self, Fanout.of_ends(array("I", [min(end + 1, ends[-1]) for end in ends])), before)

    builder = scripted(ALL_FORMS[:1])
    sink = builder.set_bolt("late", CollectingSink)  # which sees them among the rows that they belong to
    sink.global_grouping("typed").global_grouping("scripted")
    right = run_built(builder).result("late")
    monkeypatch.setattr(Marks, "extend", off_by_one)
    assert run_built(builder).result("late") != right


def emitting(emit: Any, **methods: Any) -> TopologyBuilder:
    """A batch bolt that does this with its rows."""
    outputs = [
        NUMBER,
        Stream(["number"], name="plain"),
        Stream(schema={"number": "int64"}, name="to", direct=True),
    ]
    cls = type("Emits", (BatchBolt,), {"outputs": outputs, "process_rows": emit, **methods})
    builder = TopologyBuilder()
    builder.set_spout("source", listed([3]))
    builder.set_bolt("typed", Typed).shuffle_grouping("source")
    builder.set_bolt("emits", cls).shuffle_grouping("typed")
    builder.set_bolt("sink", CollectingSink).global_grouping("emits")
    return builder


ONE = {"number": [1]}
BATCH = pa.record_batch({"number": [1]})


@pytest.mark.parametrize(
    ("emit", "message"),
    [
        (lambda self, rows: self.emit_rows(ONE, [9]), r"output 0 is of input 9: there are \d inputs"),
        (lambda self, rows: self.emit_rows(ONE, np.array([-1])), "output 0 is of input -1"),
        (lambda self, rows: self.emit_rows(ONE, [0, 0]), "1 tuples with of= of 2: expected one for each"),
        (lambda self, rows: self.emit_rows({"number": [1] * 9}), r"9 tuples for \d rows in process"),
        (lambda self, rows: self.emit_rows(ONE, ends=[2]), "must ascend, and the last must be the"),
        (
            lambda self, rows: self.emit_rows({"number": [1.5]}, [0]),
            r"component 'emits', stream 'default': field 'number' is 1\.5, a float: expected int64 not null",
        ),
        (
            lambda self, rows: self.emit_rows(pa.record_batch({"number": [1.5]}), [0]),
            "component 'emits', stream 'default': column 'number' is double: expected int64 not null",
        ),
        (lambda self, rows: self.emit_rows(pa.record_batch({"n": [1]}), [0]), r"columns \['n'\]"),
        (lambda self, rows: self.emit_rows([[None]], [0]), "None, a NoneType: expected int64 not null"),
        (lambda self, rows: self.emit_rows([["1"]], [0]), "stream 'default': field 'number' is '1', a str"),
        (
            lambda self, rows: self.emit_rows(BATCH, [0], "plain"),
            "stream 'plain' declares no schema, so it carries no columns, found RecordBatch",
        ),
        (lambda self, rows: self.emit_rows(ONE, [0], "to"), "stream 'to' is a direct one"),
        (lambda self, rows: self.emit_rows(ONE, [0], "x"), "unknown stream 'x'"),
    ],
)
def test_what_is_refused(emit: Any, message: str) -> None:
    with pytest.raises(ComponentError, match=message):
        run_built(emitting(emit))


class TestErrors:
    def test_a_row_that_is_named_fails_alone_and_what_was_emitted_before_it_stands(self) -> None:
        def emit(self: Any, rows: Rows) -> None:
            numbers = [number for (number,) in rows]
            if 1 in numbers:
                before = numbers[: numbers.index(1)]
                self.emit_rows({"number": before}, range(len(before)))
                raise RowError(numbers.index(1), ValueError("no"))
            self.emit_rows(rows.batch())

        report = run_built(emitting(emit), viper__on__error="skip")
        assert report.result("sink") == [(0,), (2,)]
        assert report.components["emits"].failed == 1

    def test_columns_for_rows_behind_it_are_refused(self) -> None:
        def emit(self: Any, rows: Rows) -> None:
            self.emit_rows(rows.batch())
            raise RowError(0, ValueError("no"))

        with pytest.raises(ComponentError, match="behind row 0, which a RowError says"):
            run_built(emitting(emit))

    def test_without_a_name_nothing_is_emitted(self) -> None:
        def emit(self: Any, rows: Rows) -> None:
            self.emit_rows(rows.batch())
            raise ValueError("no")

        report = run_built(emitting(emit), viper__on__error="skip")
        assert report.result("sink") == []
        assert report.components["emits"].failed == 3


def passing_on(self: Any, rows: Rows) -> None:
    self.emit_rows(rows.batch())


TICKS = {"topology__tick__tuple__freq__secs": 1}


class TestOutsideOfProcessRows:
    def test_in_initialize_and_at_ticks(self) -> None:
        """Columns, rows and single tuples stay in the order in which they were emitted."""

        def emit(self: Any, *_: Any) -> None:
            self.emit([10])
            self.emit_rows({"number": [11, 12]})
            self.emit_rows([[13]])
            self.emit_rows({"number": []})
            self.emit_rows({"number": np.array([14])})
            self.emit([15])

        builder = emitting(
            lambda self, rows: self.emit_rows(rows.batch()),
            initialize=emit,
            process_tick=lambda self, tup: emit(self),
        )
        found = run_built(builder, topology__tick__tuple__freq__secs=1).result("sink")
        said = [(number,) for number in range(10, 16)]
        assert found == [*said, (0,), (1,), (2,), *said]

    @pytest.mark.parametrize("said", [{"of": [0]}, {"ends": [1]}])
    def test_no_row_can_be_named_there(self, said: Any) -> None:
        builder = emitting(lambda self, rows: None, initialize=lambda self, *_: self.emit_rows(ONE, **said))
        with pytest.raises(ComponentError, match="takes of and ends in process_rows only"):
            run_built(builder)


def test_what_nobody_subscribes_to_is_counted() -> None:
    def emit(self: Any, rows: Rows) -> None:
        self.emit_rows(rows.batch())
        self.emit_rows(rows.values(), stream="plain")

    report = run_built(emitting(emit))
    assert report.components["emits"].emitted == 6
    assert report.result("sink") == [(0,), (1,), (2,)]


def test_a_component_without_outputs_that_emits_columns() -> None:
    class Silent(BatchBolt):
        def process_rows(self, rows: Rows) -> None:
            self.emit_rows(rows.batch())

    builder = TopologyBuilder()
    builder.set_spout("source", listed([3]))
    builder.set_bolt("typed", Typed).shuffle_grouping("source")
    builder.set_bolt("silent", Silent).shuffle_grouping("typed")
    assert run_built(builder).components["silent"].emitted == 0


class Later(BatchBolt):
    """Emits an array, and writes to it in the next call."""

    outputs = [NUMBER]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._array = np.zeros(0, "i8")

    def process_rows(self, rows: Rows) -> None:
        self._array[:] = -1
        self._array = np.array(rows.numpy("number"))
        self.emit_rows({"number": self._array})
        self._array[:] += 100


def writing() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", listed([9]))
    builder.set_bolt("typed", Typed).shuffle_grouping("source")
    builder.set_bolt("later", Later).shuffle_grouping("typed")
    builder.set_bolt("sink", CollectingSink).global_grouping("later")
    return builder


def test_what_a_bolt_writes_to_its_array_later_is_not_seen() -> None:
    assert run_built(writing()).result("sink") == [(number,) for number in range(9)]


def test_a_planted_view_of_the_array_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viper.columns.batches.copied", lambda batch: batch)
    assert run_built(writing()).result("sink") != [(number,) for number in range(9)]
