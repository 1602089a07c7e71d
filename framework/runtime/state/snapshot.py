"""What one task remembers at the cut of a checkpoint, on its way into the checkpoint's folder.

The task takes it where it has processed all that belongs to the checkpoint, and goes on at once. It writes
the parts itself, in short pieces between its slices; whoever leads the run makes them last.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from framework.checkpoints.states import SavedState, parts_of
from framework.runtime.metrics.saved import Saved
from framework.state import StateSpec
from viper.state import KeyedTable

_PIECE_BYTES: Final = 1 << 18
"""So many are written at once: in some 0.3 ms, checksum included."""


@dataclass(frozen=True, slots=True)
class OwnState:
    """A state as the task that owns its keys, or some of them, sees it."""

    spec: StateSpec
    tables: Sequence[KeyedTable]
    component: str
    task: int
    """Id of the task."""
    index: int | None
    """Of the task within its component where the state is that of a task; None for state by key."""
    groups: range
    """The key groups that the task owns."""


class Snapshot:
    """All states of one task as they are now.

    The process may not have committed everything that the snapshot has, where it lies amid a slice: whoever
    dies then has its checkpoint given up, and another process takes the next snapshot in full.

    Args:
        folder: where the parts are written; it exists.
        states: of the task, in the order of their declaration.
    """

    def __init__(self, folder: Path, states: Sequence[OwnState]) -> None:
        self._folder = folder
        self._states: list[SavedState] = []
        self._parts: dict[str, tuple[int, int]] = {}
        self._pieces = self._write_all(list(parts_of_tasks(states, self._states)))

    def write(self, budget_s: float) -> bool:
        """Write for about so many seconds; whether all is written.

        Raises:
            OSError: a part cannot be written, as the folder is gone for instance.
        """
        until_s = time.monotonic() + budget_s
        return all(time.monotonic() < until_s for _ in self._pieces)

    def _write_all(self, parts: Iterable[tuple[str, bytes]]) -> Iterator[None]:
        for name, part in parts:
            checksum = 0
            with open(self._folder / name, "xb") as file:
                for first in range(0, len(part), _PIECE_BYTES):
                    yield
                    piece = memoryview(part)[first : first + _PIECE_BYTES]
                    checksum = zlib.crc32(piece, checksum)
                    file.write(piece)
            self._parts[name] = len(part), checksum

    @property
    def saved(self) -> Saved:
        """What the manifest says of it, once all is written."""
        return Saved(self._states, dict(self._parts))

    def discard(self) -> None:
        """The checkpoint was given up: nothing refers to this snapshot any more."""
        self._pieces = iter(())


def parts_of_tasks(states: Iterable[OwnState], saved: list[SavedState]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the parts that hold states, which are entered in `saved` one after the other."""
    numbers: Counter[int] = Counter()
    for own in states:
        found = _described(own)
        yield from parts_of(found, own.tables, partial(_part_name, own.task, numbers[own.task]), own.groups)
        numbers[own.task] += len(found.parts)
        saved.append(found)


def _described(own: OwnState) -> SavedState:
    """What is to be said of a state, whose parts are still to be entered."""
    spec = own.spec
    return SavedState(
        component=own.component,
        state=spec.name,
        kind=spec.kind,
        types=spec.types,
        per=spec.per,
        codes=list(spec.codes),
        index=own.index,
        groups=own.tables[0].groups,
        keys=sum(own.tables[0].count(group) for group in own.groups),
        parts=[],
    )


def _part_name(task: int, first: int, number: int) -> str:
    """The name of a part of a task; those of different tasks lie in the same folder."""
    return f"state-{task:04}-{first + number:04}.part"
