"""Components that wait, fail, or take their worker with them.

Which of them does what, where and when is said by the configuration, so that they are the same for
tests in this process and for command lines.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from pathlib import Path
from typing import Any

from framework import Bolt
from framework.operators.sinks import CollectingSink, Sink
from tests.framework.runtime.workers.components import open_gate, wait_at


class Stuck(Bolt):
    """Says that a tuple has come, and never returns (``gate.arrived``, ``gate.never``)."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        open_gate(self.storm_conf["gate.arrived"])
        wait_at(self.storm_conf["gate.never"])


class Deaf(Bolt):
    """Never returns, whatever signal comes (``gate.never``)."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        wait_at(self.storm_conf["gate.never"])


class Tells(Bolt):
    """Forwards, and opens ``gate.arrived`` at the tuple of number ``tell.at``."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        if tup.values[0] == self.storm_conf["tell.at"]:
            open_gate(self.storm_conf["gate.arrived"])
        self.emit([tup.values[0]])


def marked(component: Any, what: str) -> None:
    """Write down in the folder ``marks`` that something happened to a component's task."""
    (Path(component.storm_conf["marks"]) / f"{component.component_name}-{component.task_id}-{what}").touch()


class Broken(Bolt):
    """Raises in the callback that ``broken.in`` names; its close is marked."""

    outputs = ["value"]

    def __init__(self, during: str = "") -> None:
        super().__init__()
        if during == "__init__":
            raise LookupError("no such thing in __init__")

    def _fails_in(self, during: str) -> None:
        if self.storm_conf.get("broken.in") == during:
            raise LookupError(f"no such thing in {during}")

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._fails_in("initialize")

    def process(self, tup: Any) -> None:
        self._fails_in("process")
        self.emit([tup.values[0]])

    def close(self) -> None:
        marked(self, "closed")
        self._fails_in("close")


class Hungry(Bolt):
    """Wants more memory than there can be."""

    def process(self, tup: Any) -> None:
        self.eaten = bytearray(2**62)


class Doomed(Bolt):
    """Waits at ``gate.go`` at the tuple of number ``kill.at``, and is killed then, as for want of memory."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        if tup.values[0] == self.storm_conf["kill.at"]:
            wait_at(self.storm_conf["gate.go"])
            os.kill(os.getpid(), signal.SIGKILL)
        self.emit([tup.values[0]])


class Whole(Bolt):
    """Forwards; its close is marked."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])

    def close(self) -> None:
        marked(self, "closed")


class Exits(Bolt):
    """Ends its process without a word at the tuple ``exit.at``."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        if tup.values[0] == self.storm_conf["exit.at"]:
            os._exit(self.storm_conf["exit.status"])
        self.emit([tup.values[0]])


class Kills(Bolt):
    """Kills the process that runs it at the tuple ``kill.at``, by the signal ``kill.by``."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        if tup.values[0] == self.storm_conf["kill.at"]:
            os.kill(os.getpid(), self.storm_conf.get("kill.by", signal.SIGKILL))
        self.emit([tup.values[0]])


class ExitsInClose(Bolt):
    """Ends its process without a word when all is over."""

    def process(self, tup: Any) -> None:
        pass

    def close(self) -> None:
        os._exit(3)


class Talks(Bolt):
    """Prints and logs in every way; a record holds what no other process can read with ``log.lock``."""

    outputs = ["number"]

    def __init__(self) -> None:
        super().__init__()
        print("made")

    def process(self, tup: Any) -> None:
        number = tup.values.number
        print("printed", number)
        self.logger.warning("warned of %d", number)
        self.logger.debug("debugged %d", number)
        logging.getLogger("some.package").info("uses %d", number)
        if number == 1:
            try:
                raise LookupError("no such number")
            except LookupError:
                self.logger.exception("went on after %d", number)
        if self.storm_conf.get("log.lock"):
            self.logger.warning("locked", extra={"lock": threading.Lock()})
        print("no newline", end="")
        self.emit([number])


class Prints(Bolt):
    """Prints a line for each tuple, piece by piece."""

    def process(self, tup: Any) -> None:
        print(self.component_name, "has", tup.values.number)


class MarkedSink(CollectingSink):
    """A sink whose close is marked."""

    def close(self) -> None:
        marked(self, "closed")


class LastWords(Sink):
    """Starts a thread when it is closed, which has something to do when all is over."""

    def consume(self, rows: Any) -> None:
        pass

    def close(self) -> None:
        threading.Thread(target=self._end).start()

    def _end(self) -> None:
        threading.main_thread().join()
        total = sum(range(2_000_000))  # which takes much longer than to be killed
        marked(self, f"summed up {total}")
