"""Things of a program that are none of the protocol, and that Storm takes: told of once, and counted."""

from __future__ import annotations

import logging
from collections import Counter


class Leniency:
    """Warns once of each kind of thing, and counts the others.

    Args:
        name: of the program, for messages.
        logger: of the component.
    """

    def __init__(self, name: str, logger: logging.Logger) -> None:
        self._name = name
        self._logger = logger
        self._counts = Counter[str]()

    def note(self, kind: str, told: str) -> None:
        """Something was taken.

        Args:
            kind: what kind of thing it is, in the plural.
            told: what the program did, and how that is taken.
        """
        self._counts[kind] += 1
        if self._counts[kind] == 1:
            self._logger.warning("%s %s; further ones are counted", self._name, told)

    def close(self) -> None:
        """Log how many there were, where it was more than one."""
        for kind, count in self._counts.items():
            if count > 1:
                self._logger.info("%s has sent %s %s", self._name, f"{count:,}", kind)
        self._counts.clear()
