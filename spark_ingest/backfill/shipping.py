"""Makes a stage a function over Arrow batches that Spark can send to executors."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from framework.model.errors import ComponentError
from framework.model.importing import importable
from framework.model.topology import Topology
from spark_ingest.backfill.errors import BackfillError, ShardError

if TYPE_CHECKING:
    import pyarrow as pa

Batches = Iterator["pa.RecordBatch"]


@dataclass(frozen=True, slots=True)
class Shipment:
    """A function and its arguments as bytes, with the folders that what they name is imported from."""

    packed: bytes
    paths: tuple[str, ...]
    """In front of `sys.path`: the project's."""
    fallbacks: tuple[str, ...]
    """Behind it: the driver's, where executors share its machine or its file system."""
    folder: str
    """The driver's current one, which paths may be relative to."""

    def __call__(self, batches: Batches) -> Batches:
        """Call the function with the arguments and the batches, in a process of Spark's.

        Raises:
            ShardError: a component raised, or what it does cannot be the same as on one machine.
        """
        with _importable(self.paths, self.fallbacks), _in_folder(self.folder), _told(_partition()):
            function: Callable[[Batches], Batches] = pickle.loads(self.packed)
            yield from function(batches)


def ship(topology: Topology, function: Callable[..., Batches], *arguments: Any) -> Shipment:
    """Pack a function of this package, and its first arguments.

    Raises:
        BackfillError: an argument cannot be carried to another process.
    """
    from pyspark import cloudpickle  # which carries what the main module defines

    try:
        packed: bytes = cloudpickle.dumps(partial(function, *arguments))  # type: ignore[no-untyped-call]
    except Exception as error:
        raise BackfillError(
            f"topology {topology.name!r} cannot be carried to Spark's executors: {error}; "
            "define its classes at the top level of a module, and give plain values as arguments"
        ) from error
    fallbacks = tuple(path for path in sys.path if path)
    return Shipment(packed, tuple(topology.import_paths), fallbacks, os.getcwd())


@contextmanager
def _importable(paths: Sequence[str], fallbacks: Sequence[str]) -> Iterator[None]:
    with importable(paths):  # which puts back what there was
        sys.path += [path for path in fallbacks if path not in sys.path]
        yield


@contextmanager
def _in_folder(folder: str) -> Iterator[None]:
    """Be in a folder, where there is such a one."""
    before = os.getcwd()
    with contextlib.suppress(OSError):
        os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _told(partition: int) -> Iterator[None]:
    """Turn errors into ones whose message the driver finds again."""
    try:
        yield
    except ComponentError as error:
        raise ShardError(f"in shard {partition}: {error}") from error


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context is not None else 0
