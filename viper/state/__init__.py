"""State by key: tables in an arena that take all of a slice's changes, or none of them.

A `Pool` is the memory that state grows into. A `KeyedState` holds what one component remembers: one table for
each of its states, divided into key groups, each of which belongs to one task at a time. A task changes it
through its `Writer`, whose log says what to take back: by `Writer.back_to_commit`, or after its process has
died by opening the log again.

    arena = Arena.private(1 << 30)
    pool = Pool.create(arena, 64 << 20)
    state = KeyedState.create(arena, ["q", "[s"], groups=256, first_owner=2)
    writer = Writer(arena, pool, UndoLog.create(arena, owner=1), state.owners)
    seen = state.table(writer, 0, "seen", groups=range(256))
    seen.set("apple", (3,))
    writer.commit()

While a tuple is processed its `Scope` says which key is meant, and a cell has what the state holds for that
key: `StateCell` a value, `TableCell` columns, `ListCell` a list, `MapCell` a map. `export` and `load` carry
key groups over to other tasks, through files or not.
"""

from viper._rows import KeyedTable, ListCell, MapCell, Scope, StateCell, TableCell
from viper.state.chunks import Chunk, export, load, next_chunk
from viper.state.claims import KeyClaimant, KeyClaims
from viper.state.keyed import KeyedState, items, scope_of, token_of
from viper.state.memory import Pool, UndoLog, Writer

__all__ = [
    "Chunk",
    "KeyClaimant",
    "KeyClaims",
    "KeyedState",
    "KeyedTable",
    "ListCell",
    "MapCell",
    "Pool",
    "Scope",
    "StateCell",
    "TableCell",
    "UndoLog",
    "Writer",
    "export",
    "items",
    "load",
    "next_chunk",
    "scope_of",
    "token_of",
]
