"""The notes of an outbox on a row: for a spout's emits, the id."""

from __future__ import annotations

import gc
from array import array
from typing import Any

import pytest

from viper.rows import Outbox


def outbox_of(**options: Any) -> tuple[Outbox, list[Any]]:
    slow: list[Any] = []
    ports = (("default", 2, True), ("other", -1, True), ("unread", 1, False))
    return Outbox(ports, lambda *a, **o: slow.append((a, o)), lambda: None, 100, **options), slow


def test_ids_are_noted_in_c() -> None:
    outbox, slow = outbox_of(takes_ids=True)
    outbox.emit([1, 2])
    outbox.emit([3, 4], "a")
    outbox.emit([5, 6], tup_id=0)
    outbox.emit([7], stream="other", tup_id=("b", 1))
    outbox.emit([8], "c", stream="other")
    outbox.emit([9, 9], None)
    outbox.emit([9, 9], tup_id=None)
    rows, ports, notes = outbox.take()
    assert notes == [(1, "a"), (2, 0), (3, ("b", 1)), (4, "c")]
    assert (len(rows), array("H", ports).tolist(), slow) == (7, [0, 0, 0, 1, 1, 0, 0], [])
    assert outbox.take() == ([], b"", None)


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (([1], "a"), {"stream": "unread"}),
        (([1],), {"stream": "unread", "tup_id": "a"}),
        (([1, 2], "a"), {"tup_id": "b"}),
        (([1, 2], None), {"tup_id": "b"}),
        (([1, 2], "a", "other"), {}),
        (([1, []], "a"), {}),
        (([1, 2], "a"), {"stream": None}),
        (([1, 2],), {"anchors": []}),
    ],
)
def test_what_else_has_an_id_is_not_common(args: Any, options: Any) -> None:
    outbox, slow = outbox_of(takes_ids=True)
    outbox.emit(*args, **options)
    assert slow == [(args, options)]
    assert (len(outbox), outbox.discarded) == (0, 0)


@pytest.mark.parametrize(("args", "options"), [(("a",), {}), ((None,), {}), ((), {"tup_id": None})])
def test_an_outbox_that_takes_no_ids(args: Any, options: Any) -> None:
    outbox, slow = outbox_of()
    outbox.emit([1, 2], *args, **options)
    assert slow == [(([1, 2], *args), options)]


def test_an_id_for_nobody_that_is_none_is_discarded() -> None:
    outbox, slow = outbox_of(takes_ids=True)
    outbox.emit([1], None, stream="unread")
    assert (len(outbox), outbox.discarded, slow) == (0, 1, [])


def test_appended_notes() -> None:
    outbox, _ = outbox_of()
    outbox.append(0, (1, 2))
    outbox.append(0, (3, 4), 99)
    outbox.append(2, (5,), 98)
    outbox.append(1, (6,), None)
    outbox.append(1, (7,), 97)
    assert outbox.take()[2] == [(1, 99), (3, 97)]


def test_notes_are_in_place_when_the_outbox_is_full() -> None:
    taken: list[Any] = []
    outbox = Outbox((("default", 1, True),), print, lambda: taken.append(outbox.take()), 2, takes_ids=True)
    for number in range(5):
        outbox.emit([number], number * 10)
    rows = [(0,), (1,)], [(2,), (3,)]
    assert taken == [(rows[0], None, [(0, 0), (1, 10)]), (rows[1], None, [(0, 20), (1, 30)])]


def test_a_finalizer_that_emits_while_an_id_is_noted() -> None:
    """Making a note may collect garbage, whose finalizers may emit: notes still name their rows."""

    class Emitting:
        def __del__(self) -> None:
            if len(outbox) < 10_000:
                outbox.emit([-1], -1)

    outbox = Outbox((("default", 1, True),), print, lambda: None, 10**6, True)
    # Tuples that were freed are given out again without a look at the garbage: hold them all.
    held = [((number,), (number, number)) for number in range(5_000)]
    thresholds = gc.get_threshold()
    try:
        for number in range(300):
            cycle: list[Any] = [Emitting()]
            cycle.append(cycle)
            row = [number]
            del cycle
            gc.set_threshold(1 + number % 7)  # so that each allocation of an emit is hit now and then
            outbox.emit(row, number)
            gc.set_threshold(0)
    finally:
        gc.set_threshold(*thresholds)
    rows, _, notes = outbox.take()
    assert notes is not None and len(rows) > 300
    assert [rows[index] for index, _ in notes] == [(note,) for _, note in notes]
    del held
