"""``viper checkpoint``: have a run make a checkpoint while it continues."""

from __future__ import annotations

import click

from framework.cli.messages import note
from framework.cli.parameters import run_argument


@click.command()
@run_argument
def checkpoint(run: str) -> None:
    """Have RUN make a checkpoint, and continue.

    RUN is an id or the name of a topology, as viper ps shows them; or a folder by which the run is found
    (viper run --control, --checkpoints). Prints the path of the checkpoint when it is on the disk. Exit code
    1 if there is no such run, if it makes no checkpoints, or if a task has not reached the time of this one.
    Such a task is named, and the run continues.
    """
    from framework.runtime.coordination.commands import ask
    from framework.runtime.coordination.registry import control_of

    told = ask(control_of(run), "checkpoint")
    click.echo(told["path"])
    note(
        f"checkpoint {told['id']} was written in {told['elapsed_s']:.2f} s, {told['size']:,} bytes of state; "
        f"no task stood still for more than {told['paused_s']:.3f} s"
    )
