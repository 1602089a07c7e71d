"""One task's part of a recording: pickles one after the other.

Each pickle is a pair of a kind and a list; what the list holds depends on the kind:

    tuples   (positions, tags, rows) for each batch: packed positions; for each row its stream
             as uint16, or None where the component has one stream; the pickled list of rows
    ticks    (ts, hi, lo, passed, kind) for each tick

The rows are pickled inside the pickle so that a reader that looks for a position can pass over
them. A part that was not closed ends with its last whole pickle.
"""

from __future__ import annotations

import enum
import pickle
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from framework.recording.ticks import Tick, TickKind
from viper.position import Position


class Batch(NamedTuple):
    """What a task emitted at a time, packed."""

    positions: bytes
    tags: bytes | None
    rows: bytes


class _Kind(enum.StrEnum):
    TUPLES = "tuples"
    TICKS = "ticks"


def write_batches(file: BinaryIO, batches: Sequence[Batch]) -> None:
    """Append a chunk of tuples."""
    plain = [tuple(batch) for batch in batches]  # no class of ours in the file
    _write(file, _Kind.TUPLES, plain)


def write_ticks(file: BinaryIO, ticks: Sequence[Tick]) -> None:
    """Append a chunk of ticks."""
    _write(file, _Kind.TICKS, [(*tick.at, tick.passed, str(tick.kind)) for tick in ticks])


def read_batches(file: BinaryIO) -> Iterator[Batch]:
    """All batches of a part, chunk by chunk."""
    for chunk in _read(file, _Kind.TUPLES):
        yield from map(Batch._make, chunk)


def read_ticks(file: BinaryIO) -> Iterator[Tick]:
    """All ticks of a part."""
    for chunk in _read(file, _Kind.TICKS):
        for ts, hi, lo, passed, kind in chunk:
            yield Tick(Position(ts, hi, lo), passed, TickKind(kind))


def _write(file: BinaryIO, kind: _Kind, chunk: Sequence[tuple[Any, ...]]) -> None:
    pickle.dump((str(kind), chunk), file, pickle.HIGHEST_PROTOCOL)


def _read(file: BinaryIO, wanted: _Kind) -> Iterator[list[Any]]:
    while True:
        try:
            kind, chunk = pickle.load(file)
        except EOFError:
            return
        except pickle.UnpicklingError as error:
            if "truncated" not in str(error):
                raise
            return  # its writer died; whether it should have is for the caller to say
        if kind == wanted:
            yield chunk
