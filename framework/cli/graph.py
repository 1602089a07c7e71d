"""``viper graph``: pictures."""

from __future__ import annotations

from typing import IO

import click

from framework.cli.choices import Choices, with_choices
from framework.cli.opening import accepted, chosen, open_target
from framework.cli.parameters import target_argument
from framework.common.prints import prints_to_stderr

FORMATS = ("mermaid", "dot", "json", "svg")


@click.command()
@target_argument
@with_choices
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="mermaid", show_default=True, help="What to draw."
)
@click.option("-O", "--output", type=click.File("w", encoding="utf-8"), default="-", help="Write to a file.")
def graph(target: str | None, choices: Choices, form: str, output: IO[str]) -> None:
    """Draw TARGET: its components, streams and groupings.

    Spouts are round, bolts are boxes; shell and Java components have shapes of their own. Edges that close
    a cycle are dashed. SVG needs Graphviz.
    """
    from framework.model import render

    draw = {
        "mermaid": render.to_mermaid,
        "dot": render.to_dot,
        "json": render.to_json,
        "svg": render.to_svg,
    }[form]
    try:
        with prints_to_stderr():
            picture = draw(render.rendered(accepted(open_target(*chosen(target, choices)))))
    except render.RenderError as error:
        raise click.UsageError(str(error)) from error
    output.write(picture)
