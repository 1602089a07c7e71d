"""Timers of an executor's thread are exact while it runs, and what they were before afterwards."""

from __future__ import annotations

import sys
import threading

import pytest

from framework.runtime.execution.idle import _GET, EXACT_NS, _prctl, exact_timers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a setting")


def slack_ns() -> int:
    return _prctl(_GET, 0)


def test_they_are_exact_within_the_block() -> None:
    before = slack_ns()
    assert before > EXACT_NS
    with pytest.raises(ZeroDivisionError), exact_timers():
        within = slack_ns()
        1 / 0  # noqa: B018
    assert (within, slack_ns()) == (EXACT_NS, before)


def test_other_threads_keep_theirs() -> None:
    inside, over, found = threading.Event(), threading.Event(), []

    def look() -> None:
        inside.wait()
        found.append(slack_ns())
        over.set()

    other = threading.Thread(target=look)
    other.start()
    with exact_timers():
        inside.set()
        over.wait()
    other.join()
    assert found[0] > EXACT_NS
