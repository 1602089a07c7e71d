"""Tuples that a spout emits once more after they have failed."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable
from typing import Any

from framework.runtime.positions.event_times import AT_FRONTIER


class Replays:
    """Knows them by their ids: they keep their old event time, which their source has left behind.

    A repeat takes its place at the source's frontier, exempt from the rule that event time does not go
    back. An id that cannot be hashed is not known again.
    """

    def __init__(self) -> None:
        self._failed: set[Hashable] = set()

    def failed(self, tup_id: Any) -> None:
        """The tuple with that id has failed, and may be repeated."""
        with contextlib.suppress(TypeError):
            self._failed.add(tup_id)

    def acked(self, tup_id: Any) -> None:
        """The tuple with that id is done with."""
        if self._failed:
            with contextlib.suppress(TypeError):
                self._failed.discard(tup_id)

    def mark(self, ids: Iterable[tuple[int, Any]], stamps: dict[int, int]) -> None:
        """Give repeats their time.

        Args:
            ids: of emitted tuples, with their indexes.
            stamps: event time by index; repeats get `AT_FRONTIER` there.
        """
        if not self._failed:
            return
        for index, tup_id in ids:
            with contextlib.suppress(TypeError):
                if tup_id in self._failed:
                    stamps[index] = AT_FRONTIER
