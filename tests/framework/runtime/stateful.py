"""Stateful bolts, as storm-starter and Flux have them, for workers of every kind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framework import Bolt, KeyValueState, Spout, StatefulBolt
from tests.framework.runtime.workers.dying import die, first_time

COUNT = 600


class Numbers(Spout):
    """Brings the numbers from 0."""

    outputs = ["value"]

    def tuples(self) -> Iterator[Any]:
        for number in range(COUNT):
            yield [number]


class Sum(StatefulBolt):
    """Adds up numbers, in an attribute and in its state; raises at ``fails.at``, dies at ``dies.at``."""

    outputs = ["value"]

    def init_state(self, state: KeyValueState) -> None:
        self._state = state
        self._sum = state.get("sum", 0)

    def process(self, tup: Any) -> None:
        self._sum += tup.values[0]
        self._state.put("sum", self._sum)
        if tup.values[0] == self.storm_conf.get("fails.at"):
            raise ValueError("planted")
        if tup.values[0] == self.storm_conf.get("dies.at") and first_time(self, "there"):
            die()
        self.emit([self._sum])

    def pre_rollback(self) -> None:
        self._sum = self._state.get("sum") - self.storm_conf["fails.at"]


class Prints(Bolt):
    """Passes on what it receives."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values))


class Notes(Sum):
    """Writes its callbacks down, a line each; takes a while in the middle."""

    def process(self, tup: Any) -> None:
        super().process(tup)
        if tup.values[0] == COUNT // 2:  # longer than the least interval between transactions
            time.sleep(0.002)

    def note(self, *words: Any) -> None:
        with (Path(self.storm_conf["marks"]) / "notes").open("a") as file:
            print(*words, file=file)

    def init_state(self, state: KeyValueState) -> None:
        super().init_state(state)
        self.note("init_state", self._sum)

    def pre_prepare(self, txid: int) -> None:
        self.note("pre_prepare", txid)

    def pre_commit(self, txid: int) -> None:
        self.note("pre_commit", txid)

    def pre_rollback(self) -> None:
        super().pre_rollback()
        self.note("pre_rollback", self._sum)

    def close(self) -> None:
        self.note("close")
