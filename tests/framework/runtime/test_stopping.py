"""The end of runs before their spouts end."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CountingSink
from framework.runtime import StopReason, StopSignal
from tests.framework.runtime.pieces import (
    FakeClock,
    bolt,
    built,
    endless,
    listed,
    never_returns,
    one_by_one,
    polled,
    run_built,
    spout,
)

REPOSITORY = Path(__file__).parents[3]


# -- limits


@pytest.mark.parametrize("limit", [1, 63, 64, 1000, 10_001])
@pytest.mark.parametrize("source", [spout(endless), polled(one_by_one)], ids=["generator", "polled"])
def test_max_tuples_is_exact_where_one_call_brings_one_tuple(source: Any, limit: int) -> None:
    report = run_built(built(source), {"max_tuples": limit})
    assert report.result("sink") == [(n,) for n in range(limit)]
    assert (report.reason, report.drained, report.emitted) == (StopReason.MAX_TUPLES, True, limit)


def test_max_tuples_counts_all_spouts_together() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", spout(endless), 3)
    builder.set_bolt("sink", CountingSink).global_grouping("source")
    assert run_built(builder, {"max_tuples": 1000}, viper__time="logical").result("sink") == 1000


def test_a_next_tuple_that_never_returns_is_stopped_by_max_tuples() -> None:
    report = run_built(built(polled(never_returns)), {"max_tuples": 1000})
    rows = report.result("sink")
    assert rows == [(n,) for n in range(len(rows))]
    assert 1000 <= len(rows) < 50_000
    assert report.reason is StopReason.MAX_TUPLES


def test_a_next_tuple_that_never_returns_is_stopped_after_the_duration() -> None:
    report = run_built(built(polled(never_returns)), {"duration_s": 0.05})
    rows = report.result("sink")
    assert rows == [(n,) for n in range(len(rows))]
    assert report.reason is StopReason.DURATION


def test_a_next_tuple_that_emits_a_few_tuples_is_never_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = StopSignal()

    def five(self: Any) -> None:
        for number in range(5):
            self.emit([number])
            stop.request(StopReason.INTERRUPTED)

    rows = run_built(built(polled(five)), {"stop": stop}, viper__jumbo__linger__ms=0).result("sink")
    assert rows == [(n,) for n in range(5)]


def test_a_run_is_stopped_from_another_thread() -> None:
    stop = StopSignal()

    def process(self: Any, tup: Any) -> None:
        if tup.values[0] == 100:
            asking = threading.Thread(target=stop.request, args=(StopReason.INTERRUPTED,))
            asking.start()
            asking.join()
        self.emit([tup.values[0]])

    report = run_built(built(spout(endless), bolt(process)), {"stop": stop})
    rows = report.result("sink")
    assert rows == [(n,) for n in range(len(rows))]
    assert len(rows) > 100
    assert (report.reason, report.drained) == (StopReason.INTERRUPTED, True)


def test_what_is_not_drained_in_time_is_given_up(clock: FakeClock) -> None:
    def floods(self: Any, tup: Any) -> None:
        clock.request(StopReason.INTERRUPTED)
        for number in itertools.count():
            clock.now += 0.001
            self.emit([number])

    builder = built(listed([1]), bolt(floods))
    report = run_built(builder, {"stop": clock}, viper__channel__jumbos=1, viper__drain__timeout__secs=20)
    assert not report.drained
    assert 20 <= report.elapsed_s < 30


SCRIPT = """
    import itertools, os, signal, sys, time
    from framework import Bolt, Spout
    from framework.model.errors import ComponentError
    from tests.framework.runtime.pieces import built, bolt, run_built, spout

    def tuples(self):
        for number in itertools.count():
            if number == 2000:
                os.kill(os.getpid(), signal.{name})
            yield [number]

    def process(self, tup):
        if tup.values[0] == 2000 and {again}:
            os.kill(os.getpid(), signal.{name})
        self.emit([tup.values[0]])

    def close(self):
        sys.stderr.write("closed\\n")

    report = run_built(built(spout(tuples), bolt(process, close=close)))
    rows = report.result("sink")
    assert rows == [(n,) for n in range(len(rows))]
    assert len(rows) > 2000
    print(report.reason, report.drained)
"""


def signalled(name: str, again: bool) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT).format(name=name, again=again)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_first_signal_drains(name: str) -> None:
    done = signalled(name, again=False)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted True\n", "closed\n", 0)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_second_signal_stops_at_once(name: str) -> None:
    done = signalled(name, again=True)
    assert done.stdout == ""
    assert "closed\n" in done.stderr
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode == -signal.SIGINT
