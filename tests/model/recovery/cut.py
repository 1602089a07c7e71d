"""A checkpoint is cut through the topology at one time that all sources agree to, while the run continues.

The parent proposes a time. Each source answers before it publishes at or beyond it: it accepts, and then
waits there for the decision, or it is ahead already. If all accept, the time is decided, otherwise the
proposal is void, and a later time is proposed. Until it is decided, nobody is told that all below it has
come, either: that would be enough for a tick at that time. Each task writes its part where it has processed
all that lies before that time, and nothing else. When all parts are there, the checkpoint is complete. The
death of a process makes it void, before a successor begins.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tests.model.recovery.disk import Manifest
from tests.model.recovery.ring import END, Position

if TYPE_CHECKING:
    from tests.model.recovery.group import Group

PROPOSED, DECIDED, VOID = "proposed", "decided", "void"
MOST_PROPOSALS = 4
"""A checkpoint is given up when so many were void; the run continues."""

IDLE, LOOKED = "idle", "looked"
"""The values that a step yields that found nothing to do, and one that only polled; others yield None."""

Steps = Iterator[str | None]
Whether = Generator[str | None, None, bool]
"""Steps that end with an answer."""


class Record(NamedTuple):
    """The one word of shared memory that says where the cut goes."""

    epoch: int
    time: int
    state: str

    @property
    def place(self) -> Position:
        """Below it lies all that belongs to the checkpoint."""
        return (self.time,)

    @property
    def before(self) -> Position:
        """After all that belongs to the checkpoint, and below the place, where a tick may be."""
        return (self.time - 1, *END)


NONE = Record(0, 0, VOID)


class Coordinator:
    """The parent's part."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self.voids = 0

    def checkpoint(self) -> Steps:
        margin = self._group.margin
        for _ in range(MOST_PROPOSALS):
            if self._has_ended():
                return
            if (yield from self._agree(margin)) and (yield from self._complete()):
                return
            self.voids += 1
            margin *= 2

    def _agree(self, margin: int) -> Whether:
        group = self._group
        group.epoch += 1
        time = max(self._published(name) for name in group.sources) + margin
        group.record = Record(group.epoch, time, PROPOSED)
        yield None
        while any(epoch != group.epoch for epoch, _ in group.answers.values()) and not self.is_void:
            yield IDLE
        agreed = all(accepted for _, accepted in group.answers.values()) and not self.is_void
        group.record = group.record._replace(state=DECIDED if agreed else VOID)
        yield None
        return agreed

    @property
    def is_void(self) -> bool:
        """True if a process has died since the proposal."""
        return self._group.record.state == VOID

    def _has_ended(self) -> bool:
        """True if a source is beyond any time that could be proposed."""
        group = self._group
        return any(ring.progress == END for name in group.sources for ring in group.rings_from(name))

    def _published(self, source: str) -> int:
        """The greatest time that a source has published."""
        reached = [bound for ring in self._group.rings_from(source) for bound in (ring.last, ring.progress)]
        return max((bound[0] for bound in reached if bound and bound < END), default=0)

    def _complete(self) -> Whether:
        group, disk = self._group, self._group.disk
        while any(epoch < group.epoch for epoch in group.parts_written.values()):
            if self.is_void:
                return False
            yield IDLE
        parts = {name: disk.parts[group.epoch, name] for name in group.parts_written}
        disk.manifests.append(Manifest(group.epoch, group.record.time, parts))
        yield None
        group.completed = group.epoch
        yield None
        return True
