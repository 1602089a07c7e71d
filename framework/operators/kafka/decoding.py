"""Rows of messages: what a source takes their bytes for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from framework.common.coroutines import check_awaits_nothing
from framework.model.errors import SourceError
from framework.model.topology import did_you_mean, one_of
from framework.operators.sources.json_records import MOST_LEVELS, JsonRecords
from framework.operators.sources.times import EventTime
from framework.operators.sources.values import Type, plain_types
from viper.schema import parsed

Row = tuple[Any, ...]
FORMATS: Final = ("json", "utf8", "bytes")
_READ_BY_ARROW: Final = ("int64", "float64", "bool", "string")
"""The types that Arrow reads of JSON exactly as rows are read, where it reads them at all."""


class Decoded(NamedTuple):
    """A row of a message."""

    row: Row
    time_us: int | None
    """Its event time in microseconds; None where that is the message's own."""


class Decoder(Protocol):
    """Makes rows of the values of messages."""

    @property
    def fields(self) -> Sequence[str]:
        """The names of a row's values."""

    @property
    def schema(self) -> Mapping[str, str] | None:
        """Their types, where the stream has a schema."""

    @property
    def is_mutable(self) -> bool:
        """True if a row may hold a value that a consumer can change."""

    @property
    def definition(self) -> tuple[object, ...]:
        """All that rows depend on, as far as it can be written down."""

    def many(self, values: Sequence[bytes]) -> tuple[Any, list[int] | None]:
        """The rows of messages, as a list or a record batch, and their event times where they have them.

        Raises:
            Exception: one of them is malformed; `one` says which and why.
        """

    def one(self, value: bytes) -> Decoded:
        """The row of a message.

        Raises:
            Exception: it is malformed; a ValueError if its words say it all.
        """


def decoder_of(
    decode: str | Callable[[bytes], Any],
    fields: Sequence[str] | None,
    event_time: EventTime | None,
    options: Mapping[str, Any],
) -> Decoder:
    """The decoder of a source.

    Args:
        decode: one of `FORMATS`, or a function of a message's bytes.
        fields: of the rows, where they are not fixed.
        event_time: reads event times from a field; None where they are the messages'.
        options: ``types``, ``typed`` and ``defaults``, of JSON.

    Raises:
        SourceError: an argument cannot be.
    """
    if decode == "json":
        return JsonDecoder(fields, event_time, **options)
    if options:
        raise SourceError(f"{', '.join(options)}: expected decode='json', which has fields of such types")
    if callable(decode):
        check_awaits_nothing("decode", decode)
        if not fields:
            raise SourceError("decode is a function: name the fields of its rows (fields=[...])")
        return FunctionDecoder(decode, fields, event_time)
    if decode not in FORMATS:
        expected = f"expected {one_of(FORMATS)}, or a function of bytes{did_you_mean(str(decode), FORMATS)}"
        raise SourceError(f"decode is {decode!r}: {expected}")
    if event_time is not None:
        raise SourceError(f"timestamp names a field: decode={decode!r} has none; use 'json' or a function")
    if fields is not None and len(fields) != 1:
        raise SourceError(f"fields: decode={decode!r} makes one value, so name one field")
    field = fields[0] if fields else "value"
    return FunctionDecoder(bytes.decode if decode == "utf8" else _as_it_is, [field], None)


def _as_it_is(value: bytes) -> bytes:
    return value


class FunctionDecoder:
    """Makes a row by a function of a message's bytes.

    The function returns a tuple or a list with a value for each field, a dict, or, where there is one field,
    its value.

    Args:
        function: makes it.
        fields: of a row.
        event_time: reads the event time from one of them; None where it is the message's.
    """

    schema = None

    def __init__(
        self, function: Callable[[bytes], Any], fields: Sequence[str], event_time: EventTime | None
    ) -> None:
        self.fields = list(fields)
        self.is_mutable = function not in (bytes.decode, _as_it_is)
        self._function = function
        self._event_time = event_time
        self._time_at = None if event_time is None else _index_of(event_time.field, self.fields)

    @property
    def definition(self) -> tuple[object, ...]:
        """As of `Decoder`."""
        return (getattr(self._function, "__qualname__", repr(self._function)),)

    def many(self, values: Sequence[bytes]) -> tuple[list[Row], list[int] | None]:
        """As of `Decoder`."""
        function = self._function
        if not self.is_mutable:
            return list(zip(map(function, values), strict=True)), None
        found = [self.one(value) for value in values]
        times = [one.time_us for one in found if one.time_us is not None]
        return [one.row for one in found], None if self._event_time is None else times

    def one(self, value: bytes) -> Decoded:
        """As of `Decoder`."""
        found = self._function(value)
        if isinstance(found, Mapping):
            missing = [name for name in self.fields if name not in found]
            if missing:
                raise ValueError(f"no {missing[0]!r} in {dict(found)!r:.100}")
            row: Row = tuple(found[name] for name in self.fields)
        elif isinstance(found, tuple | list) and (len(self.fields) > 1 or len(found) == 1):
            row = tuple(found)
        else:
            row = (found,)
        if len(row) != len(self.fields):
            raise ValueError(f"decode gave {found!r:.100}: expected a value for each of {self.fields}")
        if self._event_time is None or self._time_at is None:
            return Decoded(row, None)
        return Decoded(row, self._event_time.one(row[self._time_at]))


class JsonDecoder:
    """Makes rows of messages that have an object of JSON each.

    Args:
        fields: the keys whose values make a row; None: a row has the whole object in a field ``object``.
        event_time: reads the event time from one of the keys; None where it is the message's.
        types: types of fields, as of `JsonLinesSource`.
        typed: whether the stream has a schema, so that bolts get columns.
        defaults: the values of keys that an object need not have.
    """

    def __init__(
        self,
        fields: Sequence[str] | None,
        event_time: EventTime | None,
        *,
        types: Mapping[str, Type] | None = None,
        typed: bool = False,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        if typed and fields is None:
            raise SourceError("typed is about fields: name them (fields=[...])")
        self._records = JsonRecords(fields, types, defaults, event_time)
        self.fields = ["object"] if fields is None else list(fields)
        self.schema = plain_types(self.fields, types) if typed else None
        columns = None if self.schema is None else JsonColumns(self.schema)
        self._columns = columns if columns is not None and columns.is_usable else None
        self._event_time = event_time

    @property
    def is_mutable(self) -> bool:
        """As of `Decoder`."""
        return self._records.is_mutable

    @property
    def definition(self) -> tuple[object, ...]:
        """As of `Decoder`."""
        return "json", *self._records.definition

    def many(self, values: Sequence[bytes]) -> tuple[Any, list[int] | None]:
        """As of `Decoder`; columns where they can be read without rows."""
        batch = None if self._columns is None else self._columns.read(values)
        if batch is None or not self._has_time(batch):
            return self._records.many(list(map(bytes.decode, values)))
        event_time = self._event_time
        if event_time is None:
            return batch, None
        return batch, event_time.many(batch.column(event_time.field).to_pylist())

    def _has_time(self, batch: Any) -> bool:
        """True if the event time is in the columns, or nowhere in the messages."""
        return self._event_time is None or self._event_time.field in batch.schema.names

    def one(self, value: bytes) -> Decoded:
        """As of `Decoder`."""
        found = self._records.one(value.decode())
        if found is None:
            raise ValueError("no JSON: it is empty")
        return Decoded(*found)


class JsonColumns:
    """Reads the columns of a schema; of 4 fields in 0.7 us a message, where rows take 1.5.

    Arrow reads a stream of objects. So it is given no message of which it could make more or fewer than one,
    and what is not exactly as rows would have it is left to these.

    Args:
        schema: the type of each field.
    """

    def __init__(self, schema: Mapping[str, str]) -> None:
        self._types = {name: parsed(kind, "types") for name, kind in schema.items()}
        self.is_usable = all(kind.name in _READ_BY_ARROW for kind in self._types.values())
        """True if all types are among those that it can read."""
        self._options: Any = None

    def read(self, values: Sequence[bytes]) -> Any | None:
        """A record batch with a row for each message; None where rows have to tell what is wrong, or right.

        Args:
            values: of the messages.
        """
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import json

        if not all(map(_is_plain, values)):
            return None
        if self._options is None:
            made = {"int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_(), "string": pa.string()}
            schema = pa.schema([(name, made[kind.name]) for name, kind in self._types.items()])
            self._options = json.ParseOptions(schema, unexpected_field_behavior="ignore")
        joined = b"\n".join(values)
        reading = json.ReadOptions(use_threads=False, block_size=max(len(joined) + 1, 1 << 10))
        try:
            table = json.read_json(pa.BufferReader(joined), reading, self._options)
        except pa.ArrowInvalid:
            return None
        if table.num_rows != len(values) or any(column.null_count for column in table.columns):
            return None  # a null, or a key that is not there: rows tell one from the other
        for column in table.columns:
            # Beyond this it may have been a whole number with more digits than a float, which rows refuse.
            if pa.types.is_floating(column.type) and not pc.all(pc.less(pc.abs(column), 2.0**53)).as_py():
                return None
        (batch,) = table.combine_chunks().to_batches() if len(values) else (None,)
        return batch


def _is_plain(value: bytes) -> bool:
    """True if Arrow makes one object of it, or an error: it is one line, from brace to brace."""
    if len(value) > MOST_LEVELS and value.count(b"[") + value.count(b"{") > MOST_LEVELS:
        return False
    return value[:1] == b"{" and value[-1:] == b"}" and b"\n" not in value and b"\r" not in value


def _index_of(name: str, fields: Sequence[str]) -> int:
    if name not in fields:
        expected = f"expected {one_of(fields)}{did_you_mean(name, fields)}"
        raise SourceError(f"timestamp: unknown field {name!r}: {expected}")
    return fields.index(name)
