"""The end of runs on several workers before their spouts end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from framework import Bolt, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime import StopReason, StopSignal
from framework.runtime.workers import executor_thread
from tests.framework.runtime.workers.components import Endless, wait_at
from tests.framework.runtime.workers.conftest import Gate
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.framework.runtime.workers.trouble import Stuck, Tells
from tests.framework.runtime.workers.watching import bounded

DRAIN_S = 0.2
BOUND_S = 15.0
"""Seconds after which a drain of `DRAIN_S` has certainly taken too long, however busy the machine is."""


def topology(middle: type[Bolt]) -> TopologyBuilder:
    """The source is on worker 1, the bolt between on worker 2, the sink on worker 3."""
    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    builder.set_bolt("middle", middle).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    return builder


@contextmanager
def stopped_at(gate: str) -> Iterator[StopSignal]:
    """A signal that asks for the end when a gate is opened."""
    stop = StopSignal()

    def ask() -> None:
        wait_at(gate)
        stop.request(StopReason.INTERRUPTED)

    asking = threading.Thread(target=ask)
    asking.start()
    yield stop
    asking.join()


@every_kind
def test_a_stop_from_outside_drains(workers: Workers, gate: Gate) -> None:
    arrived = gate("arrived")
    with stopped_at(arrived) as stop:
        report = workers.run(topology(Tells), {"stop": stop}, gate__arrived=arrived, tell__at=2000)
    assert (report.reason, report.drained) == (StopReason.INTERRUPTED, True)
    assert report.result("sink") == [(n,) for n in range(report.emitted)]
    assert report.emitted > 2000


@pytest.mark.parametrize("blocking", [False, True], ids=["in its turn", "on its own thread"])
@every_kind
def test_a_drain_is_given_up_where_a_callback_does_not_return(
    workers: Workers,
    blocking: bool,
    gate: Gate,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executor_thread, "LAST_CALL_S", 0.1)
    caplog.set_level(logging.INFO)
    arrived = gate("arrived")
    with stopped_at(arrived) as stop:
        report = workers.run(
            topology(Stuck),
            {"stop": stop},
            gate__arrived=arrived,
            gate__never=gate("never"),
            viper__blocking=blocking,
            viper__drain__timeout__secs=DRAIN_S,
        )
    assert stop.at_s is not None
    assert time.monotonic() - stop.at_s < BOUND_S
    assert (report.reason, report.drained) == (StopReason.INTERRUPTED, False)
    assert "middle:1" in "".join(r.getMessage() for r in caplog.records if "viperstorm.worker" in r.name)


def test_a_test_that_hangs_fails(gate: Gate, capfd: pytest.CaptureFixture[str]) -> None:
    never = {"gate__arrived": gate("arrived"), "gate__never": gate("never")}
    arrived = threading.Thread(target=wait_at, args=(never["gate__arrived"],))
    arrived.start()
    with pytest.raises(pytest.fail.Exception, match="takes longer than it may"), bounded(1.0):
        INLINE.run(topology(Stuck), **never)
    arrived.join()
    assert "in _watch" in capfd.readouterr().err
