"""``viper stacks``: where the tasks of a run are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from framework.cli.messages import note
from framework.cli.parameters import run_argument


@click.command()
@run_argument
@click.option("--json", "as_json", is_flag=True, help="Print the stacks as JSON.")
def stacks(run: str, as_json: bool) -> None:
    """Show where the tasks of RUN are.

    RUN is an id or the name of a topology, as viper ps shows them; or a folder by which the run is found
    (viper run --control, --checkpoints). For each task that is in a callback, its frames follow from your
    own first one on, so that the last line is what it waits for. The others follow with what they wait for.
    The run continues. Exit code 1 if there is no such run.
    """
    from framework.api import stacks as stacks_of
    from framework.runtime.coordination.registry import control_of

    found = stacks_of(control_of(run))
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    for line in _lines(found):
        click.echo(line)
    for process in found["silent"]:
        note(
            f"process {process} has not answered: a library that it calls keeps Python's lock; "
            f"gdb -p {process} shows where"
        )


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    if not any(found[kind] for kind in ("tasks", "others", "silent")):
        yield "the tasks are not made yet: the run is starting, or goes back to a checkpoint; ask again"
    for task in found["tasks"]:
        yield f"{task['task']}, process {task['process']}, in {task['callback']}"
        yield from task["stack"].splitlines()
    for task in found["others"]:
        yield f"{task['task']}, process {task['process']}, in no callback: it {task['doing']}"
