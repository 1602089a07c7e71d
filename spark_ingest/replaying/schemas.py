"""The schema of a replayed stream: the types that its dataset has, or those that were declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from framework.model.topology import Stream
from spark_ingest.errors import JobError

if TYPE_CHECKING:
    import pyarrow as pa

Declared = bool | Mapping[str, str] | None
"""The schema of a spout as declared: true for the types of its dataset, or each column's type by name."""


def stream_of(columns: Sequence[str], declared: Declared, found: pa.Schema | None) -> Stream:
    """The stream of a spout, with a schema if it is to have one.

    Args:
        columns: its fields.
        declared: what is said of their types.
        found: the types that the columns have, where that is known.

    Raises:
        JobError: a type is missing or unknown, or cannot hold what the column has.
    """
    if not declared:
        return Stream(columns)
    if declared is True and found is None:
        raise JobError(
            "typed is true, but the types of a job's columns are known only when it runs: "
            "map each to its type"
        )
    try:
        if declared is True:
            from framework.model.columns import declared_types

            return Stream(columns, schema=declared_types(found))
        stream = Stream(columns, schema=declared)
        if found is not None:
            _check(stream, found)
    except (TypeError, ValueError) as error:
        raise JobError(str(error)) from None
    return stream


def _check(stream: Stream, found: pa.Schema) -> None:
    """Refuse a schema that cannot hold what columns have, before any of it is read."""
    from framework.model.columns import Batches

    assert stream.schema is not None
    Batches(stream.schema, stream.fields).accepted(found.empty_table())


def is_declared(declared: Any) -> bool:
    """True if a spout is to have a schema.

    Raises:
        JobError: neither a bool nor a mapping.
    """
    if declared is None or isinstance(declared, bool | Mapping):
        return bool(declared)
    raise JobError(f"typed is {declared!r}: expected true, or a type for each column")
