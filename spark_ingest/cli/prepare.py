"""``viper prepare``: a Spark job that makes a dataset of what Spark reads."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from framework.cli.messages import note
from spark_ingest.cli.options import (
    QUALITY,
    SESSION,
    SOURCE,
    STREAMS,
    in_words_of_the_command_line,
    with_options,
)
from spark_ingest.cli.progress import shown_progress
from spark_ingest.cli.sessions import spark_commands
from spark_ingest.datasets.formats import STORED_AS

_UNCHANGED = "as it was prepared before, as nothing has changed; --force prepares it again"


@click.command()
@with_options(SOURCE, STREAMS, QUALITY, SESSION)
@click.option(
    "-O",
    "--output",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    help="The dataset: a folder.",
)
@click.option(
    "--stored-as",
    type=click.Choice(tuple(STORED_AS)),
    default="parquet",
    show_default=True,
    help="Format of its files; Arrow files are larger, and read without decoding.",
)
@click.option("--force", is_flag=True, help="Prepare it again even if nothing has changed.")
@click.option("-q", "--quiet", is_flag=True, help="Neither progress nor summary.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest, which is JSON.")
@click.pass_context
def prepare(
    ctx: click.Context,
    /,
    files: Sequence[str],
    format: str | None,
    options: Mapping[str, str],
    schema: str | None,
    table: str | None,
    query: str | None,
    views: Mapping[str, str],
    function: str | None,
    folder: Path,
    quiet: bool,
    as_json: bool,
    **job: Any,
) -> None:
    """Prepare a dataset by a Spark job: streams sorted by event time, which spouts replay without Spark.

    It is made from FILES (paths, folders or patterns), or from a table, a query or a function. A dataset that
    was made of the same is left as it is. Ctrl-C stops the job, and leaves what was there before.
    """
    from spark_ingest.cli.summary import short_lines
    from spark_ingest.datasets.manifest import to_json
    from spark_ingest.job.source import Source
    from spark_ingest.preparing.prepare import prepare as prepared

    said = {name: value for name, value in job.items() if value not in (None, (), {})}
    begin_s = time.monotonic()
    with in_words_of_the_command_line(ctx.command):
        source = Source(
            files=tuple(files) or None,
            format=format,
            options=options,
            schema=schema,
            table=table,
            query=query,
            views=views,
            function=function,
        )
        with spark_commands(folder), shown_progress(quiet) as on_progress:
            made = prepared(source, folder, on_progress=on_progress, **said)
    if not quiet:
        how = _UNCHANGED if made.reused else f"prepared in {time.monotonic() - begin_s:.1f} s"
        note("\n".join([f"{folder}: {how}", *(f"  {line}" for line in short_lines(made))]))
    if as_json:
        click.echo(to_json(made.manifest), nl=False)
