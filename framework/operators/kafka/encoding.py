"""Messages of rows: what a sink writes for their values."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final

from framework.model.errors import SinkError
from framework.model.topology import did_you_mean, one_of, unknown

Row = tuple[Any, ...]
FORMATS: Final = ("json", "utf8", "bytes")
Message = tuple[bytes | None, bytes | None, int]
"""The key of a message, its value, and its time in milliseconds since 1970, or 0 for the time of writing."""


class Encoder:
    """Makes messages of rows.

    Args:
        names: the names of a row's values.
        encode: ``json`` for an object of all of them, ``utf8`` or ``bytes`` for the only one. Or a function
            of them that returns bytes, or None for a message without a value.
        key: the field that is a message's key, or several, as a list of JSON; None: messages have none.
        timestamp: the field with the time of a message, in microseconds since 1970; None: that of writing.

    Raises:
        SinkError: an argument cannot be.
    """

    def __init__(
        self,
        names: Sequence[str],
        encode: str | Callable[..., bytes | None],
        key: str | Sequence[str] | None,
        timestamp: str | None,
    ) -> None:
        self._names = list(names)
        keys = [key] if isinstance(key, str) else list(key or ())
        for name in [*keys, *([timestamp] if timestamp else [])]:
            if name not in names:
                raise SinkError(unknown("field", name, names))
        if not callable(encode) and encode not in FORMATS:
            expected = f"expected {one_of(FORMATS)}, or a function{did_you_mean(str(encode), FORMATS)}"
            raise SinkError(f"encode is {encode!r}: {expected}")
        if encode in ("utf8", "bytes") and len(names) != 1:
            raise SinkError(
                f"encode={encode!r} writes one value, and rows have {list(names)}: choose it (columns=[...])"
            )
        self._value = self._encoder(encode)
        self._key = _key_of([self._names.index(name) for name in keys])
        self._time_at = None if timestamp is None else self._names.index(timestamp)

    def message(self, row: Row) -> Message:
        """The message of a row.

        Raises:
            Exception: it cannot be written.
        """
        time_ms = 0
        if self._time_at is not None:
            time_us = row[self._time_at]
            if type(time_us) is not int or time_us < 0:
                raise ValueError(f"its time is {time_us!r}: expected microseconds since 1970")
            time_ms = time_us // 1000
        value = self._value(row)
        if value is not None and not isinstance(value, bytes):
            raise TypeError(f"encode gave {value!r:.100}: expected bytes or None")
        return self._key(row), value, time_ms

    def _encoder(self, encode: str | Callable[..., bytes | None]) -> Callable[[Row], bytes | None]:
        if callable(encode):
            return lambda row: encode(*row)
        if encode == "json":
            names, dumps = self._names, _JSON.encode
            return lambda row: dumps(dict(zip(names, row, strict=True))).encode()
        expected = str if encode == "utf8" else bytes

        def only(row: Row) -> bytes | None:
            (value,) = row
            if value is not None and type(value) is not expected:
                raise TypeError(f"{value!r:.100} is a {type(value).__name__}: expected {expected.__name__}")
            return value.encode() if isinstance(value, str) else value

        return only


_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _key_of(indexes: Sequence[int]) -> Callable[[Row], bytes | None]:
    if not indexes:
        return lambda row: None
    if len(indexes) > 1:
        values = itemgetter(*indexes)
        return lambda row: _JSON.encode(list(values(row))).encode()
    (index,) = indexes

    def key(row: Row) -> bytes | None:
        value = row[index]
        if value is None or type(value) is bytes:
            return value
        if type(value) is str:
            return value.encode()
        if type(value) is int or type(value) is bool:
            return _JSON.encode(value).encode()
        kind = type(value).__name__
        raise TypeError(f"its key {value!r:.100} is a {kind}: expected text, bytes or a whole number")

    return key
