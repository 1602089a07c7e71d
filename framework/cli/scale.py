"""``viper scale``: change how many tasks components have while their run goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from framework.cli.messages import note


def parse_counts(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Mapping[str, int]:
    """``component=tasks`` each, every component once."""
    counts: dict[str, int] = {}
    for value in values:
        name, equals, number = value.rpartition("=")
        if not (name and equals and number.isdecimal()):
            raise click.BadParameter(f"{value!r}: expected COMPONENT=TASKS, as split=5")
        if counts.setdefault(name, int(number)) != int(number):
            raise click.BadParameter(f"{name!r} is scaled twice, to {counts[name]} and {number}")
    return counts


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("counts", metavar="COMPONENT=TASKS...", nargs=-1, required=True, callback=parse_counts)
def scale(folder: Path, counts: Mapping[str, int]) -> None:
    """Have components of the run that is reached by FOLDER go on with another number of tasks.

    FOLDER is that of viper run --checkpoints or --control. Nothing stops, and the output stays as it would
    have been. Tasks with state by key hand it over soon: the log of the run says when. Prints how many tasks each component has that can be scaled (viper.parallelism.max). Exit code
    1 if there is no such run, 3 if one of the components cannot have so many; then all stay as they were.
    """
    from framework.running import scale as scale_run

    for name, tasks in sorted(scale_run(folder, counts).items()):
        click.echo(f"{name}={tasks}")
    note(f"scaled {', '.join(counts)}")
