"""A shared table in an arena: filled before a run, read after it, and used by recorded transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from viper._backend import ffi, lib
from viper._rows import SharedRows
from viper.arena import Arena
from viper.errors import StateFullError
from viper.transactions.specs import TableSpec

CODES: Final = {"int64": "q", "float64": "d", "text": "s", "set": "*"}
_ELEMENT_BEHIND: Final = 6
"""Bytes of an element beside the value's: see csrc/tx/key.c."""
_PART_BEHIND: Final = 5
"""Likewise of a part of a key that has several."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of a table, for other processes of the arena."""

    spec: TableSpec
    """Its specification."""
    offset: int
    """Of its rows, in the arena."""
    elements: int | None
    """Of the elements of its sets; None: it has no sets."""


class Table:
    """A shared table, as one process sees it; `create` makes it, `attach` finds it again.

    Read and write it only while nobody evaluates transactions: before and after a run.
    """

    def __init__(self, arena: Arena, layout: TableLayout) -> None:
        spec = layout.spec
        self._arena = arena
        self.layout = layout
        """Its layout in the arena."""
        self.spec = spec
        """Its specification."""
        arena._at(layout.offset, _rows_size(spec))
        if layout.elements is not None:
            arena._at(layout.elements, _elements_size(spec))
        self.native = SharedRows(
            arena,
            _address(arena, layout.offset),
            None if layout.elements is None else _address(arena, layout.elements),
            spec.table_name,
            tuple(spec.column_kinds),
            "".join(CODES[kind] for kind in spec.column_kinds.values()).encode(),
            "".join(CODES[kind] for kind in spec.key_kinds).encode(),
            spec.is_single_key,
            (spec.most_rows, spec.most_elements),
        )
        """Its rows, for a Recorder."""
        self._sets = [index for index, kind in enumerate(spec.column_kinds.values()) if kind == "set"]

    @classmethod
    def create(cls, arena: Arena, spec: TableSpec) -> Table:
        """An empty one.

        Raises:
            ArenaError: the arena has no room for it.
        """
        offset = arena.allocate(_rows_size(spec))
        defaults = _default_words(spec)
        lib.vp_shared_format(
            arena._header, offset, spec.most_rows, len(spec.column_kinds), _key_bytes(spec), defaults
        )
        elements = None
        if spec.has_sets:
            elements = arena.allocate(_elements_size(spec))
            lib.vp_shared_format(
                arena._header, elements, spec.most_elements, 1, _element_bytes(spec), ffi.NULL
            )
        return cls(arena, TableLayout(spec, offset, elements))

    @classmethod
    def attach(cls, arena: Arena, layout: TableLayout) -> Table:
        """The one that another process made; ArenaError if nothing was allocated there."""
        return cls(arena, layout)

    @staticmethod
    def size(spec: TableSpec) -> int:
        """Bytes that a table takes of an arena. Rows that are not there take no memory."""
        size = lib.vp_arena_rounded(_rows_size(spec))
        return int(size + (lib.vp_arena_rounded(_elements_size(spec)) if spec.has_sets else 0))

    def copied(self) -> Table:
        """A copy as the table is now, in memory of this process alone; it can be read, and finds no keys
        that are entered later.

        Raises:
            ArenaError: the system has no memory for it.
        """
        arena = Arena.private(Table.size(self.spec))
        offset = arena.allocate(_rows_size(self.spec))
        elements = arena.allocate(_elements_size(self.spec)) if self.spec.has_sets else None
        for to, origin in ((offset, self.layout.offset), (elements, self.layout.elements)):
            if to is not None and origin is not None:
                lib.vp_shared_copy(arena._header, to, lib.vp_shared_at(self._arena._header, origin))
        return Table(arena, TableLayout(self.spec, offset, elements))

    # -- keys

    def enter(self, key: Any) -> int:
        """The number of a key's row, which is entered if need be; it is not there for that.

        Raises:
            TypeError: the key is of another kind.
            StateFullError: there is no room for another key.
        """
        return self.native.enter(key, StateFullError)

    def entered(self) -> int:
        """Count the keys that were named, with or without a row."""
        return int(lib.vp_shared_entered(lib.vp_shared_at(self._arena._header, self.layout.offset)))

    def entered_elements(self) -> int:
        """Likewise of the elements of sets."""
        offset = self.layout.elements
        return (
            0 if offset is None else int(lib.vp_shared_entered(lib.vp_shared_at(self._arena._header, offset)))
        )

    def find(self, key: Any) -> int | None:
        """The number of a key's row; None if it was never named. TypeError: the key is of another kind."""
        return self.native.find(key)

    # -- reading

    def present(self, key: Any) -> bool:
        """True if the row of a key is there."""
        return self._values(key) is not None

    def get(self, key: Any) -> dict[str, Any] | None:
        """The values of a row by column, sets as sorted tuples; if it is not there its defaults, or None."""
        number = self.native.find(key)
        found = None if number is None else self.native.get(number)
        if number is None or found is None:
            return self.defaults()
        values: list[Any] = list(found)
        if self._sets:
            mine = self._elements({number})
            for index in self._sets:
                values[index] = _sorted(mine.get((number, index), ()))
        return dict(zip(self.spec.column_kinds, values, strict=True))

    def defaults(self) -> dict[str, Any] | None:
        """The values of a row that is not there; None: there are none."""
        if self.spec.default_values is None:
            return None
        kinds = self.spec.column_kinds.items()
        return {
            name: () if kind == "set" else value
            for (name, kind), value in zip(kinds, self.spec.default_values, strict=True)
        }

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """All rows that are there, (key, *values), sorted by key, sets as sorted tuples."""
        yield from sorted(self._unsorted(), key=_key_of_row)

    def entries(self, first: int, count: int) -> Iterator[tuple[Any, ...]]:
        """The rows that are there among so many numbers from one on, each (key, *values), of sets how many
        elements."""
        for number in range(first, min(first + count, len(self.native))):
            values = self.native.get(number)
            if values is not None:
                yield self.native.key(number), *values

    def _unsorted(self) -> Iterator[tuple[Any, ...]]:
        mine = self._elements(None) if self._sets else {}
        for number in range(len(self.native)):
            values = self.native.get(number)
            if values is None:
                continue
            row = [self.native.key(number), *values]
            for index in self._sets:
                row[1 + index] = _sorted(mine.get((number, index), ()))
            yield tuple(row)

    def __len__(self) -> int:
        """Count its rows."""
        native = self.native
        return sum(native.get(number) is not None for number in range(len(native)))

    def _values(self, key: Any) -> tuple[Any, ...] | None:
        number = self.native.find(key)
        return None if number is None else self.native.get(number)

    def _elements(self, rows: set[int] | None) -> dict[tuple[int, int], list[Any]]:
        """By row and column, the elements of sets of these rows, or of all."""
        found: dict[tuple[int, int], list[Any]] = {}
        for row, column, element in self.native.elements():
            if rows is None or row in rows:
                found.setdefault((row, column), []).append(element)
        return found

    # -- writing

    def put(self, key: Any, *values: Any) -> None:
        """Make a row there.

        Args:
            key: a text, an int, or a tuple, as the table has them.
            values: one for each column, in order; of a set its elements.

        Raises:
            TypeError: a key or a value of another kind.
            ValueError: not one value for each column, or a row with sets is there already.
            StateFullError: there is no room for another key, or for another element.
        """
        number = self.enter(key)
        if not self._sets:
            self.native.put(number, values)
            return
        if self.native.get(number) is not None:
            raise ValueError(f"table {self.spec.table_name} has a row of key {key!r} already, with its sets")
        counts: list[Any] = list(values)
        for index in self._sets:
            if index < len(counts):
                counts[index] = self._fill(number, index, counts[index])
        self.native.put(number, tuple(counts))

    def _fill(self, row: int, column: int, elements: Iterable[Any]) -> int:
        if isinstance(elements, str | bytes) or not isinstance(elements, Iterable):
            name = list(self.spec.column_kinds)[column]
            raise TypeError(
                f"column {self.spec.table_name}.{name} is a set: expected a list of its elements; "
                f"found {elements!r}"
            )
        numbers = {self.native.enter_element(row, column, element, StateFullError)[0] for element in elements}
        for number in numbers:
            self.native.put_element(row, number)
        return len(numbers)

    def load(self, rows: Iterable[Sequence[Any]]) -> int:
        """Put rows, each (key, *values); how many there were. Errors as `put`, and what the rows raise."""
        count = 0
        for row in rows:
            self.put(*row)
            count += 1
        return count


def _address(arena: Arena, offset: int) -> int:
    return int(ffi.cast("uintptr_t", lib.vp_shared_at(arena._header, offset)))


def _key_bytes(spec: TableSpec) -> int:
    if spec.is_single_key:
        return 0 if spec.key_kinds[0] == "int64" else spec.most_rows * spec.text_bytes
    texts = spec.key_kinds.count("text")
    numbers = len(spec.key_kinds) - texts
    return spec.most_rows * (1 + len(spec.key_kinds) * _PART_BEHIND + 8 * numbers + spec.text_bytes * texts)


def _element_bytes(spec: TableSpec) -> int:
    return spec.most_elements * (_ELEMENT_BEHIND + max(8, spec.text_bytes))


def _rows_size(spec: TableSpec) -> int:
    return int(lib.vp_shared_size(spec.most_rows, len(spec.column_kinds), _key_bytes(spec)))


def _elements_size(spec: TableSpec) -> int:
    return int(lib.vp_shared_size(spec.most_elements, 1, _element_bytes(spec)))


def _default_words(spec: TableSpec) -> Any:
    if spec.default_values is None:
        return ffi.NULL
    words = ffi.new("int64_t[]", len(spec.default_values))
    doubles = ffi.cast("double *", words)
    for index, (kind, value) in enumerate(zip(spec.column_kinds.values(), spec.default_values, strict=True)):
        if kind == "float64":
            doubles[index] = value
        else:
            words[index] = value
    return words


def _sorted(elements: Iterable[Any]) -> tuple[Any, ...]:
    """Numbers before texts, as they do not compare."""
    return tuple(sorted(elements, key=lambda element: (isinstance(element, str), element)))


def _key_of_row(row: tuple[Any, ...]) -> Any:
    return row[0]
