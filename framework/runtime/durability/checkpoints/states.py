"""States in a checkpoint: values of the manifest, and the parts that hold their rows.

A part holds chunks of rows (`viper.state.chunks`), each behind a head. The head names the key group and the
table of the state, and the checkpoint for which they were written. It also says whether these are all rows of
the group at that time, or only the rows that had changed since the checkpoint before. So the parts of a state
are read in order, and rows of a group count only from the last chunk on that holds all of its rows.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from framework.model.errors import CheckpointError
from framework.operators.state.declaration import TO_LIVE
from framework.operators.windows.state import WindowState, told
from framework.runtime.durability.checkpoints.folder import Checkpoint
from viper.arena import Arena
from viper.state import Chunk, KeyedState, Pool, UndoLog, Writer, items, load

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
    """The index of the task within its component; None for state by key."""
    groups: int
    """The number of key groups of the run."""
    keys: int
    """The number of its keys."""
    parts: list[str]
    """The parts that hold its rows, in the order in which they were written."""

    @property
    def name(self) -> str:
        """``component.state``, and the index of the task whose it is."""
        task = "" if self.index is None else f" of task {self.index}"
        return f"{self.component}.{self.state}{task}"


def framed(chunk: Chunk, table: int, checkpoint: int) -> bytes:
    """A chunk as a part holds it.

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
    """The states that a manifest lists."""
    return [SavedState(**state) for state in told]


_ANY: Final = "any values"
_ROOM_FACTOR: Final = 16
"""A table takes at most so many times the bytes of its rows in a part."""
_LEAST_ROOM: Final = 1 << 26


class Unreadable:
    """A pickled value whose classes are not here."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unreadable) and self._data == other._data

    def __hash__(self) -> int:
        return hash(self._data)

    def __repr__(self) -> str:
        return f"<pickled, {len(self._data)} bytes>"


def rows_of(checkpoint: Checkpoint, saved: SavedState) -> Iterator[tuple[Any, Any]]:
    """The keys of a state and what it holds of each: group by group, each in the order of insertion.

    Pickled values are loaded, which may run code: a checkpoint is trusted like a program.

    Raises:
        CheckpointError: a part is not what was written.
    """
    for group, number, chunks in groups_of(checkpoint, saved):
        try:
            yield from _rows_in(saved, group, number, chunks)
        except ValueError as error:
            raise CheckpointError(f"{checkpoint.path}: {error}") from error


def _rows_in(
    saved: SavedState, group: int, number: int, chunks: Sequence[bytes]
) -> Iterator[tuple[Any, Any]]:
    room = max(_ROOM_FACTOR * sum(map(len, chunks)), _LEAST_ROOM)
    arena = Arena.private(Pool.size(room) + KeyedState.size(len(saved.codes), saved.groups) + UndoLog.size())
    pool = Pool.create(arena, room)
    state = KeyedState.create(arena, saved.codes, groups=saved.groups, first_owner=2)
    writer = Writer(arena, pool, UndoLog.create(arena, owner=1), state.owners)
    table = state.table(writer, number, saved.state, groups=[group])
    load(table, group, chunks)
    if saved.kind == WindowState.kind:
        yield from told({key: _loaded(values[0], True) for key, values in items(table, group)})
        return
    is_any = _ANY in saved.types
    for key, values in items(table, group):
        if saved.kind == "list":
            found: Any = [_loaded(value, is_any) for value in values[0]]
        elif saved.kind == "map":
            found = {k: _loaded(v, is_any) for k, v in values[0]}
        elif saved.kind == "table":
            columns = saved.types.removesuffix(TO_LIVE).split(", ")
            names = [column.partition(":")[0] for column in columns]
            found = dict(zip(names, values, strict=True))
        else:
            found = _loaded(values[0], is_any)
        yield key, found


def _loaded(value: Any, is_any: bool) -> Any:
    if not is_any:
        return value
    try:
        return pickle.loads(value)
    except Exception:
        return Unreadable(value)


@dataclass(frozen=True, slots=True)
class SavedTasks:
    """The data that the tasks of a process have saved after all their input was processed."""

    tasks: Mapping[int, Mapping[str, Any]]
    """By task, as JSON can hold it."""
    lost: int
    """Untracked tuples that were not processed to their end, as components had raised."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The states of one task as the manifest of a checkpoint lists them."""

    states: Sequence[SavedState] = ()
    """Its states, in the order of their declaration."""
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Length in bytes and CRC-32 of each part that was written, by name."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """By shared table that it keeps, the part that holds the table."""

    def also(self, other: Saved) -> Saved:
        """Both."""
        parts, tables = {**self.parts, **other.parts}, {**self.tables, **other.tables}
        return Saved([*self.states, *other.states], parts, tables)


@dataclass(frozen=True, slots=True)
class SavedTask:
    """The data that a task has saved for a checkpoint, or at its end."""

    attempt: int
    """The attempt to make a checkpoint that it was saved for."""
    saved: Mapping[str, Any]
    """The data from which it resumes, as JSON can hold it."""
    states: Saved = field(default_factory=Saved)
    """Its declared states, which are written.

    A task at its end has not written them.
    """
    held_s: float = 0.0
    """Seconds for which it stood still."""
    error: str = ""
    """The reason that its states could not be written; empty if they were."""


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The report of a task when a checkpoint is made, or when it has ended."""

    task: int
    found: SavedTask
    lost: int
    """As in `SavedTasks`."""
