"""How other processes command a run: they find it by a folder, and it answers there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from framework.checkpoints.control import Command, answering
from framework.runtime.checkpointing import Checkpointing
from framework.runtime.control.scaling import Scaling
from framework.runtime.control.stop import StopReason, StopSignal
from framework.runtime.metrics.stacks import Stacks, TellsStacks


@contextmanager
def commanded(
    stop: StopSignal,
    scaling: Scaling,
    checkpointing: Checkpointing | None,
    folder: Path | None,
    workers: Callable[[], TellsStacks | None],
) -> Iterator[None]:
    """For as long as the block runs, other processes may drain and scale the run, ask where its tasks are,
    and suspend it by the folder of its checkpoints.

    Args:
        stop: drains the run.
        scaling: changes how many tasks its components have.
        checkpointing: of the run; None where it makes no checkpoints.
        folder: another folder by which it is found, whose lock it holds; None where there is none.
        workers: returns who knows its tasks, once they are there.
    """

    def drain() -> Mapping[str, Any]:
        stop.request(StopReason.INTERRUPTED)
        return {}

    def scale(tasks: Mapping[str, int]) -> Mapping[str, Any]:
        return {"tasks": scaling.change(tasks), "now": scaling.now}

    def stacks() -> Mapping[str, Any]:
        known = workers()
        return asdict(known.stacks() if known is not None else Stacks(()))

    commands: Mapping[str, Command] = {"drain": drain, "scale": scale, "stacks": stacks}
    with ExitStack() as stack:
        if checkpointing is not None:
            stack.enter_context(checkpointing.commanded(commands))
        if folder is not None:
            stack.enter_context(answering(folder, commands))
        yield
