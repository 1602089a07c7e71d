"""The state of one task at the cut of a checkpoint, on its way into the checkpoint's folder.

The task takes it when it has processed all input that belongs to the checkpoint, and continues at once. It
writes the parts itself, in short pieces between its slices; whoever leads the run makes them last. Unchanged
state is in the parts of the checkpoint before, which the new checkpoint has too.
"""

from __future__ import annotations

import errno
import time
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from framework.operators.state import StateSpec
from framework.runtime.durability.checkpoints.folder import checkpoint_path
from framework.runtime.durability.checkpoints.states import PART_BYTES, Saved, SavedState, framed
from viper.state import KeyedTable, next_chunk

_PIECE_BYTES: Final = 1 << 16
"""The bytes that are written at once: in some 0.1 ms, checksum included."""
MOST_CHANGES: Final = 100
"""The most parts with changes that follow a part with all rows of a state.

Each part is one more link, and one more entry of the manifest, in every checkpoint that has it.
"""


@dataclass(frozen=True, slots=True)
class OwnState:
    """A state as the task that owns its keys, or some of them, sees it."""

    spec: StateSpec
    tables: Sequence[KeyedTable]
    component: str
    task: int
    """Id of the task."""
    index: int | None
    """Of the task within its component where the state is that of a task; None for state by key."""
    groups: range
    """The key groups that the task owns."""


class Snapshot:
    """All states of one task as they are now.

    Whoever dies while it is written has its checkpoint given up, and another process takes the next snapshot
    in full.

    Args:
        number: the id of the checkpoint.
        folder: where the parts are written; it exists.
        states: of the task, in the order of their declaration.
        since: the snapshot of the checkpoint before, whose parts this one builds upon; None for a full one.
    """

    def __init__(
        self, number: int, folder: Path, states: Sequence[OwnState], since: Snapshot | None
    ) -> None:
        self.number = number
        self.is_written = False
        """True if all is written, and it has not been given up."""
        self._folder = folder
        self._owned = states
        self._parts: dict[str, tuple[int, int]] = {}
        self._changes = [0] * len(states)
        """For each state the number of parts with changes since the last part with all its rows."""
        self._states = [self._cut(own, index, since) for index, own in enumerate(states)]
        self._pieces = self._write_all()

    def write(self, budget_s: float) -> bool:
        """Write for about so many seconds; whether all is written.

        Raises:
            OSError: a part cannot be written, as the folder is gone for instance, or a key has too much.
        """
        until_s = time.monotonic() + budget_s
        self.is_written = all(time.monotonic() < until_s for _ in self._pieces)
        return self.is_written

    @property
    def saved(self) -> Saved:
        """The manifest's entry for it, once all is written."""
        return Saved(self._states, dict(self._parts))

    def discard(self) -> None:
        """Discard the snapshot of a checkpoint that was given up: its changes count as changes still."""
        self.is_written = False
        self._pieces.close()
        for own in self._owned:
            for table in own.tables:
                table.discard()

    def _cut(self, own: OwnState, index: int, since: Snapshot | None) -> SavedState:
        """Begin a snapshot of a state; what it builds upon is entered."""
        number, before = 0, None
        if since is not None and since._changes[index] < MOST_CHANGES:
            number, before = since.number, since._states[index]
        found = [table.cut(self.number, number, before is None) for table in own.tables]
        if any(is_whole for _, is_whole in found):  # then all are to be, so that no part before counts
            before = None
            for table, (_, is_whole) in zip(own.tables, found, strict=True):
                if not is_whole:
                    table.cut(self.number, number, True)
        described = replace(_described(own), keys=found[0][0])
        if since is not None and before is not None:
            described.parts.extend(before.parts)
            self._changes[index] = since._changes[index] + 1
            self._parts.update({name: since._parts[name] for name in before.parts})
        return described

    def _write_all(self) -> Generator[None, None, None]:
        for index, (own, state) in enumerate(zip(self._owned, self._states, strict=True)):
            chunks = _chunks_of(own, self.number)
            for first in chunks:
                name = f"state-{self.number:06}-{own.task:04}-{index:02}-{len(state.parts):06}.part"
                with open(self._folder / name, "xb") as file:
                    length = checksum = 0
                    for chunk in _part_of(first, chunks):
                        file.write(chunk)
                        length, checksum = length + len(chunk), zlib.crc32(chunk, checksum)
                        yield
                state.parts.append(name)
                self._parts[name] = length, checksum


class Snapshots:
    """The snapshots of one task, one after the other."""

    def __init__(self) -> None:
        self._since: Snapshot | None = None
        """The last one that has become part of a checkpoint."""
        self._last: Snapshot | None = None

    def begin(self, number: int, folder: Path, states: Sequence[OwnState], *, full: bool) -> Snapshot:
        """As `TaskState.snapshot`."""
        if self._last is not None and self._last.is_written:
            self._since = self._last
        since = self._since
        if full or since is None or not checkpoint_path(folder.parent, since.number).exists():
            since = None
        self._last = Snapshot(number, folder, states, since)
        return self._last

    def begin_anew(self) -> None:
        """Have the next snapshot be full, as the task owns other key groups, whose rows other tasks have
        written."""
        self._since = self._last = None


def written_at_once(states: Iterable[OwnState], saved: list[SavedState]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the parts that hold states of tasks that have ended.

    Args:
        states: the states.
        saved: gets what is to be said of them, one after the other.
    """
    for index, own in enumerate(states):
        found = [table.cut(0, 0, True) for table in own.tables]
        described = replace(_described(own), keys=found[0][0])
        chunks = _chunks_of(own, 0)
        for first in chunks:
            name = f"state-{own.task:04}-{index:04}-{len(described.parts):06}.part"
            described.parts.append(name)
            yield name, b"".join(_part_of(first, chunks))
        saved.append(described)


def _chunks_of(own: OwnState, number: int) -> Iterator[bytes]:
    """The chunks of the snapshot that the tables of a state are at, as parts hold them."""
    for index, table in enumerate(own.tables):
        try:
            while (chunk := next_chunk(table, _PIECE_BYTES)) is not None:
                yield framed(chunk, index, number)
        except OverflowError as error:
            raise OSError(errno.EFBIG, str(error)) from error


def _part_of(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """A chunk and those behind it that are in the same part."""
    length = len(first)
    yield first
    while length < PART_BYTES and (chunk := next(chunks, None)) is not None:
        length += len(chunk)
        yield chunk


def _described(own: OwnState) -> SavedState:
    """Return the description of a state without its keys and parts, which are still to be entered."""
    spec = own.spec
    return SavedState(
        component=own.component,
        state=spec.name,
        kind=spec.kind,
        types=spec.types,
        per=spec.per,
        codes=list(spec.codes),
        index=own.index,
        groups=own.tables[0].groups,
        keys=0,
        parts=[],
    )
