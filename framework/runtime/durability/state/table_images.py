"""Shared tables on their way into a checkpoint, and out of it into another run.

A task that keeps the tables of its group copies them when all transactions before the cut of a checkpoint
have been evaluated. All others of the group wait for it at that time. It writes the copy in short pieces
between its slices, as it writes its own state.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from framework.model.tables import SharedTable
from framework.runtime.durability.checkpoints import Checkpoint
from framework.runtime.durability.checkpoints.manifest import Manifest
from framework.runtime.durability.checkpoints.states import Saved
from viper.transactions.images import lines_of, rows_in
from viper.transactions.tables import Table


class TableImages:
    """The tables of a group as they are now.

    Args:
        number: the id of the checkpoint.
        folder: where the parts are written; it exists.
        tables: of the group, where nobody evaluates before this has returned.
        task: id of the task that writes them.
    """

    def __init__(self, number: int, folder: Path, tables: Sequence[Table], task: int) -> None:
        self._folder = folder
        self._parts: dict[str, tuple[int, int]] = {}
        self._names = {
            table.spec.table_name: _part_of(number, task, index) for index, table in enumerate(tables)
        }
        self._pieces = self._write_all([table.copied() for table in tables])

    def write(self, budget_s: float) -> bool:
        """Write for about so many seconds; whether all is written.

        Raises:
            OSError: a part cannot be written, as the folder is gone for instance.
        """
        until_s = time.monotonic() + budget_s
        return all(time.monotonic() < until_s for _ in self._pieces)

    @property
    def saved(self) -> Saved:
        """The manifest's entry for them, once all is written."""
        return Saved(parts=dict(self._parts), tables=dict(self._names))

    def discard(self) -> None:
        """Discard the images, as the checkpoint was given up."""
        self._pieces.close()

    def _write_all(self, copies: Sequence[Table]) -> Generator[None, None, None]:
        for copy in copies:
            name = self._names[copy.spec.table_name]
            with open(self._folder / name, "xb") as file:
                length = checksum = 0
                for lines in lines_of(copy):
                    file.write(lines)
                    length, checksum = length + len(lines), zlib.crc32(lines, checksum)
                    yield
            self._parts[name] = length, checksum


def images_at_end(tables: Iterable[Table], task: int) -> Iterator[tuple[str, str, bytes]]:
    """Of tables that nobody changes any more, the name, the name of a part, and what that holds."""
    for index, table in enumerate(tables):
        yield table.spec.table_name, _part_of(0, task, index), b"".join(lines_of(table))


def tables_in(checkpoint: Checkpoint | None) -> Mapping[str, memoryview]:
    """Return the images of shared tables in a checkpoint, by table; empty for a topology without any.

    Raises:
        CheckpointError: a part is damaged.
    """
    if checkpoint is None:
        return {}
    names = Manifest.read(checkpoint.content).tables
    return {table: checkpoint.part(part) for table, part in names.items()}


def restore(table: SharedTable, memory: Table, image: memoryview) -> None:
    """Fill a table with what a checkpoint has of it; errors as `viper.transactions.tables.Table.put`."""
    memory.load(rows_in(table, bytes(image)))


def _part_of(number: int, task: int, index: int) -> str:
    return f"table-{number:06}-{task:04}-{index:02}.part"
