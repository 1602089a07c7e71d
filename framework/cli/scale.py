"""``viper scale``: change which tasks components have during their run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from framework.cli.messages import note
from framework.cli.parameters import run_argument

Tasks = int | list[int]


def parse_tasks(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Mapping[str, Tasks]:
    """``component=tasks`` each, every component once."""
    found: dict[str, Tasks] = {}
    for value in values:
        name, _, told = value.rpartition("=")
        tasks = _tasks(told)
        if not name or tasks is None:
            raise click.BadParameter(f"{value!r}: expected COMPONENT=TASKS, as split=5 or split=@0,2")
        if found.setdefault(name, tasks) != tasks:
            raise click.BadParameter(f"{name!r} is scaled twice, to {_told(found[name])} and {told}")
    return found


def _tasks(told: str) -> Tasks | None:
    """``5`` for as many, ``@0,2`` for tasks by index."""
    if told.startswith("@"):
        indexes = told[1:].split(",")
        return [int(index) for index in indexes] if all(map(str.isdecimal, indexes)) else None
    return int(told) if told.isdecimal() else None


def _told(tasks: Tasks) -> str:
    return str(tasks) if isinstance(tasks, int) else f"@{','.join(map(str, tasks))}"


@click.command()
@run_argument
@click.argument("tasks", metavar="COMPONENT=TASKS...", nargs=-1, required=True, callback=parse_tasks)
def scale(run: str, tasks: Mapping[str, Tasks]) -> None:
    """Have components of RUN continue with more tasks, or fewer, or others.

    RUN is an id or the name of a topology, as viper ps shows them; or a folder by which the run is found
    (viper run --control, --checkpoints). TASKS is a number, or @ and the indexes of tasks, which viper plan
    shows with their workers: split=@1 has the second task of split get all its tuples. Nothing stops, and the
    output stays as it would have been. Tasks with state by key hand it over soon: the log of the run says
    when. Prints how many tasks each component has that can be scaled (viper.parallelism.max). Exit code 1 if
    there is no such run, 3 if one of the components cannot have such tasks; then all stay as they were.
    """
    from framework.api import scale as scale_run
    from framework.runtime.coordination.registry import control_of

    for name, count in sorted(scale_run(control_of(run), tasks).items()):
        asked = tasks.get(name)
        click.echo(f"{name}={_told(asked) if isinstance(asked, list) else count}")
    note(f"scaled {', '.join(tasks)}")
