"""``viper state``: what checkpoints hold."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framework.cli.exit_codes import ExitCode
from framework.cli.json_text import json_text
from framework.cli.messages import note
from framework.cli.table import table

if TYPE_CHECKING:
    from framework.runtime.durability.checkpoints import Checkpoint
    from framework.runtime.durability.checkpoints.states import SavedState

DIFFERENT = ExitCode.FAILED
"""The same code as that of diff(1)."""
_LONGEST = 100
"""Characters of a value that are shown in a table."""

_path = click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
_named = click.argument("name", metavar="COMPONENT.STATE")
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def state() -> None:
    """Look at what checkpoints hold.

    PATH is a checkpoint, or a folder of checkpoints, of which it is the last. Values that were pickled are
    loaded, so a checkpoint is trusted like a program.
    """


@state.command("ls")
@_path
@_as_json
def list_states(path: Path, as_json: bool) -> None:
    """List the checkpoints in a folder, and the states in the last one; or those in one checkpoint."""
    from framework.runtime.durability.checkpoints import CheckpointFolder, folder_of, found_at

    found = found_at(path)
    folder = CheckpointFolder(path)
    kept = [folder.open(number) for number in folder.ids] if folder_of(path) == path else [found]
    if as_json:
        told = {"checkpoints": [_about(one) for one in kept], "states": list(map(_as_object, _states(found)))}
        click.echo(json.dumps(told, indent=2))
        return
    header = ("checkpoint", "topology", "taken at", "keys", "bytes")
    click.echo("\n".join(table(header, [tuple(_about(one).values()) for one in kept])))
    rows = [(s.name, s.kind, s.types, s.keys, _size(found, s)) for s in _states(found)]
    if rows:
        click.echo("\n" + "\n".join(table(("state", "kind", "type", "keys", "bytes"), rows)))


@state.command()
@_path
@_named
@click.option("--key", help="Only this key, as JSON or text.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Most keys shown.")
@_as_json
def show(path: Path, name: str, key: str | None, limit: int, as_json: bool) -> None:
    """Show the keys of a state with their values."""
    from framework.runtime.durability.checkpoints import found_at

    rows = _rows(found_at(path), name)
    chosen = rows if key is None else (row for row in rows if key in (_json(row[0]), str(row[0])))
    shown = list(itertools.islice(chosen, limit + 1))
    if as_json:
        click.echo(json_text([_row(*row) for row in shown[:limit]], default=repr))
    else:
        cells = [(_shortened(_json(k)), _shortened(_json(value))) for k, value in shown[:limit]]
        click.echo("\n".join(table(("key", "value"), cells)))
    if len(shown) > limit:
        note(f"there are more than {limit} keys: see --limit, or viper state export")


@state.command()
@_path
@_named
@click.option("-O", "--output", type=click.File("w"), default="-", help="The file to write; stdout for -.")
def export(path: Path, name: str, output: Any) -> None:
    """Write a state as JSON lines, each with a key and its value, in the order of the checkpoint."""
    from framework.runtime.durability.checkpoints import found_at

    for row in _rows(found_at(path), name):
        output.write(json_text(_row(*row), default=repr) + "\n")


@state.command()
@click.argument("a", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("b", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_as_json
@click.pass_context
def diff(ctx: click.Context, a: Path, b: Path, as_json: bool) -> None:
    """Compare the states of two checkpoints: which keys were added, dropped, or have other values.

    Exit code 0 if there is no difference, 1 if there is one.
    """
    from framework.runtime.durability.checkpoints import found_at

    compared = list(_compared(found_at(a), found_at(b)))
    if as_json:
        click.echo(json.dumps(compared, indent=2, default=repr))
    else:
        header = ("state", "equal", "changed", "only in A", "only in B", "first difference")
        click.echo("\n".join(table(header, [tuple(_cells(one)) for one in compared])))
    same = all(one["first"] is None for one in compared)
    ctx.exit(ExitCode.OK if same else DIFFERENT)


def _compared(a: Checkpoint, b: Checkpoint) -> Iterator[dict[str, Any]]:
    names = dict.fromkeys(state.name for checkpoint in (a, b) for state in _states(checkpoint))
    for name in names:
        ours, theirs = (dict(_by_key(checkpoint, name)) for checkpoint in (a, b))
        both = [key for key in ours if key in theirs]
        changed = [key for key in both if ours[key] != theirs[key]]
        only_a, only_b = (
            [key for key in one if key not in other] for one, other in ((ours, theirs), (theirs, ours))
        )
        first = next(iter((*changed, *only_a, *only_b)), None)
        yield {
            "state": name,
            "equal": len(both) - len(changed),
            "changed": len(changed),
            "only_a": len(only_a),
            "only_b": len(only_b),
            "first": None
            if first is None
            else {"key": first, "a": _plain(ours.get(first)), "b": _plain(theirs.get(first))},
        }


def _by_key(checkpoint: Checkpoint, name: str) -> Iterator[tuple[str, str]]:
    """Yield the content of a state, as text, by key as text; nothing if the checkpoint has no such state."""
    if any(state.name == name for state in _states(checkpoint)):
        yield from ((_json(key), _json(value)) for key, value in _rows(checkpoint, name))


def _plain(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _cells(one: Mapping[str, Any]) -> Iterator[object]:
    *counts, first = one.values()
    yield from counts
    yield "" if first is None else _shortened(f"{first['key']}: {_json(first['a'])} / {_json(first['b'])}")


def _rows(checkpoint: Checkpoint, name: str) -> Iterator[tuple[Any, Any]]:
    """The keys and values of a state.

    Raises:
        click.UsageError: there is none of that name.
    """
    from framework.model.topology import unknown
    from framework.runtime.durability.checkpoints.states import rows_of

    for found in _states(checkpoint):
        if found.name == name:
            return rows_of(checkpoint, found)
    raise click.UsageError(unknown("state", name, [found.name for found in _states(checkpoint)]))


def _states(checkpoint: Checkpoint) -> list[SavedState]:
    from framework.runtime.durability.checkpoints.states import states_in

    return states_in(checkpoint.content["states"])


def _about(checkpoint: Checkpoint) -> dict[str, Any]:
    content = checkpoint.content
    return {
        "checkpoint": checkpoint.id,
        "topology": content["topology"],
        "taken_at": content["taken_at"],
        "keys": sum(state.keys for state in _states(checkpoint)),
        "bytes": checkpoint.size,
    }


def _as_object(state: SavedState) -> dict[str, Any]:
    told = {"kind": state.kind, "types": state.types, "per": state.per, "keys": state.keys}
    return {"state": state.name, **told}


def _size(checkpoint: Checkpoint, state: SavedState) -> int:
    return sum(checkpoint.parts[part][0] for part in state.parts)


def _row(key: Any, value: Any) -> dict[str, Any]:
    return {"key": key, "value": value}


def _json(value: Any) -> str:
    return json_text(value, default=repr)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
