"""docs/cli.md says of every command and option that it exists, as of the commands of `framework`."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest

from framework.cli.plugins import GROUP

DOCS = Path(__file__).parents[3] / "docs" / "cli.md"
COMMANDS = sorted(
    point.name for point in entry_points(group=GROUP) if point.value.startswith("spark_ingest.")
)


def test_there_are_commands() -> None:
    assert {"backfill", "dataset", "prepare"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_and_options(name: str) -> None:
    text = DOCS.read_text(encoding="utf-8")
    section = re.search(rf"^## `viper {name}\b.*?(?=^## )", text, flags=re.MULTILINE | re.DOTALL)
    assert section is not None
    (point,) = (point for point in entry_points(group=GROUP) if point.name == name)
    command = point.load()
    assert isinstance(command, click.Command)
    shared = (
        ("environment", "name", "options", "files", "properties", "strict_flux") if name == "backfill" else ()
    )
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.name not in shared:
            assert all(re.search(rf"`[^`]*{option}\b", section[0]) for option in parameter.opts), (
                parameter.opts
            )
