"""Types of arguments and options: what they accept, and what a shell completes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


class TargetType(click.ParamType):
    """``path.yaml``, ``path.py``, ``path.py:Name``, ``package.module:Name`` or a name in ``topologies/``."""

    name = "target"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Topology files and folders below what was typed."""
        from framework.loading.target import SUFFIXES

        folder, _, start = incomplete.rpartition("/")
        shown = f"{folder}/" if folder or incomplete.startswith("/") else ""
        found = sorted(path for path in Path(shown or ".").glob(f"{start}*") if not path.name.startswith("."))
        folders = [CompletionItem(f"{shown}{path.name}/") for path in found if path.is_dir()]
        files = [CompletionItem(f"{shown}{path.name}") for path in found if path.suffix in SUFFIXES]
        return files + folders


class OptionType(click.ParamType):
    """``key=value``; the value is read as YAML."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Any]:
        """The key and its value."""
        from framework.config import parse_option
        from framework.errors import ConfigError

        try:
            return parse_option(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Configuration keys."""
        return [CompletionItem(f"{item.value}=", help=item.help) for item in complete_key(incomplete)]


def complete_key(incomplete: str) -> list[CompletionItem]:
    """The configuration keys that begin with what was typed."""
    from framework.config import KEYS

    return [CompletionItem(k.name, help=k.meaning) for k in KEYS.values() if k.name.startswith(incomplete)]
