"""``viper staged``: rows that sinks have taken and not yet applied."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import click

from framework.cli.messages import note
from framework.cli.table import table

_LONGEST = 100
"""Characters of a value that are shown in a table."""

_folder = click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def staged() -> None:
    """See rows that sinks have staged and not applied, and set them aside.

    A run that failed or was killed leaves them; the next one that writes to the same target applies them.
    Pickled values are loaded, so staged rows are trusted like a program.
    """


@staged.command("ls")
@click.argument("path", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_as_json
def list_stages(path: Path, as_json: bool) -> None:
    """List the folders with staged rows at PATH, and beside the targets there; by default here."""
    from framework.operators.sinks.staged_rows import StagedRows, stages_in, told_rows

    found = []
    for folder in stages_in(path):
        stage, (rows, damage) = StagedRows(folder), told_rows(folder)
        label = stage.label
        found.append(
            {
                "folder": str(folder),
                "topology": None if label is None else label.topology,
                "component": None if label is None else label.component,
                "task": None if label is None else label.index,
                "target": None if label is None else label.target,
                "rows": rows,
                "damage": "; ".join(filter(None, (stage.damage, damage))),
            }
        )
    if as_json:
        click.echo(json.dumps(found, indent=2))
    elif found:
        click.echo("\n".join(table(tuple(found[0]), [tuple(one.values()) for one in found])))
    else:
        note(f"no rows are staged in {path}")


@staged.command()
@_folder
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Most rows shown.")
@_as_json
def show(folder: Path, limit: int, as_json: bool) -> None:
    """Show the rows in FOLDER, by their numbers."""
    from framework.model.errors import SinkError
    from framework.operators.sinks.staged_rows import StagedRows

    rows = StagedRows(folder)
    shown: list[tuple[int, Any]] = []
    damage: SinkError | None = None
    try:
        for numbered in itertools.islice(enumerate(rows.rows(), 1), limit + 1):
            shown.append(numbered)
    except SinkError as error:  # the rows before it are shown all the same
        damage = error
    if as_json:
        click.echo("\n".join(rows.line(row) for _, row in shown[:limit]))
    else:
        cells = [(number, *map(_shortened, row)) for number, row in shown[:limit]]
        width = max((len(row) for row in cells), default=1) - 1
        names = rows.names if len(rows.names) == width else [f"value {nth}" for nth in range(1, width + 1)]
        click.echo("\n".join(table(("row", *names), cells)))
    if len(shown) > limit:
        note(f"there are more than {limit} rows: see --limit, or viper staged aside")
    if rows.damage:
        note(rows.damage)
    if damage is not None:
        raise damage


@staged.command()
@_folder
@click.option("-O", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--row", "numbers", type=click.IntRange(min=1), multiple=True, help="Only this row; repeatable."
)
def aside(folder: Path, output: Path, numbers: tuple[int, ...]) -> None:
    """Write rows in FOLDER to a new file, as JSON lines, and take them out of the folder.

    The next run applies the others.
    """
    from framework.operators.sinks.staged_rows import StagedRows

    rows = StagedRows(folder)
    if output.exists():
        raise click.UsageError(f"{output} is there already: name a file that is not")
    with output.open("x", encoding="utf-8") as file:
        try:
            done = rows.set_aside(frozenset(numbers), file)
        except BaseException:
            output.unlink()
            raise
    note(f"{done.rows:,} rows of {rows.target} are in {output} now, and no longer in {folder}")
    if rows.damage and numbers:
        note(f"the label of {folder} is damaged: the rows that are left are applied by nobody")
    for path in done.damaged:
        note(f"{path} was damaged: the rows that could be read are in {output}")


def _shortened(value: Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
