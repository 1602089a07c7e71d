"""The values that arguments and options accept beyond click's own types, and their completion in a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import click
from click.shell_completion import CompletionItem


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Topology files, and folders, below what was typed."""
    from framework.frontends.loading import SUFFIXES

    folder, slash, start = incomplete.rpartition("/")
    found = sorted(Path(folder + slash or ".").glob(f"{start}*"))
    visible = [path for path in found if not path.name.startswith(".")]
    files = [CompletionItem(folder + slash + path.name) for path in visible if path.suffix in SUFFIXES]
    return files + [CompletionItem(f"{folder}{slash}{path.name}/") for path in visible if path.is_dir()]


def complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The configuration keys that begin with what was typed."""
    from framework.model.config import KEYS

    return [CompletionItem(k.name, help=k.meaning) for k in KEYS.values() if k.name.startswith(incomplete)]


def complete_option(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """As `complete_key`, ready for a value."""
    return [CompletionItem(f"{key.value}=", help=key.help) for key in complete_key(ctx, param, incomplete)]


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """List the ids and topologies of current runs, and folders."""
    from framework.model.errors import ViperError
    from framework.runtime.coordination.registry import KnownRun, known_runs

    runs: Sequence[KnownRun] = ()
    with suppress(OSError, ViperError):  # a shell has no use for errors
        runs = known_runs()
    named = {name: run.folder for run in runs for name in (str(run.pid), run.topology)}
    found = [CompletionItem(name, help=place) for name, place in named.items() if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="dir")]


def parse_options(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Mapping[str, Any]:
    """``key=value`` each, the value in YAML."""
    from framework.model.config import parse_option
    from framework.model.errors import ConfigError

    try:
        return dict(map(parse_option, values))
    except ConfigError as error:
        raise click.BadParameter(str(error)) from error


def parse_names(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Mapping[str, str]:
    """``old=new`` each, every old name once."""
    names: dict[str, str] = {}
    for value in values:
        old, equals, new = value.partition("=")
        if not (old and equals and new):
            raise click.BadParameter(f"{value!r}: expected OLD=NEW, as count=tally or count.seen=count.total")
        if names.setdefault(old, new) != new:
            raise click.BadParameter(f"{old!r} is renamed twice, to {names[old]!r} and {new!r}")
    return names


class RunCommand(click.Command):
    """A command whose ``-d`` may be followed by true or false, as sparse's may; alone it means true."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read a command line in which sparse's flags are written as click's."""
        return super().parse_args(ctx, list(_with_plain_flags(args)))


def _with_plain_flags(args: Sequence[str]) -> Iterator[str]:
    """Write ``-d false`` and ``--debug=false`` as ``--no-debug``; what follows ``--`` stays as it is."""
    words = iter(args)
    pending = next(words, None)
    while pending is not None and pending != "--":
        word, pending = pending, next(words, None)
        flag, equals, value = word.partition("=")
        if flag not in ("-d", "--debug"):
            yield word
        elif equals and value.lower() in _BOOLS:
            yield _BOOLS[value.lower()]
        elif not equals and pending is not None and pending.lower() in _BOOLS:
            yield _BOOLS[pending.lower()]
            pending = next(words, None)
        else:
            yield word
    if pending is not None:
        yield from (pending, *words)


_BOOLS = {"true": "--debug", "false": "--no-debug"}


worker_option = click.option("--worker", help="Kind of worker (viper.worker).")


class _Workers(click.ParamType):  # type: ignore[type-arg]
    """A number of workers, or ``auto``."""

    name = "number|auto"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | Literal["auto"]:
        if value == "auto":
            return "auto"
        try:
            return click.IntRange(min=1).convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r}: expected a whole number from 1 on, or auto", param, ctx)


workers_option = click.option(
    "-w", "--workers", type=_Workers(), help="Number of workers, or auto (topology.workers)."
)


def run_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the argument ``run``, of which `registry.control_of` finds the folder."""
    return click.argument("run", shell_complete=complete_run)(command)


def target_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the argument ``target``, which may be left out."""
    return click.argument("target", required=False, shell_complete=complete_target)(command)
