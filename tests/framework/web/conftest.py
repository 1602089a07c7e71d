"""Runs that continue until they are asked to end, and what watches them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime import StopReason, StopSignal
from framework.runtime.options import RunOptions
from framework.runtime.run import Run
from framework.web.app import RunApp
from framework.web.watch import RunWatch
from tests.framework.runtime.pieces import plan_of
from tests.framework.web.asking import Client

COUNT = 200
"""Tuples of the run, which then waits for more."""


class Waiting(Spout):
    """Emits so many numbers, and then nothing more; but it does not end."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._next = 0

    def next_tuple(self) -> None:
        if self._next < COUNT:
            self._next += 1
            self.emit([self._next], tup_id=self._next)


SHARED = {"viper.on.error": "skip", "viper.stateless": True, "viper.sharing": "claims"}
"""Configuration of a bolt whose tasks claim their input."""


class Picky(Bolt):
    """Raises for every tenth number."""

    outputs = ["number"]
    config = {"viper.on.error": "skip", "viper.stateless": True, "viper.parallelism.max": 4}

    def process(self, tup: Any) -> None:
        if tup.values.number % 10 == 0:
            raise ValueError("a tenth")
        self.emit([tup.values.number])


def built(config: Mapping[str, Any]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("orders", Waiting())
    builder.set_bolt("picky", Picky(), 2, config=dict(config)).shuffle_grouping("orders")
    builder.set_bolt("sink", CollectingSink()).global_grouping("picky")
    return builder


@contextmanager
def going_on(folder: Path, config: Mapping[str, Any] = Picky.config, **options: Any) -> Iterator[Run]:
    """A run that has processed all there is, and continues until the block ends.

    Args:
        folder: by which it is found.
        config: of its bolt.
        options: the run's configuration.
    """
    plan, settings = plan_of(built(config), **options)
    stop = StopSignal()
    running = Run(plan, settings, RunOptions(control=folder), stop=stop)
    thread = threading.Thread(target=running.execute)
    thread.start()
    try:
        until(lambda: running.look().components[-1].processed == COUNT - COUNT // 10)
        yield running
    finally:
        stop.request(StopReason.INTERRUPTED)
        thread.join()


def until(is_so: Callable[[], bool], within_s: float = 60.0) -> None:
    """Wait for something that another thread or process does."""
    ends_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < ends_s, "it has not happened"
        time.sleep(0.005)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with going_on(tmp_path / "control") as running:
        yield running


@pytest.fixture
def watch(run: Run, tmp_path: Path) -> RunWatch:
    return RunWatch(tmp_path / "control")


@pytest.fixture
def client(watch: RunWatch) -> Client:
    return Client(shown(watch))


def shown(watch: RunWatch) -> RunApp:
    app = RunApp()
    app.show(watch)
    return app
