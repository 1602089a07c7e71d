"""Leases: what refers to memory that was lent, and what does not."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from viper.columns.keepers import kept_in
from viper.columns.payload import Columns

COUNT = 100


def lent() -> Columns:
    """Columns of several types that were lent."""
    batch = pa.record_batch(
        {
            "n": pa.array(range(COUNT), pa.int64()),
            "text": pa.array([str(number) for number in range(COUNT)]),
            "items": pa.array([[number, None] for number in range(COUNT)]),
            "empty": pa.array([""] * COUNT),
            "none": pa.array([None] * COUNT, pa.string()),
        }
    )
    return Columns(batch).lent_out()


def made(make: Callable[[pa.RecordBatch], Any]) -> tuple[Any, Any]:
    """Make a value of a batch that was lent, and return it with the lease."""
    columns = lent()
    assert columns.lease is not None
    return make(columns.batch), columns.lease


VIEWS: dict[str, Callable[[pa.RecordBatch], Any]] = {
    "the batch": lambda batch: batch,
    "a slice": lambda batch: batch.slice(3, 4),
    "a column": lambda batch: batch.column("text"),
    "no row of a column": lambda batch: batch.column("n").slice(0, 0),
    "what is nested in it": lambda batch: batch.column("items").flatten(),
    "a view of NumPy's": lambda batch: batch.column("n").to_numpy()[::2],
    "a memoryview": lambda batch: memoryview(batch.column("n").to_numpy()),
    "a table": lambda batch: pa.Table.from_batches([batch]),
    "an iterator": lambda batch: iter(batch.column("n").to_numpy()),
}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_a_view_holds_the_lease(make: Callable[[pa.RecordBatch], Any]) -> None:
    view, lease = made(make)
    assert not lease.end(patience_s=0)
    del view
    assert lease.end()


COPIES: dict[str, Callable[[pa.RecordBatch], Any]] = {
    "values": lambda batch: batch.column("items").to_pylist(),
    "a value of Arrow's": lambda batch: batch.column("text")[0],
    "a sum": lambda batch: pc.sum(batch.column("n")),
    "what a filter keeps, be it all": lambda batch: batch.filter(pa.array([True] * COUNT)),
    "a copy of NumPy's": lambda batch: batch.column("n").to_numpy().copy(),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_does_not(make: Callable[[pa.RecordBatch], Any]) -> None:
    _, lease = made(make)
    assert lease.end()


def test_what_waits_for_the_collector_does_not() -> None:
    def in_a_circle(batch: pa.RecordBatch) -> None:
        circle: list[Any] = [batch]
        circle.append(circle)

    _, lease = made(in_a_circle)
    assert lease.end()


def test_what_another_thread_holds_for_a_moment_does_not() -> None:
    is_looked_for = threading.Event()

    def hold(held: list[Any]) -> None:
        is_looked_for.wait()
        held.clear()

    view, lease = made(lambda batch: batch)
    thread = threading.Thread(target=hold, args=([view],))
    thread.start()
    del view

    def looked_for(*of_the_collector: Any) -> None:
        is_looked_for.set()

    gc.callbacks.append(looked_for)
    try:
        assert lease.end(patience_s=60)
    finally:
        gc.callbacks.remove(looked_for)
        thread.join()


@pytest.mark.parametrize("alike", [True, False])
def test_columns_are_copied_where_they_are_lent(alike: bool) -> None:
    columns = lent()
    lease = columns.lease
    assert lease is not None
    apart = columns.apart_from(lease, alike=alike)
    assert apart.batch.equals(columns.batch)
    own = columns.batch.filter(pa.array([True] * COUNT))
    assert Columns(own).apart_from(lease, alike=alike).batch is own
    del columns
    assert lease.end()
    assert apart.batch.column("n").to_pylist() == list(range(COUNT))


def test_only_these_are_copied() -> None:
    columns = lent()
    lease = columns.lease
    assert lease is not None
    own = pa.array(range(COUNT), pa.int64())
    batch = pa.record_batch({"own": own, **{name: columns.batch.column(name) for name in ("text", "none")}})
    apart = Columns(batch).apart_from(lease, alike=False).batch
    assert apart.equals(batch)
    assert apart.column("own").buffers()[1].address == own.buffers()[1].address
    del columns, batch
    assert lease.end()


class Holder:
    """Something that has something."""

    def __init__(self, held: Any) -> None:
        self.held = held


def raised(batch: pa.RecordBatch) -> BaseException:
    column = batch.column("text")
    try:
        raise ValueError(len(column))
    except ValueError as error:
        return error


HELD: dict[str, tuple[Callable[[pa.RecordBatch], Any], str]] = {
    "an array": (lambda batch: batch.column("text"), "a pyarrow.StringArray of field 'text'"),
    "NumPy's": (lambda batch: batch.column("n").to_numpy()[3:], "a numpy.ndarray of field 'n'"),
    "deep inside": (lambda batch: {"x": [Holder(batch.column("n"))]}, "a pyarrow.Int64Array of field 'n'"),
    "a batch": (lambda batch: Columns(batch), "a pyarrow.RecordBatch"),
    "a table": (lambda batch: pa.Table.from_batches([batch]), "a pyarrow.Table"),
    "chunks": (lambda batch: pa.chunked_array([batch.column("n")]), "a pyarrow.ChunkedArray of field 'n'"),
    "a buffer": (lambda batch: batch.column("n").buffers()[1], "a pyarrow.Buffer of field 'n'"),
    "an exception": (raised, "a pyarrow."),
}


@pytest.mark.parametrize(("make", "words"), HELD.values(), ids=HELD)
def test_what_keeps_is_named(make: Callable[[pa.RecordBatch], Any], words: str) -> None:
    view, lease = made(make)
    found = kept_in(Holder(view), lease)
    assert found is not None
    assert found.startswith(words)
    assert kept_in(Holder([1, "other", sys, print, pa.array([1])]), lease) is None
