"""The number of tuples in a task's slices."""

from __future__ import annotations

from typing import Any

from framework.runtime.execution.accounting import FIRST_SLICE, OTHERS_S, SLICE_S, Slices


class AnyTask:
    """A task that has its own idea of the largest slice, or none."""

    def __init__(self, largest_slice: int | None = None) -> None:
        self.largest_slice = largest_slice


def grown(limit: int, largest_slice: int | None = None) -> tuple[Slices, Any]:
    """Slices whose task is at a limit."""
    task: Any = AnyTask(largest_slice)
    slices = Slices([task], 4096)
    while slices.limits[task] < limit:
        slices.adapt(task, slices.limits[task], 0.0)
    return slices, task


def test_slices_grow_while_they_are_full_and_fast() -> None:
    slices, task = grown(FIRST_SLICE)
    for expected in (2, 4, 8):
        slices.adapt(task, slices.limits[task], SLICE_S / 3)
        assert slices.limits[task] == expected
    slices.adapt(task, 7, SLICE_S / 3)
    slices.adapt(task, 8, SLICE_S)
    assert slices.limits[task] == 8


def test_they_grow_as_far_as_the_task_or_the_configuration_says() -> None:
    for largest, limit in ((None, 4096), (16_384, 16_384)):
        slices, task = grown(4096, largest)
        for _ in range(4):
            slices.adapt(task, slices.limits[task], 0.0)
        assert slices.limits[task] == limit


def test_slices_of_columns_need_not_be_full() -> None:
    """A slice ends before columns that would be cut."""
    for largest, count, limit in ((16_384, 2048, 4096), (16_384, 2049, 8192), (None, 4095, 4096)):
        slices, task = grown(4096, largest)
        slices.adapt(task, count, 0.0)
        assert slices.limits[task] == limit


def test_a_single_slow_slice_may_be_the_doing_of_other_programs() -> None:
    slices, task = grown(1024)
    slices.adapt(task, 1024, 10 * SLICE_S)
    assert slices.limits[task] == 512
    slices.adapt(task, 512, SLICE_S)
    slices.adapt(task, 512, 10 * SLICE_S)
    assert slices.limits[task] == 256


def test_a_second_one_in_a_row_counts_in_full() -> None:
    slices, task = grown(1024)
    slices.adapt(task, 1024, 10 * SLICE_S)
    slices.adapt(task, 512, 10 * SLICE_S)
    assert slices.limits[task] == 51


def test_so_does_one_that_is_slow_beyond_doubt() -> None:
    slices, task = grown(1024)
    slices.adapt(task, 1024, 10 * OTHERS_S)
    assert slices.limits[task] == int(1024 * SLICE_S / (10 * OTHERS_S))
    slices.adapt(task, 5, 1000.0)
    assert slices.limits[task] == 1
