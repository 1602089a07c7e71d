"""The ways in which tuples come to the tasks of an operator that derives their keys.

Vincenzo Gulisano et al. compare instances that share their input with instances that share nothing: "STRETCH:
Virtual Shared-Nothing Parallelism for Scalable and Elastic Stream Processing", IEEE Transactions on Parallel
and Distributed Systems, 2022.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

MODE: Final = "viper.input"
"""The key that chooses an `InputMode`."""
KEYS: Final = "viper.keys"
"""The key that says who derives keys."""


class InputMode(enum.StrEnum):
    """The copies of a tuple that a producer makes."""

    SHARED = "shared"
    """One, which all tasks read."""
    COPIED = "copied"
    """One for each task that owns a key of the tuple."""
    KEYED = "keyed"
    """One for each key."""


class KeyInput(NamedTuple):
    """The configured way of one operator."""

    mode: InputMode = InputMode.SHARED
    by_producer: bool = False
    """True if producers derive the keys, once for all tasks, and send them with the tuples."""

    @property
    def is_plain(self) -> bool:
        """True if producers know nothing of keys, so that all tasks get all tuples as they are."""
        return self.mode is InputMode.SHARED and not self.by_producer

    def __str__(self) -> str:
        return f"{self.mode}, keys by {'the producer' if self.by_producer else 'each instance'}"


def key_input_of(conf: Mapping[str, Any]) -> KeyInput:
    """Return the way that an operator's configuration chooses."""
    mode = InputMode(conf[MODE])
    return KeyInput(mode, conf[KEYS] == "producer" or mode is InputMode.KEYED)
