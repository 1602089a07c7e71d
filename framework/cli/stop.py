"""``viper stop``: end a run that has a folder for checkpoints."""

from __future__ import annotations

from pathlib import Path

import click

from framework.cli.messages import note


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--checkpoint", is_flag=True, help="Suspend it: write a checkpoint to go on from.")
def stop(folder: Path, checkpoint: bool) -> None:
    """End the run that has its checkpoints in FOLDER (viper run --checkpoints).

    Without --checkpoint it drains, as after Ctrl-C: that is the end of its input, and last ticks fire. With
    --checkpoint all its sources stop at one event time, everything before that is processed, and viper run
    --from FOLDER goes on there. Exit code 1 if there is no such run, or it goes on because a source has not
    come to that time.
    """
    from framework.checkpoints.control import ask

    if not checkpoint:
        ask(folder, "drain")
        note("draining")
        return
    told = ask(folder, "suspend")
    click.echo(told["path"])
    note(f"suspended with checkpoint {told['id']} in {told['elapsed_s']:.1f} s")
