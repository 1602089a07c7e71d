"""``viper doctor``: whether this machine has what runs need."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from framework.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from framework.cli.examination import Finding

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}


@click.command()
@click.option("--clean", is_flag=True, help="Remove what dead runs have left.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects.")
@click.pass_context
def doctor(ctx: click.Context, clean: bool, as_json: bool) -> None:
    """Look at what runs need of this machine, and say what to do where something is amiss.

    Each line is ok, a warning (most runs work) or a problem (none do). Exit code 1 if there is a problem.
    """
    from framework.cli.examination import Health, examine

    findings = examine(clean=clean)
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        _show(findings)
    is_ill = any(finding.health is Health.PROBLEM for finding in findings)
    ctx.exit(ExitCode.FAILED if is_ill else ExitCode.OK)


def _show(findings: Sequence[Finding]) -> None:
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        health = click.style(f"{finding.health:<7}", fg=_COLOURS[finding.health])
        click.echo(f"{health}  {finding.what:<{width}}  {finding.found}")
        if finding.advice:
            click.echo(f"{'':<{width + 11}}{finding.advice}")
