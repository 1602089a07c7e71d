"""``viper ps``: the runs on this machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime

import click

from framework.cli.table import table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects instead.")
def ps(as_json: bool) -> None:
    """List the current runs of this user, the earliest first.

    The id is the process id of viper run; it names the run for viper top.
    """
    from framework.runtime.coordination.registry import known_runs

    runs = known_runs()
    if as_json:
        click.echo(json.dumps([asdict(run) for run in runs], indent=2))
        return
    rows = [
        (str(run.pid), run.topology, f"{datetime.fromtimestamp(run.started_s):%Y-%m-%d %H:%M:%S}", run.folder)
        for run in runs
    ]
    click.echo("\n".join(table(("id", "topology", "since", "folder"), rows)))
