"""Recognizes tuples that a spout emits again after they have failed."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable
from typing import Any

from framework.runtime.order.positions.event_times import AT_FRONTIER


class Replays:
    """Recognizes replayed tuples by their ids, and gives them a time.

    A replayed tuple still has its old event time, which is before the source's present one. It is placed at
    the source's frontier, and the rule that event time must not go back does not apply to it. A tuple whose
    id cannot be hashed is not recognized.
    """

    def __init__(self) -> None:
        self._failed: set[Hashable] = set()

    def failed(self, tup_id: Any) -> None:
        """Note that the tuple with an id has failed, and may be replayed."""
        with contextlib.suppress(TypeError):
            self._failed.add(tup_id)

    def acked(self, tup_id: Any) -> None:
        """Note that the tuple with an id was acked, and will not be replayed."""
        if self._failed:
            with contextlib.suppress(TypeError):
                self._failed.discard(tup_id)

    def mark(self, ids: Iterable[tuple[int, Any]], stamps: dict[int, int]) -> None:
        """Give replayed tuples their time.

        Args:
            ids: the indexes and ids of emitted tuples.
            stamps: event times by index; those of replayed tuples are set to `AT_FRONTIER`.
        """
        if not self._failed:
            return
        for index, tup_id in ids:
            with contextlib.suppress(TypeError):
                if tup_id in self._failed:
                    stamps[index] = AT_FRONTIER
