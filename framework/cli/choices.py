"""The options that say how a target is loaded and configured; every command that loads one has them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from framework.cli.parameters import complete_option, parse_options


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of the command line for loading and configuration."""

    environment: str | None = None
    name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    """Configuration files; none for the current folder's own."""
    properties: Path | None = None
    """A file of substitutions for Flux YAML."""
    strict_flux: bool = False

    def also(self, options: Mapping[str, Any]) -> Choices:
        """The same with further configuration keys above those given; a value of None sets none."""
        given = {key: value for key, value in options.items() if value is not None}
        return replace(self, options={**self.options, **given})


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

_OPTIONS = (
    click.option(
        "-e", "--environment", help="Environment of a streamparse project, and of `par` per environment."
    ),
    click.option(
        "-n", "--name", help="Name of the topology; without TARGET, as for sparse: the file to take."
    ),
    click.option(
        "-o",
        "--option",
        "options",
        multiple=True,
        metavar="KEY=VALUE",
        callback=parse_options,
        shell_complete=complete_option,
        help="Set a configuration key; may be repeated.",
    ),
    click.option(
        "--config",
        "files",
        type=_FILE,
        multiple=True,
        help="YAML file of configuration.  [default: viper.yaml]",
    ),
    click.option("-f", "--filter", "properties", type=_FILE, help="Properties file for ${...} in Flux YAML."),
    click.option("--strict-flux", is_flag=True, help="Substitute ${...} exactly as Flux does."),
)


def with_choices(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options, and pass what they say as ``choices``."""

    @functools.wraps(command)
    def packed(
        *args: Any,
        environment: str | None,
        name: str | None,
        options: Mapping[str, Any],
        files: tuple[Path, ...],
        properties: Path | None,
        strict_flux: bool,
        **others: Any,
    ) -> Any:
        choices = Choices(environment, name, options, files, properties, strict_flux)
        return command(*args, choices=choices, **others)

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed
