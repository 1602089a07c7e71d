"""How other processes command a run: they find it by a folder, and it answers there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from framework.checkpoints.control import Command, answering
from framework.errors import SuspendError
from framework.observing import RunSnapshot
from framework.runtime.checkpointing import Checkpointing
from framework.runtime.control.scaling import Scaling
from framework.runtime.control.stop import StopReason, StopSignal
from framework.runtime.metrics.saved import Written
from framework.runtime.metrics.stacks import Stacks, TellsStacks


@contextmanager
def commanded(
    stop: StopSignal,
    scaling: Scaling,
    checkpointing: Checkpointing | None,
    folder: Path | None,
    workers: Callable[[], TellsStacks | None],
    look: Callable[[], RunSnapshot],
) -> Iterator[None]:
    """For as long as the block runs, other processes may drain, suspend and scale the run, look at it, and
    ask where its tasks are; by the folder of its checkpoints as well as by the other one.

    Args:
        stop: drains the run.
        scaling: changes how many tasks its components have.
        checkpointing: of the run; None where it makes no checkpoints.
        folder: another folder by which it is found, whose lock it holds; None where there is none.
        workers: returns who knows its tasks, once they are there.
        look: makes a snapshot of the run.
    """

    def drain() -> Mapping[str, Any]:
        stop.request(StopReason.INTERRUPTED)
        return {}

    def scale(tasks: Mapping[str, int]) -> Mapping[str, Any]:
        return {"tasks": scaling.change(tasks), "now": scaling.now}

    def stacks() -> Mapping[str, Any]:
        known = workers()
        return asdict(known.stacks() if known is not None else Stacks(()))

    def saved(save: Callable[[Checkpointing], Written]) -> Mapping[str, Any]:
        if checkpointing is None:
            raise SuspendError("the run has no folder for checkpoints (viper run --checkpoints FOLDER)")
        return asdict(save(checkpointing))

    commands: Mapping[str, Command] = {
        "drain": drain,
        "suspend": lambda: saved(Checkpointing.suspend),
        "checkpoint": lambda: saved(Checkpointing.take),
        "scale": scale,
        "stacks": stacks,
        "look": lambda: look().as_object(),
    }
    with ExitStack() as stack:
        if checkpointing is not None:
            stack.enter_context(checkpointing.commanded(commands))
        if folder is not None:
            stack.enter_context(answering(folder, commands))
        yield
