"""``viper scale``: change how many tasks components have while their run goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from framework.cli.messages import note
from framework.cli.parameters import run_argument


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
@run_argument
@click.argument("counts", metavar="COMPONENT=TASKS...", nargs=-1, required=True, callback=parse_counts)
def scale(run: str, counts: Mapping[str, int]) -> None:
    """Have components of RUN go on with more tasks, or fewer.

    RUN is an id or the name of a topology, as viper ps shows them; or a folder by which the run is found
    (viper run --control, --checkpoints). Nothing stops, and the output stays as it would have been. Tasks
    with state by key hand it over soon: the log of the run says when. Prints how many tasks each component
    has that can be scaled (viper.parallelism.max). Exit code 1 if there is no such run, 3 if one of the
    components cannot have so many; then all stay as they were.
    """
    from framework.registry import control_of
    from framework.running import scale as scale_run

    for name, tasks in sorted(scale_run(control_of(run), counts).items()):
        click.echo(f"{name}={tasks}")
    note(f"scaled {', '.join(counts)}")
