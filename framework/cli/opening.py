"""From a target to a topology with its settings, and everything that is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framework.cli.choices import Choices
from framework.cli.messages import problem_lines

if TYPE_CHECKING:
    from framework.model.config import Settings
    from framework.model.topology import Problem, Topology


@dataclass(frozen=True, slots=True)
class Opened:
    """As much of a topology as could be loaded."""

    topology: Topology | None
    settings: Settings
    problems: tuple[Problem, ...]
    """By place, each once."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep it from being used."""
        return tuple(problem for problem in self.problems if not problem.warning)


def open_target(target: str, choices: Choices) -> Opened:
    """Load, configure and validate a target; the result holds every problem."""
    from framework.frontends.loading import configured, load
    from framework.planning.validation import validate

    loaded = load(
        configured(target, choices.files),
        environment=choices.environment,
        name=choices.name,
        substitutions=_substitutions(choices.properties),
        strict_flux=choices.strict_flux,
    )
    settings, problems = settings_of(loaded.topology, choices)
    problems += loaded.problems
    if loaded.topology is not None:
        problems += validate(loaded.topology, settings)
    # The same mistake may be seen by several of those who looked.
    by_place = sorted(dict.fromkeys(problems), key=lambda problem: problem.sort_key)
    return Opened(loaded.topology, settings, tuple(by_place))


def settings_of(topology: Topology | None, choices: Choices) -> tuple[Settings, list[Problem]]:
    """The configuration, and what is wrong with it."""
    from framework.model.config import project_files, resolve

    return resolve(
        topology,
        options=choices.options,
        environ=os.environ,
        files=project_files(Path.cwd(), choices.files),
        environment=choices.environment,
    )


def accepted(opened: Opened, *, to_run: bool = False) -> Topology:
    """The topology, if it can be used; its warnings go to stderr.

    Args:
        opened: from `open_target`.
        to_run: whether it must be able to run here.

    Raises:
        TopologyError: it cannot.
    """
    from framework.model.errors import TopologyError

    problems = [*opened.problems, *(_about_running(opened) if to_run else ())]
    if opened.topology is None or not all(problem.warning for problem in problems):
        raise TopologyError(problems)
    problem_lines(problems, err=True)
    return opened.topology


def _about_running(opened: Opened) -> list[Problem]:
    from framework.planning.validation import check_isolation, check_runnable

    if opened.topology is None:
        return []
    return check_runnable(opened.topology) + check_isolation(opened.topology, opened.settings)


def chosen(target: str | None, choices: Choices) -> tuple[str, Choices]:
    """The target where none was given: the file that ``--name`` names, or the only one in ``topologies/``.

    Raises:
        click.UsageError: there are several, or none.
    """
    if target is not None:
        return target, choices
    if choices.name is not None:
        return choices.name, replace(choices, name=None)
    found = topologies_here()
    if len(found) == 1:
        return found[0], choices
    raise click.UsageError(f"name the topology to use: found {', '.join(found)}")


def topologies_here() -> list[str]:
    """The files of all topologies of the project in the current folder.

    Raises:
        click.UsageError: there are none.
    """
    from framework.frontends.loading import project_files, topology_folders

    found = [str(file) for file in project_files()]
    if not found:
        looked_in = " or ".join(f"{folder}/" for folder in topology_folders())
        raise click.UsageError(f"name the topology to use: there is no topology in {looked_in}")
    return found


def _substitutions(properties: Path | None) -> Mapping[str, str]:
    if properties is None:
        return {}
    from framework.frontends.flux import read_properties

    return read_properties(properties)
