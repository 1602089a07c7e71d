"""Changes of a recorded run, repeated in a run that replays it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from framework.recording import ScaleChange
from framework.runtime.coordination.measuring import flow_of
from framework.runtime.coordination.scaling import Asked
from framework.runtime.observation.statistics import ChannelStatistics


class Repeating:
    """Says which of the recorded changes are due, by how many tuples their bolts have got.

    Args:
        changes: of the recording, in their order.
        most: by bolt that can be scaled in this run, how many tasks it can have. The changes of others are
            left out, and no bolt gets more tasks than it can have.
    """

    def __init__(self, changes: Iterable[ScaleChange], most: Mapping[str, int]) -> None:
        self._coming: dict[str, list[ScaleChange]] = {}
        self._most = most
        for change in changes:
            if change.component in most:
                self._coming.setdefault(change.component, []).append(change)

    @property
    def is_over(self) -> bool:
        """True if all have been made."""
        return not any(self._coming.values())

    def due(self, channels: Sequence[ChannelStatistics]) -> Mapping[str, Asked]:
        """The changes to be made now, each once: by bolt the tasks."""
        found: dict[str, Asked] = {}
        for component, coming in self._coming.items():
            received = flow_of(component, channels).received if coming else 0
            while coming and coming[0].received <= received:
                found[component] = _asked(coming.pop(0), self._most[component])
        return found


def _asked(change: ScaleChange, most: int) -> Asked:
    if change.chosen is None or max(change.chosen) >= most:
        return min(change.tasks, most)
    return change.chosen
