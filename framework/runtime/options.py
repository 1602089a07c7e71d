"""All options of a run beside its plan and its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from framework.model.errors import CheckpointError
from framework.runtime.durability.checkpoints import folder_of
from framework.runtime.durability.checkpoints.folder import MANIFEST
from framework.runtime.durability.checkpoints.last_run import reason_against_resuming


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """All options of a run beside its plan and its configuration, which ``viper run`` calls options."""

    duration_s: float | None = None
    """Seconds after which it drains; None runs until the spouts have ended."""
    max_tuples: int | None = None
    """Tuples after which all spouts stop, or a little later where one emits several at once."""
    record: Path | None = None
    """A file to write down everything in that was emitted."""
    replay: Path | None = None
    """Such a file, to be the input instead of the spouts."""
    inactive: bool = False
    """True to leave the spouts alone until `Run.activate`."""
    start: Path | None = None
    """The report of another run, as ``viper run --report`` writes it: its spouts, which must be partitioned,
    resume where they had stopped there.

    Or a checkpoint, or a folder of checkpoints, of which it is the last: then bolts resume as well.
    """
    checkpoints: Path | None = None
    """The folder for the checkpoints of this run; None for that of `start`, if that is one."""
    control: Path | None = None
    """A folder by which other processes find the run to drain or scale it (``viper stop``, ``viper scale``);
    that of its checkpoints does as well."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """New names by old ones, of components and of states (``component.state``) in the checkpoint `start`."""
    resume: bool = False
    """True to resume the last run in the folder `checkpoints`: from its last checkpoint, or from its
    beginning if it has written none.

    One that has come to its end leaves nothing to run. A request that drains other runs before their input
    has ended suspends this one.
    """

    def checked(self) -> Self:
        """The same, with the folder of `start` for checkpoints if no other is given.

        Raises:
            CheckpointError: they contradict each other.
        """
        against = None
        if self.resume:
            against = reason_against_resuming(self.checkpoints, self.start, self.rename, self.max_tuples)
        if against is not None:
            raise CheckpointError(against)
        if self.checkpoints is not None and (self.checkpoints / MANIFEST).exists():
            raise CheckpointError(
                f"{self.checkpoints} is a checkpoint: expected the folder that holds it, "
                f"{folder_of(self.checkpoints)} (--checkpoints)"
            )
        starts_there = self.start is not None and self.start.is_dir()
        if self.rename and not starts_there:
            raise CheckpointError(
                f"{', '.join(self.rename)} cannot be renamed: only what a checkpoint holds has another name "
                "(--from CHECKPOINT --rename old=new)"
            )
        if self.checkpoints is None and self.start is not None and starts_there:
            return replace(self, checkpoints=folder_of(self.start))
        return self
