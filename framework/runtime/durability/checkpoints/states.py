"""What bolts remember, in a checkpoint: which states there are, and the parts that hold their rows.

A part holds chunks of rows (`viper.state.chunks`), each behind a head. That says which key group and which
table of the state they are of, which checkpoint they were written for, and whether these are all rows of the
group then, or those that had changed since the checkpoint before. So the parts of a state are read in order,
and what was written of a group before all of its rows were written last does not count.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from framework.runtime.durability.checkpoints.folder import Checkpoint
from viper.state import Chunk

PART_BYTES: Final = 1 << 24
"""A part ends behind the first chunk that brings it to so many bytes."""
_HEAD: Final = struct.Struct("<IIQQ")
"""Key group; table; twice the checkpoint's id, and 1 more where these are all rows; bytes of the chunk."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """One state in a checkpoint: what was declared, and where its rows are."""

    component: str
    state: str
    """Its name."""
    kind: str
    """As in its declaration, like all but the parts."""
    types: str
    per: str
    codes: Sequence[str]
    index: int | None
    """Of the task whose state it is, within its component; None for state by key."""
    groups: int
    """How many key groups there were."""
    keys: int
    """How many keys it has."""
    parts: list[str]
    """The parts that hold its rows, in the order in which they were written."""

    @property
    def name(self) -> str:
        """``component.state``, and the index of the task whose it is."""
        task = "" if self.index is None else f" of task {self.index}"
        return f"{self.component}.{self.state}{task}"


def framed(chunk: Chunk, table: int, checkpoint: int) -> bytes:
    """A chunk as it stands in a part.

    Args:
        chunk: the rows.
        table: index of the table within its state.
        checkpoint: id of the checkpoint that it is written for.
    """
    return _HEAD.pack(chunk.group, table, 2 * checkpoint + chunk.is_whole, len(chunk.data)) + chunk.data


def joined(states: Iterable[SavedState]) -> list[SavedState]:
    """States of which several tasks have saved their keys, each as one; in the order of their key groups."""
    found: dict[tuple[str, str, int | None], SavedState] = {}
    for state in states:
        name = state.component, state.state, state.index
        if name in found:
            keys, parts = found[name].keys + state.keys, [*found[name].parts, *state.parts]
            state = replace(state, keys=keys, parts=parts)
        found[name] = state
    return list(found.values())


def groups_of(checkpoint: Checkpoint, saved: SavedState) -> Iterator[tuple[int, int, Sequence[bytes]]]:
    """By key group and table of a state the chunks that make up its rows, as `viper.state.load` takes them.

    Raises:
        CheckpointError: a part is not what was written.
    """
    found: dict[tuple[int, int], list[tuple[int, memoryview]]] = {}
    for name in saved.parts:
        part, at = checkpoint.part(name), 0
        while at < len(part):
            group, table, written_for, length = _HEAD.unpack_from(part, at)
            at += _HEAD.size
            found.setdefault((group, table), []).append((written_for, part[at : at + length]))
            at += length
    for (group, table), chunks in sorted(found.items()):
        since = max((written_for // 2 for written_for, _ in chunks if written_for % 2), default=0)
        yield group, table, [bytes(data) for written_for, data in chunks if written_for // 2 >= since]


def states_in(told: Iterable[Any]) -> list[SavedState]:
    """The states that a manifest tells of."""
    return [SavedState(**state) for state in told]
