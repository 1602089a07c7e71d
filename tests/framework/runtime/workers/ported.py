"""Components of streamparse's that keep what they have seen where a process of their own keeps it apart."""

from __future__ import annotations

import os
from typing import Any

from streamparse import Bolt, Spout

seen: list[Any] = []


class Emits(Spout):  # type: ignore[misc]
    """Emits (0), (1) and so on."""

    outputs = ["number"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.number = 0

    def next_tuple(self) -> None:
        self.emit([self.number])
        self.number += 1


class Remembers(Bolt):  # type: ignore[misc]
    """Says who has what, and how much its class and its module have seen so far."""

    outputs = ["task", "pid", "in_class", "in_module"]
    seen_by_class: list[Any] = []

    def process(self, tup: Any) -> None:
        self.seen_by_class.append(tup)
        seen.append(tup)
        self.emit([self.task_id, os.getpid(), len(self.seen_by_class), len(seen)])


class Twin(Remembers):
    """Shares its class attribute with the other, as far as they share a process."""
