"""``viper backfill``: a topology over a whole history, inside Spark's executors."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framework.cli.choices import Choices, with_choices
from framework.cli.messages import counted, note
from framework.cli.parameters import target_argument
from framework.common.prints import prints_to_stderr
from spark_ingest.cli.options import SESSION, parse_pairs, with_options
from spark_ingest.cli.progress import shown_progress
from spark_ingest.cli.sessions import spark_commands

if TYPE_CHECKING:
    from framework.model.config import Settings
    from framework.model.topology import Topology


@click.command()
@target_argument
@with_choices
@click.option(
    "--stream",
    "streams",
    multiple=True,
    required=True,
    metavar="COMPONENT[/STREAM]",
    help="A stream that is wanted; repeatable. What none of them comes from, e.g. a sink, is not run.",
)
@click.option(
    "--schema",
    "schemas",
    multiple=True,
    metavar="COMPONENT[/STREAM]=COLUMNS",
    callback=parse_pairs,
    help="Types of a stream's fields, e.g. 'late=carrier string, delay int'.  [default: what a sample shows]",
)
@click.option(
    "--shards",
    type=click.IntRange(min=1),
    help="Into how many the keys of each bolt are divided.  [default: Spark's cores]",
)
@with_options(SESSION)
@click.option("-O", "--output", "folder", required=True, help="A new folder, with one for each stream in it.")
@click.option("--force", is_flag=True, help="Replace a backfill that is there.")
@click.option("-q", "--quiet", is_flag=True, help="Neither progress nor summary.")
@click.option("--json", "as_json", is_flag=True, help="Print the number of rows of each stream as JSON.")
def backfill(
    target: str | None,
    choices: Choices,
    streams: Sequence[str],
    folder: str,
    quiet: bool,
    as_json: bool,
    **others: Any,
) -> None:
    """Run TARGET over the whole history of its spouts inside Spark's executors.

    The tuples of its bolts are written to Parquet files: the rows of `viper run`, order within a key
    included. All state must be by key: a topology that cannot be divided by keys is refused. Ctrl-C stops the
    job and leaves nothing.
    """
    from framework.cli.opening import accepted, chosen, open_target
    from spark_ingest.backfill.storing import backfill_to
    from spark_ingest.engine.progress import Progress

    target, choices = chosen(target, choices)
    with prints_to_stderr():
        topology = _configured(accepted(open_target(target, choices), to_run=True), choices)
    given = {name: value for name, value in others.items() if value not in (None, {})}
    begin_s = time.monotonic()
    with spark_commands(folder), shown_progress(quiet) as on_progress:
        if on_progress is not None:
            on_progress(Progress("starting"))
        rows = backfill_to(
            topology,
            folder,
            streams,
            settings=_above_the_topology(choices),
            environment=choices.environment,
            on_progress=on_progress,
            **given,
        )
    if not quiet:
        note(f"{folder}: {counted(len(rows), 'stream')} in {time.monotonic() - begin_s:.1f} s")
        note("\n".join(f"  {name}: {count:,} rows" for name, count in rows.items()))
    if as_json:
        click.echo(json.dumps(dict(rows), indent=2))


def _configured(topology: Topology, choices: Choices) -> Topology:
    """The topology with what lies below its own configuration as a part of it: files."""
    from framework.model.config import project_files, resolve

    below, _ = resolve(None, files=project_files(Path.cwd(), choices.files))
    return replace(topology, config={**_said(below), **topology.config})


def _above_the_topology(choices: Choices) -> Mapping[str, Any]:
    """Read the configuration of the environment's variables and the command line."""
    from framework.model.config import resolve

    above, _ = resolve(None, options=choices.options, environ=os.environ)
    return _said(above)


def _said(settings: Settings) -> dict[str, Any]:
    """The settings that differ from the defaults."""
    from framework.model.config import resolve

    defaults, _ = resolve(None)
    return {key: settings[key] for key in settings if settings.entries[key] != defaults.entries.get(key)}
