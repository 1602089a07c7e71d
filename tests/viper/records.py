"""Records, and outboxes that tell what they called, for the tests of rows."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

from viper.rows import Outbox


class Record(NamedTuple):
    id: str
    component: str
    stream: str
    task: int
    values: tuple[Any, ...]


Word = namedtuple("Word", ["word"])
HEAD = ("split", "default", 3, Word)


def marks(cut: bytes) -> list[int]:
    return memoryview(cut).cast("I").tolist()


def tags(taken: bytes | None) -> list[int]:
    assert taken is not None
    return memoryview(taken).cast("H").tolist()


class Calls:
    """An outbox with two kept ports and one that nobody reads, and what it called."""

    def __init__(self, limit: int = 1000) -> None:
        self.slow: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.full = 0
        ports = (("default", 2, True), ("other", -1, True), ("unread", 1, False))
        self.outbox = Outbox(ports, self._slow, self._on_full, limit)

    def _slow(self, *args: Any, **options: Any) -> str:
        self.slow.append((args, options))
        return "slow"

    def _on_full(self) -> None:
        self.full += 1
