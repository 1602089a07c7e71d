"""``viper stop``: end a run, or suspend it."""

from __future__ import annotations

import click

from framework.cli.messages import note
from framework.cli.parameters import run_argument


@click.command()
@run_argument
@click.option("--checkpoint", is_flag=True, help="Suspend it: write a checkpoint to go on from.")
@click.option("--drain", is_flag=True, help="Drain it, also if it was started with --resume.")
def stop(run: str, checkpoint: bool, drain: bool) -> None:
    """End RUN, as if its input were over, or suspend it.

    RUN is an id or the name of a topology, as viper ps shows them; or a folder by which the run is found
    (viper run --control, --checkpoints).

    Without --checkpoint it drains, as after Ctrl-C: that is the end of its input, and last ticks fire. With
    --checkpoint all its sources stop at one event time, everything before that is processed, and viper run
    --from resumes there. A run that was started with --resume is suspended without it, too, unless --drain is
    given. Exit code 1 if there is no such run, if it makes no checkpoints, or if it continues because a
    source has not reached that time.
    """
    from framework.runtime.coordination.commands import ask
    from framework.runtime.coordination.registry import control_of

    if checkpoint and drain:
        raise click.UsageError("--checkpoint suspends the run, and --drain ends its input: give one of them")
    folder = control_of(run)
    if not checkpoint:
        suspends = ask(folder, "drain" if drain else "end").get("suspends", False)
        why = "as it was started with --resume; viper stop --drain would end its input"
        note(f"suspending, {why}" if suspends else "draining")
        return
    told = ask(folder, "suspend")
    click.echo(told["path"])
    note(f"suspended with checkpoint {told['id']} in {told['elapsed_s']:.1f} s")
