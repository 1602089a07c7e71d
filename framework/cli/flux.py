"""``viper flux``: any topology as Flux YAML."""

from __future__ import annotations

from typing import IO

import click

from framework.cli.choices import Choices, with_choices
from framework.cli.opening import accepted, chosen, open_target
from framework.cli.parameters import target_argument
from framework.common.prints import prints_to_stderr


@click.command()
@target_argument
@with_choices
@click.option("-O", "--output", type=click.File("w", encoding="utf-8"), default="-", help="Write to a file.")
def flux(target: str | None, choices: Choices, output: IO[str]) -> None:
    """Print TARGET as Flux YAML, which loads again to an equal topology."""
    from framework.frontends.flux import to_flux

    with prints_to_stderr():
        text = to_flux(accepted(open_target(*chosen(target, choices))))
    output.write(text)
