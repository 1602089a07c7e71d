"""What arguments and options accept beyond click's own types, and what a shell completes for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Topology files, and folders, below what was typed."""
    from framework.loading.target import SUFFIXES

    folder, slash, start = incomplete.rpartition("/")
    found = sorted(Path(folder + slash or ".").glob(f"{start}*"))
    visible = [path for path in found if not path.name.startswith(".")]
    files = [CompletionItem(folder + slash + path.name) for path in visible if path.suffix in SUFFIXES]
    return files + [CompletionItem(f"{folder}{slash}{path.name}/") for path in visible if path.is_dir()]


def complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The configuration keys that begin with what was typed."""
    from framework.config import KEYS

    return [CompletionItem(k.name, help=k.meaning) for k in KEYS.values() if k.name.startswith(incomplete)]


def complete_option(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """As `complete_key`, ready for a value."""
    return [CompletionItem(f"{key.value}=", help=key.help) for key in complete_key(ctx, param, incomplete)]


def parse_options(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Mapping[str, Any]:
    """``key=value`` each, the value in YAML."""
    from framework.config import parse_option
    from framework.errors import ConfigError

    try:
        return dict(map(parse_option, values))
    except ConfigError as error:
        raise click.BadParameter(str(error)) from error


def target_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the argument ``target``, which may be left out."""
    return click.argument("target", required=False, shell_complete=complete_target)(command)
