"""The timeline of a recording, kept beside its tuples: ticks of the wall clock, and changes of tasks."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from framework.model.errors import RecordingError
from viper.position import Position


class TickKind(enum.StrEnum):
    """The kinds of things that can be due."""

    TICK = "tick"
    """A tick tuple (``topology.tick.tuple.freq.secs``)."""
    BATCH = "batch"
    """The batches of a batching component (its ``secs_between_batches``)."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Something that was due, and where in the order of its task's input it happened."""

    at: Position
    """The position of its outputs: the task's frontier, or its last input where that is later."""
    passed: bool
    """True if an input at that very position had been processed already."""
    kind: TickKind = TickKind.TICK

    def is_before(self, input_at: Position) -> bool:
        """True if it comes before the input at a position."""
        return input_at > self.at or (input_at == self.at and not self.passed)


class ReplayTicks:
    """Hands out the recorded ticks of one task as its input advances."""

    def __init__(self, ticks: Iterable[Tick]) -> None:
        self._coming = iter(ticks)
        self._next = next(self._coming, None)

    @property
    def next(self) -> Tick | None:
        """The tick that comes next; None if there are no more."""
        return self._next

    def due(self, input_at: Position) -> Iterator[Tick]:
        """The ticks that come before the input at a position, or before a frontier there.

        All ticks that are left come before `viper.position.END`.
        """
        while self._next is not None and self._next.is_before(input_at):
            due, self._next = self._next, next(self._coming, None)
            yield due


SCALE_CHANGES = "scaling.jsonl"
"""The member with a line of JSON for each change; a recording of a run without any has none."""


@dataclass(frozen=True, slots=True)
class ScaleChange:
    """A change of a bolt's tasks during a run."""

    component: str
    before: int
    tasks: int
    at_s: float
    """Seconds since the spouts were activated; 0 before."""
    received: int
    """Tuples that its producers had emitted to it. Another run makes the change when it has come as far."""
    by: str
    """The author of the change: ``viper scale``, or the controller, with the measurements that it got."""
    chosen: Sequence[int] | None = None
    """The indexes of the tasks; None where they are the first so many."""

    @property
    def told(self) -> str:
        """The tasks, for people: how many, and which if they are not the first ones."""
        if self.chosen is None:
            return str(self.tasks)
        return f"{self.tasks} (@{','.join(map(str, self.chosen))})"


def append_change(folder: Path, change: ScaleChange) -> None:
    """Write a change down, in the folder that the tasks of the run record to.

    Raises:
        OSError: it cannot be written.
    """
    with (folder / SCALE_CHANGES).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(change), ensure_ascii=False) + "\n")


def changes_in(text: bytes, where: str) -> list[ScaleChange]:
    """The changes that the member holds, in their order; without the last line, if that is not whole.

    Args:
        text: of the member.
        where: the recording, for messages.

    Raises:
        RecordingError: a line is none of `append_change`.
    """
    *lines, _ = text.split(b"\n")
    try:
        return [ScaleChange(**json.loads(line)) for line in lines]
    except (TypeError, ValueError) as error:
        raise RecordingError(f"{where}: its {SCALE_CHANGES} is damaged: {error}; record again") from error
