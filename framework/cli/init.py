"""``viper init``: a small project that runs at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template

import click

from framework.cli.messages import note

_NAME = re.compile(r"[A-Za-z]\w*(-\w+)*", re.ASCII)


@click.command()
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
@click.option(
    "--streamparse", is_flag=True, help="On streamparse's classes, so that sparse takes it as well."
)
def init(folder: Path, streamparse: bool) -> None:
    """Create a project in the new folder NAME: a topology, its components and their test.

    Nothing is downloaded and nothing is built; `viper run` in the folder runs it.
    """
    if not _NAME.fullmatch(folder.name):
        raise click.UsageError(
            f"{folder.name!r} is no name: expected letters, digits, _ and -, a letter first"
        )
    if folder.exists():
        raise click.UsageError(f"{folder} exists already, and nothing is overwritten: choose another name")
    template = (
        resources.files("framework.cli") / "templates" / ("streamparse" if streamparse else "framework")
    )
    for path, content in _files(template):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(Template(content).substitute(name=folder.name), encoding="utf-8")
    note(f"created {folder}; next: cd {folder} && viper run")


def _files(folder: Traversable) -> Iterator[tuple[PurePosixPath, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not entry.is_dir():
            yield PurePosixPath(entry.name), entry.read_text(encoding="utf-8")
        elif entry.name != "__pycache__":  # installers compile every Python file that they find
            yield from ((entry.name / path, content) for path, content in _files(entry))
