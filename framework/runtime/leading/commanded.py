"""The commands of other processes to a run: they find it by a folder, and it answers there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from framework.model.errors import SuspendError
from framework.runtime.coordination.commands import Command, answering
from framework.runtime.coordination.scaling import Asked, Scaling, counts_of
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.leading.checkpointing import Checkpointing
from framework.runtime.observation import RunDescription, RunSnapshot
from framework.runtime.observation.stacks import Stacks, TellsStacks
from framework.runtime.observation.statistics import RunStatistics, Written


class Shown(Protocol):
    """A run that can be looked at, from any thread."""

    def look(self) -> RunSnapshot:
        """The totals of now."""

    def describe(self) -> RunDescription:
        """The description of the run."""

    def statistics(self) -> RunStatistics:
        """Its channels, executors, state and checkpoints."""


@contextmanager
def commanded(
    stop: StopSignal,
    scaling: Scaling,
    checkpointing: Checkpointing | None,
    folder: Path | None,
    workers: Callable[[], TellsStacks | None],
    shown: Shown,
) -> Iterator[None]:
    """Let other processes command and inspect the run while the block runs.

    They may end, drain, suspend and scale it, read its figures, and ask for the stacks of its tasks. They
    find it by the folder of its checkpoints as well as by the other folder.

    Args:
        stop: drains the run.
        scaling: changes how many tasks its components have.
        checkpointing: of the run; None where it makes no checkpoints.
        folder: another folder by which it is found, whose lock it holds; None where there is none.
        workers: returns who knows its tasks, once they are there.
        shown: the run, to be looked at.
    """

    def asked(ask: Callable[[], None]) -> Mapping[str, Any]:
        ask()
        return {}

    def scale(tasks: Mapping[str, Asked]) -> Mapping[str, Any]:
        found = scaling.change(tasks)
        chosen = {name: some.indexes for name, some in found.items() if not some.is_first}
        return {"tasks": counts_of(found), "now": counts_of(scaling.now), "chosen": chosen}

    def stacks() -> Mapping[str, Any]:
        known = workers()
        return asdict(known.stacks() if known is not None else Stacks(()))

    def saved(save: Callable[[Checkpointing], Written]) -> Mapping[str, Any]:
        if checkpointing is None:
            raise SuspendError(
                "the run has no folder for checkpoints: start it with viper run --checkpoints FOLDER; "
                "viper stop without --checkpoint drains it"
            )
        return asdict(save(checkpointing))

    def end() -> Mapping[str, Any]:
        suspends = stop.suspends
        stop.request(StopReason.INTERRUPTED)
        return {"suspends": suspends}

    commands: Mapping[str, Command] = {
        "end": end,
        "drain": lambda: asked(stop.drain),
        "suspend": lambda: saved(Checkpointing.suspend),
        "checkpoint": lambda: saved(Checkpointing.take),
        "scale": scale,
        "stacks": stacks,
        "activate": lambda: asked(stop.activate),
        "deactivate": lambda: asked(stop.deactivate),
        "look": lambda: shown.look().as_object(),
        "describe": lambda: shown.describe().as_object(),
        "statistics": lambda: shown.statistics().as_object(),
    }
    with ExitStack() as stack:
        # What is entered last ends first: whoever waits for the last checkpoint hears of it, then answers.
        if folder is not None:
            stack.enter_context(answering(folder, commands))
        if checkpointing is not None:
            stack.enter_context(checkpointing.commanded(commands))
        yield
