"""``viper config show``: every key, its value and where that came from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from framework.cli.choices import Choices, with_choices
from framework.cli.exit_codes import ExitCode
from framework.cli.messages import problem_lines
from framework.cli.opening import Opened, open_target, settings_of
from framework.cli.parameters import complete_key, complete_target
from framework.cli.table import table
from framework.common.prints import prints_to_stderr

if TYPE_CHECKING:
    from framework.model.config import Settings


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return complete_key(ctx, param, incomplete) + complete_target(ctx, param, incomplete)


@click.group()
def config() -> None:
    """Look at the configuration."""


@config.command()
@click.argument("words", metavar="[TARGET] [KEY]...", nargs=-1, shell_complete=_complete)
@with_choices
@click.option("--json", "as_json", is_flag=True, help="Print keys, values and origins as JSON.")
@click.pass_context
def show(ctx: click.Context, words: tuple[str, ...], choices: Choices, as_json: bool) -> None:
    """Show every key, its value and where that came from.

    With a TARGET, its own configuration counts too. KEY is a key or a part of one, e.g. jumbo.
    """
    targets = [word for word in words if _is_target(word)]
    if len(targets) > 1:
        raise click.UsageError(f"one target at a time, found {' and '.join(targets)}")
    with prints_to_stderr():
        opened = open_target(targets[0], choices) if targets else _without_target(choices)
    keys = _matching(opened.settings, [word for word in words if word not in targets])
    rows = [(key, opened.settings[key], opened.settings.origin(key)) for key in keys]
    click.echo(_as_json(rows) if as_json else "\n".join(_lines(rows)))
    problem_lines(opened.problems, err=True)
    ctx.exit(ExitCode.INVALID if opened.errors else ExitCode.OK)


def _is_target(word: str) -> bool:
    """True if a word names a topology rather than keys: it has the form of one, or is in ``topologies/``."""
    from framework.frontends.loading import SUFFIXES, named_file

    return word.endswith(SUFFIXES) or ":" in word or "/" in word or named_file(word) is not None


def _without_target(choices: Choices) -> Opened:
    settings, problems = settings_of(None, choices)
    return Opened(None, settings, tuple(problems))


def _matching(settings: Settings, parts: Sequence[str]) -> list[str]:
    for part in parts:
        if not any(part in key for key in settings):
            from framework.model.topology import did_you_mean

            raise click.UsageError(f"no configuration key contains {part!r}{did_you_mean(part, settings)}")
    return [key for key in sorted(settings) if not parts or any(part in key for part in parts)]


def _lines(rows: Sequence[tuple[str, Any, str]]) -> Iterator[str]:
    yield from table(("key", "value", "from"), [(key, _value(value), origin) for key, value, origin in rows])


def _value(value: Any) -> str:
    """As it would be written in YAML."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _as_json(rows: Sequence[tuple[str, Any, str]]) -> str:
    shown: Mapping[str, Any] = {key: {"value": value, "from": origin} for key, value, origin in rows}
    return json.dumps(shown, indent=2, ensure_ascii=False, default=str)
