"""The choice of the values of a row that a sink writes, and of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from framework.model.errors import SinkError
from framework.model.topology import unknown
from framework.operators.sinks.sink import Row


class Chosen:
    """The columns of a sink, chosen by name from the fields of what it receives.

    Args:
        context: the task's, which has the fields of the streams that it receives.
        columns: the wanted ones, in this order; None for all fields.

    Raises:
        SinkError: streams with different fields, fields that nobody knows, or a column that is none of them.
    """

    def __init__(self, context: Mapping[str, Any], columns: Sequence[str] | None) -> None:
        sources = context.get("source->stream->fields", {})
        received = context.get("source->stream->grouping", {})
        found = {
            tuple(fields)
            for source, streams in sources.items()
            for stream, fields in streams.items()
            if stream in received.get(source, {stream: None})
        }
        if len(found) > 1:
            raise SinkError(
                f"a sink writes rows of one kind, and receives {sorted(map(list, found))}: use one each"
            )
        fields = list(next(iter(found), ()))
        if not fields and columns is None:
            raise SinkError("nobody knows the fields of what the sink receives: name them (columns=[...])")
        for name in columns or ():
            if fields and name not in fields:
                raise SinkError(f"columns: {unknown('field', name, fields)}")
        self.names: Sequence[str] = list(fields if columns is None else columns)
        """The names of the columns."""
        self.fields: Sequence[str] = fields or self.names
        """The names that columns may have."""
        self._width = len(fields or self.names)
        self._choice = _choice(fields, self.names)

    def of(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The columns of rows.

        Raises:
            SinkError: a row has another number of values.
        """
        if set(map(len, rows)) - {self._width}:
            row = next(row for row in rows if len(row) != self._width)
            raise SinkError(f"a row has {len(row)} values, expected {self._width}: {row!r:.200}")
        return rows if self._choice is None else list(map(self._choice, rows))


def _choice(fields: Sequence[str], names: Sequence[str]) -> Callable[[Row], Row] | None:
    if not fields or list(fields) == list(names):
        return None
    indices = [fields.index(name) for name in names]
    if len(indices) == 1:
        (index,) = indices
        return lambda row: (row[index],)
    return itemgetter(*indices)
