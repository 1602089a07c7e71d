"""The forest: trees of tracked tuples, from one that a spout emits with an id to all that descend from it.

A tree counts its outstanding tuples. Whoever hands a tuple on to n tasks adds n before that; whoever is
done with one acks it, after what was emitted for it was added. When the count falls to 0 the tree has been
acked, and its owner finds it among those that are done; it may fail before that. A tree is known by a
number, and 0 is none.

A forest lies in an arena: every process that has the arena can attach it, and any task can add to, ack and
fail any tree. Each task that owns trees has a table of its own; `Forest.table` hands out the owner's end.

A tuple that belongs to several trees gets a *joint*: a tree that each of them counts as one tuple.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena
from viper.bell import Bell
from viper.errors import ArenaError, ForestError
from viper.position import Positions

TOO_LARGE: Final = int(lib.VP_TREE_TOO_LARGE)
"""Why a tree failed that had more outstanding tuples than can be counted."""
LOST: Final = int(lib.VP_TREE_LOST)
"""Why a tree failed that a tuple of several trees belonged to when a worker died."""
_LAST_REASON: Final = 2**32 - 1

_LIMITS: Final = {"tables": (1, 2**16), "trees": (1, 2**22), "links": (0, 2**31)}


class Forest:
    """All trees of a run, as one process sees them; `create` makes it, `attach` finds it again.

    Trees that are no more, and 0, are never an error: whatever is done to them changes nothing.
    """

    __slots__ = ("_ack", "_ack_trees", "_add", "_arena", "_forest", "_tables", "offset", "table_count")

    def __init__(self, arena: Arena, offset: int) -> None:
        self.offset = offset
        """Its offset in its arena."""
        self._arena = arena
        self._forest: Any = _forest_at(arena, offset)
        self.table_count = int(lib.vp_forest_tables(self._forest))
        """Number of tables."""
        self._tables: dict[int, Trees] = {}
        self._add = lib.vp_forest_add
        self._ack = lib.vp_forest_ack
        self._ack_trees = lib.vp_forest_ack_trees

    @classmethod
    def create(cls, arena: Arena, tables: int, *, trees: int, links: int) -> Forest:
        """A new one. Memory that no tree was in is not touched.

        Args:
            arena: where its memory comes from.
            tables: number of tasks that own trees.
            trees: trees that each of them has room for.
            links: parents of joints that each of them has room for.

        Raises:
            ArenaError: the arena has no room for it.
            ValueError: a number out of range.
        """
        offset = arena.allocate(cls.size(tables, trees, links))
        lib.vp_forest_format(arena._header, offset, (tables, trees, links))
        return cls(arena, offset)

    @classmethod
    def attach(cls, arena: Arena, offset: int) -> Forest:
        """The one at an offset; ArenaError if none was made there."""
        return cls(arena, offset)

    @staticmethod
    def size(tables: int, trees: int, links: int) -> int:
        """Bytes that a forest takes of an arena.

        Raises:
            ValueError: a number out of range.
        """
        for (name, (least, most)), found in zip(_LIMITS.items(), (tables, trees, links), strict=True):
            if not least <= found <= most:
                raise ValueError(f"{name}={found!r}: expected {least} to {most}")
        return int(lib.vp_arena_rounded(lib.vp_forest_size((tables, trees, links))))

    def add(self, positions: Positions, first: int, count: int, copies: int) -> None:
        """Tuples are about to be handed on: each counts so many times in its tree, if it has one.

        Args:
            positions: among others those of the tuples.
            first: index of the first one.
            count: number of tuples.
            copies: to how many tasks each goes.

        Raises:
            IndexError: there are not that many positions.
        """
        if first < 0 or count < 0 or not self._add(self._forest, positions._handle, first, count, copies):
            raise _range_error(positions, first, count)

    def ack(self, positions: Positions, first: int, count: int) -> None:
        """These tuples are done with.

        Raises:
            IndexError: there are not that many positions.
        """
        if first < 0 or count < 0 or not self._ack(self._forest, positions._handle, first, count):
            raise _range_error(positions, first, count)

    def ack_trees(self, trees: Sequence[int]) -> None:
        """One tuple of each tree is done with; fastest for an array("Q")."""
        found = ffi.from_buffer("uint64_t[]", trees) if isinstance(trees, array) else trees
        self._ack_trees(self._forest, found, len(trees))

    def fail(self, tree: int, reason: int) -> bool:
        """Fail a tree, for a reason from 1 to 2**32 - 1 that its owner understands; whether it was alive.

        Raises:
            ValueError: the reason is out of range.
        """
        if not 0 < reason <= _LAST_REASON:
            raise ValueError(f"reason={reason!r}: expected 1 to {_LAST_REASON}")
        return bool(lib.vp_forest_fail(self._forest, tree, reason))

    def hold(self, tree: int) -> None:
        """A tuple of the tree is held: its task has returned from processing it without an answer."""
        lib.vp_forest_hold(self._forest, tree)

    def unhold(self, tree: int) -> None:
        """A tuple of the tree is no longer held, and not yet done with."""
        lib.vp_forest_unhold(self._forest, tree)

    def answer_held(self, tree: int) -> None:
        """A tuple of the tree that was held is done with."""
        lib.vp_forest_answer_held(self._forest, tree)

    def alive(self, tree: int) -> bool:
        """True if the tree is neither acked nor failed."""
        return bool(lib.vp_forest_alive(self._forest, tree))

    def incident(self) -> None:
        """A worker has died, and its tuples with it: notify all owners, who end open trees by `fail_all`."""
        lib.vp_forest_incident(self._forest)

    @property
    def incidents(self) -> int:
        """The number of incidents so far."""
        return int(lib.vp_forest_incidents(self._forest))

    def set_bell(self, table: int, bell: Bell) -> None:
        """Ring a bell when a tree of the table is done, and at incidents.

        Raises:
            IndexError: there is no table of that index.
            ValueError: the bell is in another arena.
        """
        if bell._arena is not self._arena:
            raise ValueError(f"the bell at {bell.offset} is in another arena than the forest")
        lib.vp_forest_set_bell(self._forest, self._checked(table), bell.offset)

    def table(self, index: int) -> Trees:
        """The owner's end of a table; the same each time.

        Raises:
            IndexError: there is none of that index.
        """
        found = self._tables.get(self._checked(index))
        return found or self._tables.setdefault(index, Trees(self._forest, index, self._arena))

    def _checked(self, table: int) -> int:
        if not 0 <= table < self.table_count:
            raise IndexError(f"no table {table}: the forest has {self.table_count}")
        return table


class Trees:
    """The trees of one task; `Forest.table` hands it out. For that task's thread only.

    It reports roots, as a list of (tree, reason), where the reason is 0 for those that were acked.
    Joints are forgotten in silence when they are done.
    """

    __slots__ = (
        "_arena",
        "_begin",
        "_begun",
        "_capacity",
        "_endings",
        "_has_done",
        "_kept",
        "_table",
        "_take",
    )

    def __init__(self, forest: Any, index: int, arena: Arena) -> None:
        self._arena = arena  # keeps the table's memory
        self._table: Any = lib.vp_forest_table(forest, index)
        endings = lib.vp_endings_new()
        if not endings:
            raise MemoryError("no memory for trees that have ended")
        self._endings: Any = ffi.gc(endings, lib.vp_endings_free)
        self._capacity = 0
        self._begun: Any = None
        self._kept: list[tuple[int, int]] = []  # taken to make room, and not told yet
        self._begin = lib.vp_table_begin
        self._has_done = lib.vp_table_has_done
        self._take = lib.vp_table_take

    def begin(self, count: int) -> array[int]:
        """New trees, fewer than asked for where there is no room for more.

        Each has one outstanding tuple, which keeps it open until that is acked: by `Forest.ack_trees`, after
        what was emitted has been added.
        """
        if count > self._capacity:
            self._begun, self._capacity = ffi.new("uint64_t[]", count), count
        made = self._begin(self._table, count, self._begun) if count else 0
        trees = array("Q")
        trees.frombytes(ffi.buffer(self._begun, 8 * made) if made else b"")
        return trees

    def join(self, parents: Sequence[int]) -> int:
        """A new joint of those of the trees that live; 0 if none does. It is open as one that began.

        Raises:
            ForestError: there is no room for it.
        """
        if self._has_done(self._table):
            self._kept += self._taken()
        joint = int(lib.vp_table_join(self._table, ffi.new("uint64_t[]", list(parents)), len(parents)))
        if joint < 0:
            raise ForestError(
                f"no room for a tuple that is anchored to {len(parents)} tracked tuples: too many such "
                "tuples are open; raise viper.tracked.max, or anchor to fewer"
            )
        return joint

    @property
    def has_done(self) -> bool:
        """True if `take` has anything to do; costs next to nothing."""
        return bool(self._has_done(self._table) or self._kept)

    def take(self) -> list[tuple[int, int]]:
        """The roots that have ended, in order, each once."""
        if not self._kept:
            return self._taken()
        kept, self._kept = self._kept, []
        return kept + self._taken()

    def _taken(self) -> list[tuple[int, int]]:
        return self._told(self._take(self._table, self._endings))

    def expire(self) -> list[int]:
        """End the roots that have been stalled since the call before, without a move: all their outstanding
        tuples held.

        Called at intervals of a timeout, it ends a tree between one and two timeouts after it stalled.
        """
        return [tree for tree, _ in self._told(lib.vp_table_expire(self._table, self._endings))]

    def fail_all(self) -> tuple[list[tuple[int, int]], list[int]]:
        """After an incident: what has ended by itself, as `take`, and all other roots, ended now."""
        kept, self._kept = self._kept, []
        count = lib.vp_table_fail_all(self._table, self._endings)
        told = self._told(count if count < 0 else self._endings.length)
        return kept + told[:count], [tree for tree, _ in told[count:]]

    def reset(self) -> int:
        """For the successor of a dead owner, before anything else: end all that is open.

        Returns:
            The number of roots that were open, with those whose end the dead one has not reported.
        """
        self._kept = []
        return int(lib.vp_table_reset(self._table))

    @property
    def open(self) -> int:
        """Roots that began, and whose end was not reported yet."""
        return int(lib.vp_table_open(self._table)) + len(self._kept)

    def _told(self, count: int) -> list[tuple[int, int]]:
        if count < 0:
            raise MemoryError("no memory for trees that have ended")
        if not count:
            return []
        endings = self._endings
        endings.length = 0
        return list(zip(ffi.unpack(endings.trees, count), ffi.unpack(endings.reasons, count), strict=True))


def _forest_at(arena: Arena, offset: int) -> Any:
    arena._at(offset, 1)  # it was allocated
    forest = lib.vp_forest_at(arena._header, offset)
    if not forest:
        raise ArenaError(f"no forest was made at offset {offset} of the arena")
    return forest


def _range_error(positions: Positions, first: int, count: int) -> IndexError:
    return IndexError(f"[{first}, {first + count}) out of range: there are {len(positions)} positions")
