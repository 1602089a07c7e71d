"""A declared output stream of a component."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from viper.schema import Schema

DEFAULT_STREAM = "default"
"""The stream that an emit without ``stream=`` goes to, as in Storm."""


@dataclass(frozen=True, slots=True, init=False)
class Stream:
    """A named stream and the fields of its tuples; streamparse's ``Stream``.

    A stream with a schema is typed: each value is of the type that its field declares, and many tuples
    together are columns, which batch bolts compute with.

        Stream(schema={"id": "int64 not null", "at": "timestamp[us]", "price": "decimal128(10, 2)"})

    Args:
        fields: names of the fields, in the order of the emitted values; None where the schema names them.
        name: the stream's id, unique within its component.
        direct: whether the producer names the receiving task at each emit.
        schema: the type of each field by name, or the types in the order of the fields, in Arrow's words (see
            `viper.schema`); None for a stream that carries any values.

    Raises:
        TypeError: an argument of the wrong type, as in streamparse.
        ValueError: a schema that does not fit the fields, or an unknown type.
    """

    fields: tuple[str, ...]
    name: str
    direct: bool
    schema: Schema | None

    def __init__(
        self,
        fields: Iterable[str] | None = None,
        name: str = DEFAULT_STREAM,
        direct: bool = False,
        schema: Mapping[str, str] | Iterable[str] | Schema | None = None,
    ) -> None:
        names = _field_names(list(schema) if fields is None and isinstance(schema, Mapping) else fields)
        if not isinstance(name, str):
            raise TypeError(f"Stream name must be a str, found {name!r}")
        if not isinstance(direct, bool):
            raise TypeError(f"Stream direct must be a bool, found {direct!r}")
        object.__setattr__(self, "fields", names)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "direct", direct)
        object.__setattr__(self, "schema", None if schema is None else _schema(schema, names))


def _schema(declared: Any, names: tuple[str, ...]) -> Schema:
    if not names:
        raise ValueError("Stream schema without fields: name them, or map each to its type")
    return Schema.of(declared, names)


def _field_names(fields: Iterable[str] | None) -> tuple[str, ...]:
    if fields is None:
        return ()
    names = tuple(fields) if isinstance(fields, list | tuple) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise TypeError(f"Stream fields must be a list or tuple of str, found {fields!r}")
    return names


def declared_streams(outputs: object) -> tuple[Stream, ...]:
    """The streams that a component class declares in ``outputs``.

    Accepts None, a list or tuple of field names (the default stream) and of
    stream objects, ours or streamparse's, mixed as streamparse allows.

    Raises:
        TypeError: anything else.
        ValueError: two streams of one name.
    """
    if outputs is None:
        return ()
    if not isinstance(outputs, list | tuple):
        raise TypeError(f"outputs must be a list or tuple of field names and Streams, found {outputs!r}")
    default = [item for item in outputs if isinstance(item, str)]
    streams = [Stream(default)] if default else []
    streams += [_as_stream(item) for item in outputs if not isinstance(item, str)]
    names = [stream.name for stream in streams]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"stream {name!r} is declared twice")
    return tuple(streams)


def _as_stream(item: object) -> Stream:
    if isinstance(item, Stream):
        return item
    # streamparse's own class, which is not imported for this.
    if type(item).__name__ == "Stream" and hasattr(item, "direct"):
        return Stream(item.fields, item.name, item.direct)  # type: ignore[attr-defined]
    raise TypeError(f"outputs must hold field names and Streams, found {item!r}")
