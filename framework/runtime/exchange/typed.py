"""The content of a typed stream: values in one form per type, as rows or as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from framework.model.errors import EmitError
from framework.model.topology import Stream
from viper.columns.fitting import Fitting, MisfitError
from viper.payload import Payload, Row, Rows
from viper.rows import plain_rows
from viper.schema import Schema

if TYPE_CHECKING:
    from viper.columns.batches import Batches
    from viper.columns.payload import Columns


class TypedForm:
    """Makes what components emit on a typed stream fit its schema, whatever consumes it and wherever.

    Args:
        component: id of the emitting component, for messages.
        stream: the stream.
        schema: its types.
    """

    def __init__(self, component: str, stream: Stream, schema: Schema) -> None:
        self._where = f"component {component!r}, stream {stream.name!r}"
        self._schema = schema
        self._fields = stream.fields
        self._fitting = Fitting(schema, stream.fields)

    @property
    def codes(self) -> bytes:
        """The types that C accepts for each field by itself, see `viper.rows.Outbox`."""
        return self._fitting.codes

    @cached_property
    def _batches(self) -> Batches:
        from viper.columns.batches import Batches  # wants pyarrow, which single tuples do without

        return Batches(self._schema, self._fields)

    @cached_property
    def _columns(self) -> type[Columns]:
        from viper.columns.payload import Columns

        return Columns

    def row(self, values: Sequence[Any]) -> Row:
        """The values of one tuple in the form that the stream carries.

        Raises:
            EmitError: a value is not of its field's type.
        """
        try:
            return self._fitting.row(values)
        except MisfitError as error:
            raise EmitError(f"{self._where}: {error}") from None

    def payload(self, given: Any) -> Payload:
        """Rows or columns that nobody changes any more, in the form that the stream carries.

        Raises:
            EmitError: a value or a column is not of its field's type.
        """
        if is_batch(given):
            return self.columns(given, gives_away=True)
        made: list[Row] = []
        while (index := plain_rows(given, len(self._fields), len(made), made, self.codes)) < len(given):
            made.append(self.row(given[index]))
        return Rows(made)

    def columns(self, given: Any, *, gives_away: bool, was_carried: bool = False) -> Columns:
        """A batch that was emitted, in the form that the stream carries.

        Args:
            given: a record batch, a table, or columns by name.
            gives_away: whether nobody changes its memory any more; otherwise it is copied.
            was_carried: whether a typed stream has carried its values.

        Raises:
            EmitError: a column is not of its field's type.
        """
        try:
            batches = self._batches
            batch = batches.accepted(given, gives_away=gives_away, was_carried=was_carried)
            return self._columns(batch, None, batches.row_bytes)
        except (MisfitError, TypeError) as error:
            raise EmitError(f"{self._where}: {error}") from None


def is_batch(given: Any) -> bool:
    """True if an emitted value is columns: a record batch, a table, or columns by name."""
    # Most are tuples and lists, of which this is told at once; a mapping of another kind takes longest.
    return type(given) not in (tuple, list) and (hasattr(given, "num_rows") or isinstance(given, Mapping))
