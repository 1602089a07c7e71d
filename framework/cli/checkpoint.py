"""``viper checkpoint``: have a run that goes on make a checkpoint."""

from __future__ import annotations

from pathlib import Path

import click

from framework.cli.messages import note


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def checkpoint(folder: Path) -> None:
    """Make a checkpoint of the run that has its checkpoints in FOLDER; the run goes on.

    Prints its path when it is on the disk. Exit code 1 if there is no such run, or if a task has not come to
    the time of the checkpoint, which is named; the run goes on then, too.
    """
    from framework.checkpoints.control import ask

    told = ask(folder, "checkpoint")
    click.echo(told["path"])
    note(
        f"checkpoint {told['id']} was written in {told['elapsed_s']:.2f} s, {told['size']:,} bytes of state; "
        f"no task stood still for more than {told['paused_s']:.3f} s"
    )
