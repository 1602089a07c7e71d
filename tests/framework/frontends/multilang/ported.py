"""streamparse's components that are run as programs, found by their names."""

from __future__ import annotations

from typing import Any

import streamparse


class Words(streamparse.Spout):  # type: ignore[misc]
    """Ends by StopIteration, as an iterator does that nobody guards."""

    outputs = ["word"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.words = iter(["dog", "cat", "zebra"])

    def next_tuple(self) -> None:
        self.emit([next(self.words)])


class Tracked(streamparse.ReliableSpout):  # type: ignore[misc]
    """The same, but its tuples come again when they have failed, also after its end."""

    outputs = ["word"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.words = iter(["dog", "cat"])

    def next_tuple(self) -> None:
        word = next(self.words)
        self.emit([word], tup_id=word)


class RaisesInAck(Tracked):
    """Raises StopIteration where that does not mean its end."""

    def ack(self, tup_id: Any) -> None:
        raise StopIteration


class Upper(streamparse.Bolt):  # type: ignore[misc]
    """Has failed each word once before it emits it."""

    outputs = ["word"]
    auto_ack = False

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.seen: set[str] = set()

    def process(self, tup: Any) -> None:
        word = tup.values.word
        if word in self.seen:
            self.emit([word.upper()])
            self.ack(tup)
        else:
            self.seen.add(word)
            self.fail(tup)
