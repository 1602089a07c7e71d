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

_PREPARE = "viper prepare data/orders.csv --read-option header=true --timestamp at --streams 2 -O data/orders"
TEMPLATES = {
    "words": "viper run",
    "csv-window": "viper run",
    "kafka": "python orders.py && viper run --checkpoints checkpoints",
    "spark": f"{_PREPARE} && viper run",
    "streamparse": "viper run",
}
"""The projects that it can begin, each a folder of ``templates``, with what runs it."""

_FOLDER = resources.files("framework.cli") / "templates"
_NAME = re.compile(r"[A-Za-z]\w*(-\w+)*", re.ASCII)


@click.command()
@click.argument("folder", metavar="NAME", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--template",
    type=click.Choice(list(TEMPLATES)),
    default="words",
    show_default=True,
    help="What the project does: it counts words, aggregates windows of a CSV file into SQLite, keeps totals "
    "of a topic of Kafka in another one, replays a dataset of Spark, or counts words on streamparse's "
    "classes, so that sparse takes it as well.",
)
def init(folder: Path, template: str) -> None:
    """Create a project in the folder NAME: a topology, its components and their test.

    NAME may be a folder that exists, such as `.`; no file in it is overwritten. Nothing is downloaded and
    nothing is built; `viper run` in the folder runs it.
    """
    name = _name_of(folder)
    files = {folder / path: content for path, content in _files(_FOLDER / template)}
    there = [str(file) for file in files if file.exists()]
    if there:
        raise click.UsageError(f"{', '.join(there)} exists already, and nothing is overwritten")
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(Template(content).substitute(name=name), encoding="utf-8")
    here = folder.resolve() == Path.cwd()
    note(f"created {name}; next: {'' if here else f'cd {folder} && '}{TEMPLATES[template]}")


def _name_of(folder: Path) -> str:
    """The project's name: that of a new folder, or what can be made of the name of one that exists.

    Raises:
        click.UsageError: a new folder's name is no name of a project.
    """
    name = folder.resolve().name
    if _NAME.fullmatch(name):
        return name
    if folder.exists():
        words = re.findall(r"[A-Za-z0-9_]+", name)
        return "-".join(words if words and words[0][0].isalpha() else ["project", *words])
    raise click.UsageError(f"{name!r} is no name: expected letters, digits, _ and -, a letter first")


def _files(folder: Traversable) -> Iterator[tuple[PurePosixPath, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not entry.is_dir():
            yield PurePosixPath(entry.name), entry.read_text(encoding="utf-8")
        elif entry.name != "__pycache__":  # installers compile every Python file that they find
            yield from ((entry.name / path, content) for path, content in _files(entry))
