"""Running values by key, beside a loop over a dict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.columns.running import counted, exchanged

BATCHES = st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9)), max_size=20), max_size=4)


@given(BATCHES)
def test_rows_are_counted_however_they_are_divided(batches: list[list[tuple[int, int]]]) -> None:
    counts, seen = np.zeros(6, np.int64), [0] * 6
    for batch in batches:
        expected = []
        for slot, _ in batch:
            seen[slot] += 1
            expected.append(seen[slot])
        assert counted(np.array([slot for slot, _ in batch], np.uint32), counts).tolist() == expected
    assert counts.tolist() == seen


@given(BATCHES, st.sampled_from([np.int64, np.float64]))
def test_each_row_gets_the_value_before_it(batches: list[list[tuple[int, int]]], kind: Any) -> None:
    latest, seen = np.full(6, -1, kind), [-1] * 6
    for batch in batches:
        expected = []
        for slot, value in batch:
            expected.append(seen[slot])
            seen[slot] = value
        slots, values = (np.array([pair[i] for pair in batch], (np.uint32, kind)[i]) for i in (0, 1))
        assert exchanged(slots, values, latest).tolist() == expected
    assert latest.tolist() == seen


NUMBERS = np.zeros(2, np.int64)
FROZEN = np.frombuffer(bytes(16), np.int64)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda s: counted(s.astype(np.int64), NUMBERS), ValueError, "slots are int64"),
        (lambda s: counted(s, NUMBERS.astype(np.int32)), ValueError, "counts are int32"),
        (lambda s: counted(s, np.zeros(4, np.int64)[::2]), ValueError, "without gaps"),
        (lambda s: counted(s + np.uint32(1), NUMBERS), IndexError, "slot 2: there are values for 2"),
        (lambda s: counted(s, FROZEN), ValueError, "read-only|not writable"),
        (lambda s: exchanged(s, NUMBERS.astype(np.int8), NUMBERS), ValueError, "8 bytes"),
        (lambda s: exchanged(s, NUMBERS, NUMBERS.astype(float)), ValueError, "latest are float64"),
        (lambda s: exchanged(s, np.zeros(3, np.int64), NUMBERS), ValueError, "24 bytes of values for 2"),
        (lambda s: exchanged(s + np.uint32(1), NUMBERS, NUMBERS), IndexError, "slot 2"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    call: Callable[[Any], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call(np.array([0, 1], np.uint32))
    assert NUMBERS.tolist() == [0, 0]
