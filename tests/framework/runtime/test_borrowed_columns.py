"""Bolts that declare that they keep no columns: the same output, and who keeps something is found out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from framework import BatchBolt, RowError, Rows, Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.dying import die, first_time
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers, every_kind
from viper.columns.payload import Columns
from viper.reader import LEAST_BYTES

ROWS, BATCHES = LEAST_BYTES // 8, 12
"""Each batch is worth a lease."""
COUNT = ROWS * BATCHES


class Brings(Spout):
    """Brings numbers and texts in batches."""

    outputs = [Stream(schema={"number": "int64 not null", "text": "string not null"})]

    def tuples(self) -> Iterator[Any]:
        for first in range(0, COUNT, ROWS):
            numbers = np.arange(first, first + ROWS)
            yield {"number": numbers, "text": pa.array(numbers).cast(pa.string())}


class Borrows(BatchBolt):
    """Emits every 1,000th row."""

    keeps_columns = False
    outputs = Brings.outputs

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows(*rows.where(rows.numpy("number") % 1000 == 0))


EXPECTED = [(number, str(number)) for number in range(0, COUNT, 1000)]


def chain(*bolts: type[BatchBolt]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Brings)
    before = "source"
    for number, bolt in enumerate(bolts, 1):
        builder.set_bolt(f"bolt{number}", bolt).shuffle_grouping(before)
        before = f"bolt{number}"
    builder.set_bolt("sink", CollectingSink).global_grouping(before)
    return builder


# -- what is emitted


class EmitsTheBatch(Borrows):
    """Emits what it has received as it is."""

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows(rows.batch())


class EmitsItsColumns(Borrows):
    """Emits columns that it has received beside one of its own, and promises that nobody writes to them."""

    def process_rows(self, rows: Rows) -> None:
        numbers = rows.numpy("number")
        self.emit_rows({"number": numbers + 0, "text": rows.array("text")}, gives_away=True)


class EmitsParts(Borrows):
    """Emits what it has received in two halves."""

    def process_rows(self, rows: Rows) -> None:
        half, batch = len(rows) // 2, rows.batch()
        for first, size in ((0, half), (half, len(rows) - half)):
            self.emit_rows(batch.slice(first, size), range(first, first + size), gives_away=True)


class EmitsRows(Borrows):
    """Emits its values, tuple by tuple."""

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows(rows.values())


class EmitsByView(Borrows):
    """Says by a column which row each output belongs to."""

    def process_rows(self, rows: Rows) -> None:
        first = rows.numpy("number")[0]
        self.emit_rows(rows.batch(), of=rows.numpy("number") - first)


class Circular(Borrows):
    """Leaves what it has received to the collector."""

    def process_rows(self, rows: Rows) -> None:
        circle: list[Any] = [rows]
        circle.append(circle)
        self.emit_rows(rows.batch())


@pytest.mark.few(2)
@every_kind
def test_what_is_emitted_outlives_the_call(workers: Workers) -> None:
    passing = (EmitsTheBatch, EmitsItsColumns, EmitsParts, EmitsRows, EmitsByView, Circular)
    assert workers.run(chain(*passing, Borrows)).result("sink") == EXPECTED


def test_an_output_that_is_not_copied_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Columns, "apart_from", lambda columns, lease, alike: columns)
    with pytest.raises(ComponentError, match=r"keeps_columns = False, .*none of its attributes does"):
        INLINE.run(chain(EmitsTheBatch, Borrows))


class Tells(Borrows):
    """Emits for each call whether its rows were lent."""

    outputs = [Stream(schema={"lent": "bool"})]

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows([[rows._payload.lease is not None]], [0])


def test_columns_of_another_process_are_lent() -> None:
    calls = PROCESSES.run(chain(Tells), viper__columns__rows=ROWS).result("sink")
    assert sum(lent for (lent,) in calls) > BATCHES // 2


# -- what is kept


class KeepsAnArray(Borrows):
    """Keeps the numbers of the last call."""

    def process_rows(self, rows: Rows) -> None:
        self.latest = {"numbers": [rows.numpy("number")[:1]]}


class KeepsRows(Borrows):
    """Keeps all rows."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.seen: list[Rows] = []

    def process_rows(self, rows: Rows) -> None:
        self.seen.append(rows)
        rows.batch()


class KeepsAnError(Borrows):
    """Keeps an exception, whose traceback has the frame with the rows."""

    def process_rows(self, rows: Rows) -> None:
        try:
            raise ValueError("kept")
        except ValueError as error:
            self.error = error


class KeepsAGenerator(Borrows):
    """Begins to go through a column, and continues at the next call."""

    def process_rows(self, rows: Rows) -> None:
        self.numbers = (number for number in rows.numpy("number"))
        next(self.numbers)


_kept_by_the_module: list[Any] = []


class KeepsInAGlobal(Borrows):
    """Keeps a column where nobody looks for it."""

    def process_rows(self, rows: Rows) -> None:
        _kept_by_the_module.append(rows.array("text"))


class RaisesAndKeeps(Borrows):
    """Raises, and keeps what it raises."""

    def process_rows(self, rows: Rows) -> None:
        self.error = ValueError(len(rows))
        raise self.error


KEEPING = {
    KeepsAnArray: r"its attribute 'latest' has a numpy\.ndarray of field 'number'",
    KeepsRows: r"its attribute 'seen' has a pyarrow\.RecordBatch",
    KeepsAnError: r"its attribute 'error' has a pyarrow\.RecordBatch",
    KeepsAGenerator: r"its attribute 'numbers' has a numpy\.ndarray of field 'number'",
    KeepsInAGlobal: "none of its attributes does",
    RaisesAndKeeps: r"its attribute 'error' has a pyarrow\.RecordBatch",
}


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("workers", "bolt"),
    [
        *itertools.product([INLINE], KEEPING),
        *itertools.product([THREADS, PROCESSES], [KeepsAnArray, RaisesAndKeeps]),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_what_is_kept_ends_the_run(bolt: type[BatchBolt], workers: Workers) -> None:
    message = rf"{bolt.__name__} declares keeps_columns = False, but .*\({KEEPING[bolt]}\): keep a copy"
    with pytest.raises(ComponentError, match=message) as caught:
        workers.run(chain(bolt), viper__on__error="skip")
    _kept_by_the_module.clear()
    assert (caught.value.component, caught.value.during) == ("bolt1", "process_rows")


class KeepsCopies(Borrows):
    """Keeps copies, and emits those of the call before."""

    outputs = [Stream(schema={"number": "int64 not null", "text": "string not null"})]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.before = np.zeros(1, np.int64)

    def process_rows(self, rows: Rows) -> None:
        self.before = np.array(rows.numpy("number"))
        super().process_rows(rows)


@pytest.mark.few(2)
@every_kind
def test_copies_may_be_kept(workers: Workers) -> None:
    assert workers.run(chain(KeepsCopies)).result("sink") == EXPECTED


# -- exceptions


class Raises(Borrows):
    """Fails the calls with certain rows, and the rows of others, with exceptions that have their columns."""

    def process_rows(self, rows: Rows) -> None:
        numbers, batch = rows.numpy("number"), rows.batch()
        bad = np.flatnonzero(numbers % 10_000 == 1)
        if len(bad):
            index = int(bad[0])
            self.emit_rows(batch.slice(0, index), range(index), gives_away=True)
            raise RowError(index, KeyError("no such row"))
        self.emit_rows(batch)


@pytest.mark.few(2)
@every_kind
def test_rows_fail_and_nothing_is_kept(workers: Workers) -> None:
    report = workers.run(chain(Raises, Borrows), viper__on__error="skip")
    assert report.result("sink") == EXPECTED
    assert report.components["bolt1"].failed == len(range(1, COUNT, 10_000))


# -- deaths and room


class DiesAt(Borrows):
    """Kills its process in the middle of a call with what it has borrowed, once."""

    def process_rows(self, rows: Rows) -> None:
        numbers = rows.numpy("number")
        if rows._payload.lease is not None and numbers[-1] >= COUNT // 2 and first_time(self, "half"):
            die()
        self.emit_rows(*rows.where(numbers >= 0))


def test_a_worker_that_dies_while_it_borrows_gives_its_room_back(tmp_path: Path) -> None:
    options = {"viper__columns__rows": ROWS, "viper__channel__bytes": 1 << 21}
    report = PROCESSES.run(chain(DiesAt), marks=str(tmp_path), topology__acker__executors=0, **options)
    (incident,) = report.incidents
    found = [number for number, _ in report.result("sink")]
    first = next((index for index, number in enumerate(found) if number != index), len(found))
    assert found == [*range(first), *range(first + incident.lost, COUNT)]
    assert 0 < incident.lost < COUNT // 2 + ROWS


@pytest.mark.few(1)
@every_kind
def test_full_stores_do_not_stand_still(workers: Workers) -> None:
    """Two ways from one source, of which one is longer, so that each waits for the other."""
    builder = chain(EmitsTheBatch, EmitsParts, Borrows)
    builder.set_bolt("short", Borrows).shuffle_grouping("source")
    builder.set_bolt("join", EmitsTheBatch).shuffle_grouping("bolt3").shuffle_grouping("short")
    builder.set_bolt("both", CollectingSink).global_grouping("join")
    small = {"viper__channel__bytes": 1 << 20, "viper__columns__rows": ROWS}
    found = workers.run(builder, **small).result("both")
    assert found == list(itertools.chain.from_iterable((row, row) for row in EXPECTED))
