"""Components that speak in every way, fail again and again, or take their time."""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import Any

from framework import Bolt, TopologyBuilder
from framework.operators.sinks import CountingSink
from tests.framework.runtime.workers.components import Numbers, open_gate, wait_at


class Speaks(Bolt):
    """Says through every logger which task it is, and in which process."""

    outputs = ["number"]
    config = {"viper.stateless": True}

    def __init__(self) -> None:
        super().__init__()
        print("made")

    def process(self, tup: Any) -> None:
        who = self._who()
        self.logger.info("logger %s", who)
        self.log(f"log {who}")
        print("print", who)
        logging.getLogger("myapp").info("myapp %s", who)
        thread = threading.Thread(target=self._speak_beside, args=(who,))
        thread.start()
        thread.join()
        self.emit([tup.values[-1]])

    def close(self) -> None:
        print("unfinished", self._who(), end="")

    def _who(self) -> str:
        return f"{self.component_name} {self.task_id} {os.getpid()}"

    def _speak_beside(self, who: str) -> None:
        self.logger.info("thread %s", who)
        logging.getLogger("myapp").info("stray %s", who)


class Dated(Bolt):
    """Says when it speaks."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.logger.warning("at %r", time.time())
        self.emit([tup.values[-1]])


class Survives(Bolt):
    """Raises at each tuple, and continues."""

    exit_on_exception = False

    def process(self, tup: Any) -> None:
        raise LookupError(f"no {tup.values[-1]}")


class FailsToClose(Bolt):
    """Raises in its end."""

    def process(self, tup: Any) -> None:
        pass

    def close(self) -> None:
        raise LookupError("cannot close")


class WaitsInStart(Bolt):
    """Waits at ``gate.go`` before it begins."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        wait_at(storm_conf["gate.go"])

    def process(self, tup: Any) -> None:
        pass


class Waits(Bolt):
    """Waits at ``gate.go`` with the tuple ``wait.at``; opens ``gate.arrived`` before, where there is one."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        if tup.values[-1] == self.storm_conf["wait.at"]:
            if "gate.arrived" in self.storm_conf:
                open_gate(self.storm_conf["gate.arrived"])
            wait_at(self.storm_conf["gate.go"])
        self.emit([tup.values[-1]])


def chain(middle: type[Bolt], count: int = 4, par: int = 1) -> TopologyBuilder:
    """``source -> middle -> sink``."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("middle", middle, par).shuffle_grouping("source")
    if middle.outputs:
        builder.set_bolt("sink", CountingSink).global_grouping("middle")
    return builder


def surviving() -> TopologyBuilder:
    """Errors by the thousand."""
    return chain(Survives, 1000)


def speaking() -> TopologyBuilder:
    """Lines of every kind, from two tasks."""
    return chain(Speaks, par=2)


def waiting() -> TopologyBuilder:
    """A callback that does not return before it is let."""
    return chain(Waits)
