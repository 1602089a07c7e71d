"""Record batches as components emit them, made into batches of the declared types that nobody can change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from viper.columns.checking import Check, check_of, within_of
from viper.columns.fitting import Fitting, MisfitError
from viper.columns.types import arrow_schema, holds
from viper.rows import copy_batch, is_valid
from viper.schema import Schema

_EXACT = {
    "bool": bool,
    **dict.fromkeys((f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), int),
    "float64": float,
    "string": str,
    "binary": bytes,
}
"""By declared type the values in a list that pyarrow makes right by itself, or refuses."""
SMALL_BYTES: Final = 1 << 16
"""Bytes of a part of a large batch up to which it is copied, and does not keep all of it in memory.

The copy takes some 3 us then. Larger parts follow one another most often, as slices of a table whose owner
has all of it in memory anyway.
"""


class Batches:
    """Makes the record batches of one typed stream.

    Args:
        schema: the types of its fields.
        fields: their names.
    """

    def __init__(self, schema: Schema, fields: Sequence[str]) -> None:
        self.schema = arrow_schema(schema, tuple(fields))
        """The schema of every batch."""
        self._declared = schema
        self._fitting = Fitting(schema, fields)
        self._row_bytes = sum(_width(kind) for kind in self.schema.types)
        """The bytes that each row takes at least."""
        is_fixed = all(_width(kind) for kind in self.schema.types)
        self.row_bytes = self._row_bytes if is_fixed else 0
        """The bytes of each row, where every column is of a fixed width of whole bytes; else 0."""
        self._checks = _numbered(map(check_of, schema.types))
        self._checks_of_valid = _numbered(map(within_of, schema.types))
        """The checks for a batch without nulls."""

    def of_rows(self, rows: Sequence[Sequence[Any]]) -> pa.RecordBatch:
        """A batch of rows whose values have the form that the stream carries (105 to 224 ns a row)."""
        columns = zip(*rows, strict=True) if rows else [()] * len(self.schema)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, self.schema.types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def accepted(self, given: Any, *, gives_away: bool = False, was_carried: bool = False) -> pa.RecordBatch:
        """A batch that was emitted, with columns of the declared types, in their order.

        Args:
            given: a record batch, a table, or columns by name, each of which may be a NumPy array or a list.
            gives_away: whether nobody changes its memory any more; otherwise it is copied, 1 ns a row.
            was_carried: whether it holds values that a stream has carried, so that nobody changes its memory,
                and with a schema like this one's they are as they must be.

        Raises:
            MisfitError: it lacks a column or has another one, or its columns differ in length. Or one holds
                null against the schema, or is of a type that may hold what the declared one cannot.
            TypeError: it is none of these.
        """
        is_ours = isinstance(given, pa.RecordBatch) and given.schema.equals(self.schema, check_metadata=True)
        batch = given if is_ours else self._rebuilt(given)
        if not (was_carried and is_ours):
            self._look_at(batch)
        if (gives_away or was_carried) and not self._keeps_more(batch):
            return batch
        return copied(batch)

    def _keeps_more(self, batch: pa.RecordBatch) -> bool:
        """True if it is a small part of a large one, of which it would keep all."""
        least = self._row_bytes * batch.num_rows
        if least > SMALL_BYTES:
            return False
        held = int(batch.get_total_buffer_size())
        # For nbytes pyarrow looks into every column, 15 us.
        return held > 2 * least and (own := int(batch.nbytes)) <= SMALL_BYTES and held > 2 * own

    def _look_at(self, batch: pa.RecordBatch) -> None:
        """Refuse columns that hold what no value of their types is."""
        index = 0
        # To ask each column for its nulls takes 1 us.
        checks = self._checks_of_valid if is_valid(batch) else self._checks
        try:
            for index, check in checks:
                check(batch.column(index))
        except MisfitError as error:
            name, kind = self.schema.names[index], self._declared.types[index]
            raise MisfitError(f"column {name!r} {error}: expected {kind}") from None

    def _rebuilt(self, given: Any) -> pa.RecordBatch:
        arrays = [self._array(index, column) for index, column in enumerate(self._columns(given))]
        try:
            return pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        except ValueError as error:  # of different lengths
            raise MisfitError(str(error)) from None

    def _columns(self, given: Any) -> list[Any]:
        names = self.schema.names
        if isinstance(given, Mapping):
            found = list(given)
        elif isinstance(given, pa.RecordBatch | pa.Table):
            found = given.schema.names
        else:
            raise TypeError(
                f"found {type(given).__name__}: expected a record batch, a table, or columns by name"
            )
        if sorted(found) != sorted(names):
            raise MisfitError(f"columns {found}: expected {names}")
        return [given[name] if isinstance(given, Mapping) else given.column(name) for name in names]

    def _array(self, index: int, column: Any) -> pa.Array:
        array = column if isinstance(column, pa.Array) else self._made(index, column)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        return array if array.type == self.schema.types[index] else self._cast(index, array)

    def _made(self, index: int, column: Any) -> pa.Array:
        if isinstance(column, pa.ChunkedArray):
            return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        try:
            if hasattr(column, "dtype") and column.dtype != object:
                # A NaN of pandas' is a float here as everywhere, and no null.
                return pa.array(column, from_pandas=False)
            return self._of_values(index, column)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, MisfitError):
                raise
            expected = f"column {self.schema.names[index]!r}: expected {self._declared.types[index]}"
            raise MisfitError(f"{expected}: {error}") from None

    def _of_values(self, index: int, column: Any) -> pa.Array:
        """An array of Python's values, each of which must fit; pyarrow itself makes 1 of 1.5."""
        if isinstance(column, str | bytes | bytearray | memoryview | Mapping):
            raise TypeError(f"found {type(column).__name__}, which is no column")
        values, declared = list(column), self._declared.types[index]
        if not set(map(type, values)) <= {_EXACT.get(declared.name), type(None)}:  # 16 ns each, against 400
            values = self._fitting.column(index, values)
        return pa.array(values, self.schema.types[index])

    def _cast(self, index: int, array: pa.Array) -> pa.Array:
        found, wanted = array.type, self._declared.types[index]
        where = f"column {self.schema.names[index]!r} is {found}: expected {wanted}"
        if not holds(self.schema.types[index], found):
            raise MisfitError(f"{where}, and not every {found} is one; cast it")
        try:
            return array.cast(self.schema.types[index])
        except pa.ArrowException as error:
            raise MisfitError(f"{where}: {error}") from None


def _numbered(checks: Iterable[Check | None]) -> list[tuple[int, Check]]:
    return [(index, check) for index, check in enumerate(checks) if check is not None]


def _width(kind: pa.DataType) -> int:
    try:
        return kind.bit_width // 8  # type: ignore[no-any-return]
    except ValueError:  # of any length
        return 0


def copied(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same batch in memory of its own, without what it was cut from."""
    schema = batch.schema
    made = copy_batch(batch, lambda address: pa.RecordBatch._import_from_c(address, schema))
    return pa.ipc.read_record_batch(batch.serialize(), schema) if made is None else made
