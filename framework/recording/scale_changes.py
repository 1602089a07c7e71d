"""Changes of the tasks of a bolt, as a recording keeps them beside the tuples of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from framework.model.errors import RecordingError

SCALE_CHANGES = "scaling.jsonl"
"""The member with a line of JSON for each change; a recording of a run without any has none."""


@dataclass(frozen=True, slots=True)
class ScaleChange:
    """A bolt has gone on with other tasks."""

    component: str
    before: int
    tasks: int
    at_s: float
    """Seconds since the spouts were activated; 0 before."""
    received: int
    """Tuples that its producers had emitted to it. Another run makes the change when it has come as far."""
    by: str
    """Who has asked for it: ``viper scale``, or the controller, and what that was told."""
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
