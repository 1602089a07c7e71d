"""The rows of a state in a checkpoint, as keys and values, without the topology that has made them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any, Final

from framework.model.errors import CheckpointError
from framework.operators.state.declaration import TO_LIVE
from framework.operators.windows.state import WindowState, told
from framework.runtime.durability.checkpoints.folder import Checkpoint
from framework.runtime.durability.checkpoints.states import SavedState, groups_of
from viper.arena import Arena
from viper.state import KeyedState, Pool, UndoLog, Writer, items, load

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
