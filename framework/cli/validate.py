"""``viper validate``: everything that is wrong, without running anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framework.cli.choices import Choices, with_choices
from framework.cli.exit_codes import ExitCode
from framework.cli.messages import counted, note, problem_lines
from framework.cli.opening import Opened, chosen, open_target, topologies_here
from framework.cli.parameters import complete_target, parse_names
from framework.common.prints import prints_to_stderr

if TYPE_CHECKING:
    from framework.model.topology import Problem


@click.command()
@click.argument("targets", nargs=-1, shell_complete=complete_target)
@with_choices
@click.option(
    "--strict", is_flag=True, help="Refuse what may break the order guarantee (viper.order: strict)."
)
@click.option(
    "--checkpoints",
    is_flag=False,
    flag_value="",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Find also what a run with checkpoints would refuse. The folder is not touched.",
)
@click.option(
    "--from",
    "start",
    type=click.Path(exists=True, path_type=Path),
    metavar="CHECKPOINT",
    help="Find also what a run would refuse that goes on from there; as of viper run.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="OLD=NEW",
    callback=parse_names,
    help="With --from: as of viper run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON.")
@click.pass_context
def validate(
    ctx: click.Context,
    targets: tuple[str, ...],
    choices: Choices,
    strict: bool,
    checkpoints: Path | None,
    start: Path | None,
    rename: Mapping[str, str],
    as_json: bool,
) -> None:
    """Find everything that is wrong with TARGETS; without any, with all topologies in topologies/.

    Each problem is a line `file:line: message` on stdout. Exit code 3 if there is an error; warnings alone
    are fine. A component that only a Storm cluster can run is a warning. On stderr it reports for each spout
    of TARGETS how often its tuples count if processes die. It also finds the problems for which a run would
    refuse to start: say by --checkpoints and --from how it would be run.
    """
    if strict:
        choices = replace(choices, options={**choices.options, "viper.order": "strict"})
    with prints_to_stderr():
        are_named = bool(targets)
        if not targets:
            targets, choices = _all_here(choices)
        opened = {target: open_target(target, choices) for target in targets}
        asked = Asked(checkpoints is not None, start, rename)
        found = {target: _problems(of_target, asked) for target, of_target in opened.items()}
        promised = [line for of_target in opened.values() for line in _guarantees(of_target)]
    problems = [problem for of_target in found.values() for problem in of_target]
    if as_json:
        click.echo(json.dumps(_as_json(found), indent=2))
    else:
        problem_lines(problems, err=False)
    errors = sum(not problem.warning for problem in problems)
    if are_named:
        for line in promised:
            note(line)
    files = counted(len(targets), "topology", "topologies")
    note(f"{files}: {counted(errors, 'error')}, {counted(len(problems) - errors, 'warning')}")
    ctx.exit(ExitCode.INVALID if errors else ExitCode.OK)


def _all_here(choices: Choices) -> tuple[tuple[str, ...], Choices]:
    """The project's topologies; as for sparse, ``--name`` without a target chooses one of them."""
    if choices.name is not None:
        target, choices = chosen(None, choices)
        return (target,), choices
    return tuple(topologies_here()), choices


@dataclass(frozen=True, slots=True)
class Asked:
    """The way in which a topology would be run."""

    checkpoints: bool
    """True if it has a folder for checkpoints."""
    start: Path | None
    rename: Mapping[str, str]


def _problems(opened: Opened, asked: Asked) -> list[Problem]:
    """The problems of a topology, of running it here, and of the run that is described."""
    from framework.planning.validation import check_runnable
    from framework.runtime.leading.beginning import start_problems

    topology, problems = opened.topology, [*opened.problems]
    unable = [] if topology is None else check_runnable(topology, here=False)
    if topology is not None and not opened.errors and not unable:
        checkpoints, start, rename = asked.checkpoints, asked.start, asked.rename
        settings = opened.settings
        problems += start_problems(topology, settings, checkpoints=checkpoints, start=start, rename=rename)
    by_place = dict.fromkeys([*problems, *unable])
    return sorted(by_place, key=lambda problem: problem.sort_key)


def _guarantees(opened: Opened) -> list[str]:
    """List the promises to its spouts, if it has no errors."""
    from framework.planning.validation import guarantees

    if opened.topology is None or opened.errors:
        return []
    return guarantees(opened.topology, opened.settings)


def _as_json(found: Mapping[str, Sequence[Problem]]) -> list[dict[str, Any]]:
    return [
        {"target": target, **asdict(problem.place), "message": problem.message, "warning": problem.warning}
        for target, problems in found.items()
        for problem in problems
    ]
