"""What bolts remember, in a checkpoint: which states there are, and the parts that hold their rows.

A part holds chunks of rows (`viper.state.chunks`), each behind a head that says which key group and which
table of the state they are of.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from framework.checkpoints.folder import Checkpoint
from viper.state import KeyedTable, export

PART_BYTES: Final = 1 << 24
"""A part ends behind the first key group that brings it to so many bytes."""
_HEAD: Final = struct.Struct("<IIQ")
"""Key group, table, bytes of the chunk."""


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
    """The parts that hold its rows, in order."""

    @property
    def name(self) -> str:
        """``component.state``, and the index of the task whose it is."""
        task = "" if self.index is None else f" of task {self.index}"
        return f"{self.component}.{self.state}{task}"


def parts_of(
    saved: SavedState, tables: Sequence[KeyedTable], name_of: Callable[[int], str], groups: range
) -> Iterator[tuple[str, bytes]]:
    """The rows of a state as parts, whose names are entered in `saved`.

    Args:
        saved: the state.
        tables: its tables.
        name_of: names a part by its number, from 0.
        groups: the key groups whose rows are wanted.
    """
    part = bytearray()
    for group in groups:
        for number, table in enumerate(tables):
            for chunk in export(table, group):
                part += _HEAD.pack(group, number, len(chunk)) + chunk
        if len(part) >= PART_BYTES or (part and group == groups[-1]):
            saved.parts.append(name_of(len(saved.parts)))
            yield saved.parts[-1], bytes(part)
            part.clear()


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


def chunks_of(checkpoint: Checkpoint, saved: SavedState) -> Iterator[tuple[int, int, bytes]]:
    """The chunks of a state, in order, with key group and table.

    Raises:
        CheckpointError: a part is not what was written.
    """
    for name in saved.parts:
        part, at = checkpoint.part(name), 0
        while at < len(part):
            group, number, length = _HEAD.unpack_from(part, at)
            at += _HEAD.size
            yield group, number, part[at : at + length]
            at += length


def states_in(told: Iterable[Any]) -> list[SavedState]:
    """The states that a manifest tells of."""
    return [SavedState(**state) for state in told]
