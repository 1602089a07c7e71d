"""Outboxes that draw from an iterator: what a generator spout yields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.viper.records import Calls


def test_common_rows_are_put_without_a_call() -> None:
    calls = Calls()
    given = ("a", 1)
    assert calls.outbox.draw(iter([given, ["b", 2], ("c", 3)]), 2, 9.0) == (2, False, None)
    rows = calls.outbox.take()[0]
    assert rows == [("a", 1), ("b", 2)]
    assert rows[0] is given


def test_the_end_is_told() -> None:
    outbox = Calls().outbox
    assert outbox.draw(iter([("a", 1)]), 2, 9.0) == (1, True, None)
    assert outbox.draw(iter([("a", 1)]), 1, 9.0) == (1, False, None)
    assert outbox.draw(iter([]), 0, 9.0) == (0, False, None)


@pytest.mark.parametrize("value", [None, ("a",), ("a", []), "ab", {"a": 1}])
def test_what_is_not_common_is_left_to_the_caller(value: Any) -> None:
    outbox = Calls().outbox
    values = iter([("a", 1), value, ("b", 2)])
    assert outbox.draw(values, 3, 9.0) == (1, False, value)
    assert outbox.draw(values, 3, 9.0) == (1, True, None)


def test_exceptions_of_the_generator_come_through() -> None:
    def values() -> Iterator[Any]:
        yield "a", 1
        raise ValueError("no more")

    outbox = Calls().outbox
    with pytest.raises(ValueError, match="no more"):
        outbox.draw(values(), 3, 9.0)
    assert outbox.take()[0] == [("a", 1)]


def test_drawing_stops_where_the_outbox_is_full() -> None:
    calls = Calls(limit=2)
    assert calls.outbox.draw(iter([("a", 1)] * 3), 3, 9.0) == (2, False, None)


def test_drawing_stops_soon_when_its_time_is_over() -> None:
    drawn, over, value = Calls().outbox.draw(iter([("a", 1)] * 100), 100, 0.0)
    assert 1 <= drawn <= 16
    assert (over, value) == (False, None)


def test_only_iterators_are_drawn_from() -> None:
    with pytest.raises(TypeError, match="iterator"):
        Calls().outbox.draw([("a", 1)], 1, 9.0)  # type: ignore[arg-type]
