"""A run is looked at from a thread of its own, wherever its own threads are."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from framework.runtime import Progress, StopReason, StopSignal
from tests.framework.runtime.pieces import bolt, built, listed, run_built

PATIENCE_S = 60.0


def test_its_time_ends_while_a_callback_blocks_outside_the_main_thread() -> None:
    stop, stopped = StopSignal(), threading.Event()
    stop.listen(stopped.set)

    def process(self: Any, tup: Any) -> None:
        assert stopped.wait(PATIENCE_S)

    with ThreadPoolExecutor(1) as apart:  # where no signal of a timer could interrupt the callback
        limits = {"duration_s": 0.05, "stop": stop}
        report = apart.submit(run_built, built(listed([1]), bolt(process)), limits).result()
    assert (report.reason, report.drained) == (StopReason.DURATION, True)


def test_progress_is_told_while_a_callback_blocks() -> None:
    shown, told = threading.Event(), []

    def on_progress(progress: Progress) -> None:
        told.append(progress)
        if progress.emitted == 1:
            shown.set()

    def process(self: Any, tup: Any) -> None:
        assert shown.wait(PATIENCE_S)

    run_built(built(listed([1]), bolt(process)), {"on_progress": on_progress})
    assert [progress.done for progress in told] == [False] * (len(told) - 1) + [True]
    assert not any(progress.draining for progress in told)


@pytest.mark.parametrize("kind", ["inline", "thread"])
def test_what_it_raises_ends_the_run_and_is_raised_there(kind: str) -> None:
    stop, stopped = StopSignal(), threading.Event()
    stop.listen(stopped.set)

    def on_progress(progress: Progress) -> None:
        raise BrokenPipeError("nobody reads it")

    def process(self: Any, tup: Any) -> None:
        assert stopped.wait(PATIENCE_S)

    with pytest.raises(BrokenPipeError, match="nobody reads it"):
        run_built(
            built(listed([1]), bolt(process)), {"on_progress": on_progress, "stop": stop}, viper__worker=kind
        )
    assert stop.aborted
