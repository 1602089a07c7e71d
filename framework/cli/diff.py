"""``viper diff``: the first tuple in which two recorded runs differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from framework.cli.exit_codes import ExitCode
from framework.cli.messages import note
from framework.common.prints import prints_to_stderr

if TYPE_CHECKING:
    from framework.recording import Recording

DIFFERENT = ExitCode.FAILED
"""The same code as that of diff(1)."""


@click.command()
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@click.option("--component", "components", multiple=True, help="Compare only what this component emits.")
@click.option("--stream", "streams", multiple=True, help="Compare only streams of this name.")
@click.option("--input", "with_input", is_flag=True, help="Compare also what the spouts emitted.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.pass_context
def diff(
    ctx: click.Context,
    a: str,
    b: str,
    components: Sequence[str],
    streams: Sequence[str],
    with_input: bool,
    as_json: bool,
) -> None:
    """Compare the recorded runs A and B, tuple by tuple.

    Prints the counts of every stream that bolts emitted in both, the first tuple that differs, and the
    tuples that it descends from. Exit code 0 if there is no difference, 1 if there is one. The recordings
    are trusted like programs.
    """
    from framework.cli.difference import Shown, as_object, lines
    from framework.model.importing import importable
    from framework.recording import Recording, RecordingError
    from framework.recording.comparing import check_comparable, compare, first_difference

    try:
        with prints_to_stderr(), ExitStack() as stack:  # recorded values are made by user code
            first, second = (stack.enter_context(Recording(path)) for path in (a, b))
            stack.enter_context(importable(first.header.import_paths + second.header.import_paths))
            check_comparable(first.header, second.header)
            chosen = _chosen(first, second, components, streams, with_input)
            _warn(first, second)
            found = [compare(first, second, *names) for names in chosen]
            difference = first_difference(found)
            shown = Shown(first, second, found, difference)
            text = json.dumps(as_object(shown), indent=2) if as_json else "\n".join(lines(shown))
    except RecordingError as error:
        raise click.UsageError(str(error)) from error
    click.echo(text)
    ctx.exit(ExitCode.OK if difference is None else DIFFERENT)


def _chosen(
    a: Recording, b: Recording, components: Sequence[str], streams: Sequence[str], with_input: bool
) -> list[tuple[str, str]]:
    """Component and stream of all that is to be compared.

    Raises:
        click.UsageError: there is nothing of that name in both, or nothing at all.
    """
    from framework.model.topology import Role, unknown

    common = [pair for pair in _streams(a) if pair in _streams(b)]
    for option, index, names in (("--component", 0, components), ("--stream", 1, streams)):
        for name in names:
            known = {pair[index] for pair in common}
            if name not in known:
                raise click.UsageError(f"{option}: {unknown(option[2:], name, known)}")
    spouts = {c.id for c in a.header.components if c.role is Role.SPOUT}
    chosen = [
        (component, stream)
        for component, stream in common
        if (component in components if components else with_input or component not in spouts)
        and (not streams or stream in streams)
    ]
    if not chosen:
        raise click.UsageError(f"there is no such stream in both {a.path} and {b.path}: nothing to compare")
    return chosen


def _streams(recording: Recording) -> list[tuple[str, str]]:
    return [(c.id, stream.name) for c in recording.header.components for stream in c.streams]


def _warn(a: Recording, b: Recording) -> None:
    """Say what makes a difference likely that is none of the topology's."""
    for side, recording in (("A", a), ("B", b)):
        if not recording.header.complete:
            note(f"{side} is not complete: {recording.header.reason}")
    ours, theirs = set(_streams(a)), set(_streams(b))
    for side, pairs in (("A", ours - theirs), ("B", theirs - ours)):
        for component, stream in sorted(pairs):
            note(f"only in {side}, not compared: {component}/{stream}")
