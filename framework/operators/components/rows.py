"""Rows: the tuples of one stream that a batch bolt receives in one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from framework.model.errors import StateError
from framework.model.positions import Position
from viper.payload import BareRows, Payload
from viper.payload import Rows as RowPayload
from viper.position import Positions
from viper.schema import Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from viper.columns.slots import KeySlots
    from viper.state import Scope

_RAISES: Any = object()


class Origin(NamedTuple):
    """The origin of rows: their component and stream, and the stream's fields."""

    component: str
    """Id of the component that emitted them."""
    stream: str
    """Name of the stream that they came on."""
    fields: Sequence[str] = ()
    """The stream's declared fields; empty where it declares none."""
    schema: Schema | None = None
    """The types of its values; None where it declares none."""
    key: tuple[Scope, tuple[int, ...]] | None = None
    """The scope that gets the key of a tuple for the bolt's declared state, and the indexes of the key's
    fields.

    None if it declares no state by key.
    """


class Rows(Sequence[Any]):
    """Tuples of one stream, in order.

    Each item is the values of one of them, as a plain tuple in the order of the stream's fields. If the
    stream has a schema, the same tuples are also columns: an Arrow record batch, or arrays of NumPy. Rows and
    columns are made of each other when they are asked for first.

    A bolt may keep the rows and columns as long as it likes; only positions and times have to be asked for
    during the call. It must not change the list of all values.
    """

    __slots__ = ("_batch", "_first", "_origin", "_payload", "_positions", "_slots", "_values", "made")

    def __init__(
        self,
        values: list[tuple[Any, ...]],
        component: str,
        stream: str,
        fields: Sequence[str],
        positions: Iterable[Position] = (),
        first: int = 0,
        schema: Schema | None = None,
    ) -> None:
        """
        Args:
            values: the values of each tuple.
            component: id of the component that emitted them.
            stream: name of the stream that they came on.
            fields: the stream's declared fields; empty where it declares none.
            positions: the positions of the tuples, among others.
            first: index in there of the first of them.
            schema: the types of the values; None where the stream declares none.
        """
        self._set_up(RowPayload(values), Origin(component, stream, tuple(fields), schema), positions, first)

    @classmethod
    def received(
        cls,
        payload: Payload,
        origin: Origin,
        positions: Iterable[Position],
        first: int,
        slots: dict[str, KeySlots] | None = None,
    ) -> Rows:
        """The tuples of a payload; `slots` has the key numbers that the task has given out, by field."""
        rows = cls.__new__(cls)
        rows._set_up(payload, origin, positions, first, slots)
        return rows

    def _set_up(
        self,
        payload: Payload,
        origin: Origin,
        positions: Iterable[Position],
        first: int,
        slots: dict[str, KeySlots] | None = None,
    ) -> None:
        self._payload = payload
        self._origin = origin
        self._positions = positions
        self._first = first
        self._slots = {} if slots is None else slots
        self._values: list[tuple[Any, ...]] | None = payload.rows if type(payload) is RowPayload else None
        self._batch: Any = None if isinstance(payload, RowPayload) else getattr(payload, "batch", None)
        self.made: list[Any] = []
        """The batches that were handed out, which nobody can write to."""

    @property
    def sealed(self) -> list[tuple[Any, ...]] | None:
        """The values of each tuple, where nobody can change any of them; None where somebody may."""
        payload = self._payload
        return payload.rows if type(payload) is RowPayload and payload.sealed else None

    @property
    def is_sealed(self) -> bool:
        """True if they are known to hold no value that anybody can change."""
        return isinstance(self._payload, RowPayload) and self._payload.sealed

    @property
    def bare(self) -> list[Any] | None:
        """The only value of each tuple, where it has come without a tuple around it; None where it has not.

        The list must not be changed, nor can its values be.
        """
        return self._payload.bare if isinstance(self._payload, BareRows) else None

    @property
    def component(self) -> str:
        """Id of the component that emitted the tuples."""
        return self._origin.component

    @property
    def stream(self) -> str:
        """Name of the stream that they came on."""
        return self._origin.stream

    @property
    def fields(self) -> tuple[str, ...]:
        """The stream's declared fields; empty where it declares none."""
        return tuple(self._origin.fields)

    @property
    def schema(self) -> Schema | None:
        """The types of its values; None where it declares none."""
        return self._origin.schema

    def __len__(self) -> int:
        return len(self._payload)

    def __getitem__(self, index: Any) -> Any:
        return self.values()[index]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.values())

    def __repr__(self) -> str:
        return f"Rows({len(self)} of {self.component}:{self.stream})"

    # -- as rows

    def values(self) -> list[tuple[Any, ...]]:
        """The values of each tuple, as a list that must not be changed."""
        if self._values is None:
            self._values = self._payload.rows
        return self._values

    def keyed(self) -> Iterator[tuple[Any, ...]]:
        """The values of each tuple; meanwhile the bolt's declared state is that of the tuple's key.

            for word, amount in rows.keyed():
                self.total.value += amount

        If the call raises, all that it has changed is taken back, unless it raises a `RowError`: so a bolt
        that raises one changes the state of a row last.

        Raises:
            StateError: the bolt declares no state by key.
        """
        if self._origin.key is None:
            raise StateError("rows.keyed() is there for a batch bolt that declares state by key")
        scope, indexes = self._origin.key
        for row in self.values():
            scope.enter(row, indexes)
            yield row
        scope.leave()

    def column(self, field: str) -> list[Any]:
        """The values of one field.

        Raises:
            KeyError: the stream declares no such field.
        """
        index = self._index(field)
        if self._values is None and self._batch is not None:
            from viper.columns.scalars import converter

            array = self._batch.column(index)
            return converter(field, array.type)(array)
        return list(map(itemgetter(index), self.values()))

    def positions(self) -> list[Position]:
        """Return the positions of the tuples in the order of the run; to be called during the call of the
        bolt."""
        positions, first = self._positions, self._first
        if isinstance(positions, Positions):  # whose iterator would come to the first one by all before
            return positions.part(first, len(self))
        return list(islice(positions, first, first + len(self)))

    def times(self) -> list[int]:
        """The time of each tuple: its event time in microseconds, or its number by logical time.

        As `positions`, it is to be asked for during the call.
        """
        return [position.ts for position in self.positions()]

    # -- as columns, where the stream has a schema

    def batch(self) -> pa.RecordBatch:
        """All columns as an Arrow record batch.

        Raises:
            TypeError: the stream declares no schema.
        """
        if self._batch is None:
            if self.schema is None:
                raise TypeError(
                    f"stream {self.stream!r} of {self.component!r} declares no schema, so its rows are no "
                    "columns: declare it as Stream(schema={field: type, ...})"
                )
            from viper.columns.batches import Batches

            self._batch = Batches(self.schema, self.fields).of_rows(self.values())
        return self._handed(self._batch)

    def array(self, field: str) -> pa.Array:
        """One column as an Arrow array.

        Raises:
            KeyError: the stream declares no such field.
            TypeError: it declares no schema.
        """
        return self.batch().column(self._index(field))

    def numpy(self, field: str, null: Any = _RAISES) -> np.ndarray[Any, Any]:
        """One column as an array of NumPy: of fixed width and without None a view that cannot be written to.

        Args:
            field: its name.
            null: what stands for None, of which the array is a copy then.

        Raises:
            KeyError: the stream declares no such field.
            TypeError: it declares no schema.
            ValueError: the column holds None and no `null` was given, or one that is not of the field's type;
                or NumPy has no type for it.
        """
        column = self.array(field)
        if column.null_count and null is _RAISES:
            raise ValueError(
                f"field {field!r} holds {column.null_count} None among {len(column)}: give null=, or look at "
                "valid(field)"
            )
        if column.null_count:
            column = column.fill_null(self._fitting_for(field, null, column.type))
        found: np.ndarray[Any, Any] = column.to_numpy(zero_copy_only=False)
        if found.dtype == object:
            raise ValueError(
                f"field {field!r} is {column.type}, for which NumPy has no type: take array(field)"
            )
        return found

    def valid(self, field: str) -> np.ndarray[Any, Any]:
        """Return an array of bools, True for each value of a column that is not None; errors as for
        `array`."""
        valid: np.ndarray[Any, Any] = self.array(field).is_valid().to_numpy(zero_copy_only=False)
        return valid

    def where(self, mask: Any) -> tuple[pa.RecordBatch, Sequence[int]]:
        """The tuples for which a mask is true, and the row of each, as `emit_rows` takes them.

        Args:
            mask: a bool for each tuple, of Arrow, NumPy or a list; None counts as false.

        Raises:
            TypeError: the stream declares no schema.
            ValueError: the mask has another length.
        """
        import pyarrow as pa

        from viper.columns.selecting import where

        wanted = mask if isinstance(mask, pa.BooleanArray) else pa.array(mask, pa.bool_())
        if len(wanted) != len(self):
            raise ValueError(f"a mask of {len(wanted):,} for {len(self):,} rows")
        batch, kept = where(self.batch(), wanted)
        return self._handed(batch), kept

    def slots(self, field: str) -> np.ndarray[Any, Any]:
        """A small number for each key of a column: from 0 on, in the order in which the task first saw them.

        Equal keys in fields of one name have the same number, whatever stream they come on, and in every call
        of one component. So it can be the index of what the component remembers of the key. Errors as for
        `array`.

        Returns:
            An array of uint32.
        """
        from viper.columns.slots import KeySlots

        column = self.array(field)
        return self._slots.setdefault(field, KeySlots()).of(field, column)

    def _fitting_for(self, field: str, null: Any, kind: pa.DataType) -> pa.Scalar:
        """Return the value that replaces None; pyarrow itself makes 0 of 0.5, and of None a column of
        floats."""
        import pyarrow as pa

        from viper.columns.fitting import Fitting

        assert self.schema is not None
        declared = replace(self.schema.types[self._index(field)], nullable=False)
        (value,) = Fitting(Schema((declared,)), (field,)).row([null])
        return pa.scalar(value, kind)

    def _index(self, field: str) -> int:
        if field not in self._origin.fields:
            declared = f"its fields are {list(self.fields)}" if self.fields else "it declares no fields"
            raise KeyError(f"stream {self.stream!r} of {self.component!r} has no field {field!r}: {declared}")
        return self._origin.fields.index(field)

    def _handed(self, batch: Any) -> Any:
        if not (self.made and self.made[-1] is batch):
            self.made.append(batch)
        return batch
