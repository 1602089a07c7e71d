"""Columns of messages that have an object of JSON each, without an object of Python for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.operators.sources.json_records import MOST_LEVELS
from viper.schema import parsed

_KINDS: Final = ("int64", "float64", "bool", "string")
"""The types that Arrow reads of JSON exactly as rows are read, where it reads them at all."""


class JsonColumns:
    """Reads the columns of a schema; of 4 fields in 0.7 us a message, where rows take 1.5.

    Arrow reads a stream of objects. So it is given no message of which it could make more or fewer than one,
    and what is not exactly as rows would have it is left to these.

    Args:
        schema: the type of each field.
    """

    def __init__(self, schema: Mapping[str, str]) -> None:
        self._types = {name: parsed(kind, "types") for name, kind in schema.items()}
        self.is_usable = all(kind.name in _KINDS for kind in self._types.values())
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
