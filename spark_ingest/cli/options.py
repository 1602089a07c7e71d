"""The options that say what Spark reads, how it becomes streams, and where Spark runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from framework.common.units import PER_SECOND
from spark_ingest.errors import JobError

DECISIONS = ("keep", "drop", "refuse")


def parse_columns(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Names of columns: each option gives one, or several that are separated by commas."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def parse_pairs(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Mapping[str, str]:
    """``name=value`` each."""
    pairs = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"expected {param.make_metavar(ctx)}, found {value!r}")
        pairs[name] = text
    return pairs


def parse_views(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Mapping[str, Any]:
    """``name=path`` each, or ``name={files: path, ...}``, in braces as in YAML."""
    return {name: _view(param, text) for name, text in parse_pairs(ctx, param, values).items()}


def _view(param: click.Parameter, text: str) -> Any:
    import yaml

    if not text.startswith("{"):
        return text
    try:
        said = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = " ".join(str(getattr(error, "problem", error)).split())
        raise click.BadParameter(
            f"expected a path, or as in YAML {{files: trips.csv, options: {{header: true}}}}, "
            f"found {text!r}: {reason}; a path that begins with a brace is written ./{{"
        ) from None
    return said


def _columns(*names: str, help: str) -> Callable[[Any], Any]:
    return click.option(*names, multiple=True, metavar="COLUMN[,...]", callback=parse_columns, help=help)


def _pairs(name: str, to: str, metavar: str, help: str) -> Callable[[Any], Any]:
    return click.option(name, to, multiple=True, metavar=metavar, callback=parse_pairs, help=help)


def _decision(name: str, default: str, what: str) -> Callable[[Any], Any]:
    help = f"What to do with rows whose timestamp {what}."
    return click.option(name, type=click.Choice(DECISIONS), default=default, show_default=True, help=help)


@contextmanager
def in_words_of_the_command_line(command: click.Command) -> Iterator[None]:
    """Have what a job refuses name options, where its message names the keywords of Python's."""
    try:
        yield
    except JobError as error:
        error.args = (_in_options(str(error), _flags(command)), *error.args[1:])
        raise


def _flags(command: click.Command) -> dict[str, str]:
    """Find the name of each keyword on the command line: its option's long form, an argument in capitals."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    flags = {param.name: max(param.opts, key=len) for param in options if param.name}
    return flags | {param.name: param.name.upper() for param in arguments if param.name}


def _in_options(message: str, flags: Mapping[str, str]) -> str:
    """A message about keywords as one about options; rows that it shows stay as they are."""
    from framework.model.topology import one_of
    from spark_ingest.job.source import KINDS

    head, begin_of_rows, rows = message.partition("\n")
    names = "|".join(flags)
    head = re.sub(rf"\b({names})='([^']*)'", lambda m: f"{flags[m[1]]} {shlex.quote(m[2])}", head)
    head = re.sub(rf"\b({names})=(?!\S)", lambda m: flags[m[1]], head)
    head = re.sub(
        rf"^({names}) (is|are|names) ", lambda m: f"{flags[m[1]]} {m[2].replace('are', 'is')} ", head
    )
    head = re.sub(rf"\bcolumn in ({names})\b", lambda m: f"column in {flags[m[1]]}", head)
    *kinds, last_kind = (flags.get(kind, kind) for kind in KINDS)
    head = head.replace(one_of(KINDS), f"{', '.join(kinds)} or {last_kind}")
    head = head.replace("the option header=true", f"{flags.get('options', 'option')} header=true")
    return head + begin_of_rows + rows


SOURCE = (
    click.argument("files", nargs=-1),
    click.option("--format", help="Format of the files, as Spark names it: parquet, csv, json, ..."),
    _pairs("--read-option", "options", "KEY=VALUE", "Option of the reader, e.g. header=true; repeatable."),
    click.option(
        "--schema",
        metavar="COLUMNS",
        help="Columns and types of the files, for formats that have none, e.g. 'id long, at timestamp'.",
    ),
    click.option("--table", help="Read this table instead of files."),
    click.option("--query", help="Read what this SQL query selects instead of files."),
    click.option(
        "--view",
        "views",
        multiple=True,
        metavar="NAME=PATH",
        callback=parse_views,
        help="Files that the query may use as a table; repeatable. --format, --schema and --read-option are "
        "of all views; NAME={files: PATH, options: {header: true}} says them of one.",
    ),
    click.option(
        "--function",
        metavar="MODULE:NAME",
        help="Read the DataFrame that this function returns; it is called with the SparkSession.",
    ),
)
"""The options for the rows that are read: exactly one of files, table, query, function."""

STREAMS = (
    click.option("--timestamp", required=True, metavar="COLUMN", help="Column with the event time."),
    click.option(
        "--unit",
        type=click.Choice(tuple(PER_SECOND)),
        default="us",
        show_default=True,
        help="Unit of a timestamp that is a number.",
    ),
    click.option(
        "--timestamp-format",
        metavar="PATTERN",
        help="Spark's pattern of a timestamp that is text.  [default: ISO 8601]",
    ),
    click.option(
        "-k",
        "--streams",
        type=click.IntRange(min=1),
        default=4,
        show_default=True,
        help="Number of streams: no more than so many tasks can replay them.",
    ),
    _columns("--key", help="Rows that are equal in these columns share a stream."),
    _columns("--order", help="Orders rows of equal time within a stream."),
    _columns("--columns", help="Columns to keep, in this order.  [default: all]"),
)
"""The options for how rows become streams."""

QUALITY = (
    _decision("--nulls", "refuse", "is null"),
    _decision("--duplicates", "keep", "(and key) is that of another row"),
    _decision("--unparsable", "refuse", "cannot be read"),
)
"""The options for rows whose time is doubtful."""

SESSION = (
    click.option("--master", help="Where Spark runs, as spark-submit takes it.  [default: local[*]]"),
    _pairs("--spark-conf", "conf", "KEY=VALUE", "Set a property of Spark; repeatable."),
)
"""The options for Spark's session."""


def with_options(*groups: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Give a command groups of options; they stand in this order in its help."""

    def add(command: Any) -> Any:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return add
