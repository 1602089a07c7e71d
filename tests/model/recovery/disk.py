"""The storage that outlives the whole group: checkpoints, the sink's files and database, and brokers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.model.recovery.ring import Broken, Position, Row

Part = dict[str, Any]


@dataclass(frozen=True)
class Manifest:
    """A checkpoint that is complete."""

    epoch: int
    time: int
    parts: dict[str, Part]


LAST = 1 << 30
"""The id of what is staged when a drained run ends."""


@dataclass
class Database:
    """A database to which a sink applies rows, in transactions that leave their checkpoint's id there."""

    rows: list[Row] = field(default_factory=list)
    id: int = 0

    @property
    def is_complete(self) -> bool:
        return self.id == LAST


@dataclass
class Disk:
    """Written by the group, found by the next one."""

    manifests: list[Manifest] = field(default_factory=list)
    parts: dict[tuple[int, str], Part] = field(default_factory=dict)
    file: list[Row] = field(default_factory=list)
    """The rows that the sink has staged."""
    marks: dict[int, int] = field(default_factory=lambda: {0: 0})
    """The ends in the file of the rows of each id."""
    database: Database = field(default_factory=Database)

    def staged(self, first: int, last: int) -> list[Row]:
        """The rows after those of one id, to the end of those of another."""
        return self.file[self.marks[first] : self.marks.get(last)]

    def apply(self, id: int) -> None:
        """Apply what is staged up to an id, in one transaction; what was applied already is not again."""
        if self.database.id < id:
            self.database.rows += self.staged(self.database.id, id)
            self.database.id = id

    def reopen(self) -> Manifest | None:
        """Go back to the last checkpoint that is complete, and forget what was written after it."""
        manifest = self.manifests[-1] if self.manifests else None
        epoch = manifest.epoch if manifest else 0
        if self.database.id > epoch:
            raise Broken(f"the database is at checkpoint {self.database.id}, the run at {epoch}")
        self.marks = {id: end for id, end in self.marks.items() if id <= epoch}
        self.parts = {at: part for at, part in self.parts.items() if at[0] <= epoch}
        del self.file[self.marks[epoch] :]
        return manifest


class Broker:
    """The partitions of a stand-in for a broker, which forgets what was acked."""

    def __init__(self, rows: list[tuple[Position, str]], partitions: int) -> None:
        self._rows: list[list[tuple[Position, str]]] = [[] for _ in range(partitions)]
        for row in rows:
            self._rows[row[0][1]].append(row)
        self._kept_from = [0] * partitions

    def fetch(self, partition: int, offset: int) -> tuple[Position, str] | None:
        """The first row from an offset on that is still there; None after the last one."""
        rows, first = self._rows[partition], max(offset, self._kept_from[partition])
        return rows[first] if first < len(rows) else None

    def ack(self, partition: int, offset: int) -> None:
        """Have all rows before an offset forgotten."""
        self._kept_from[partition] = max(self._kept_from[partition], offset)
