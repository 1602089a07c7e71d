"""Commands of other packages, found by the entry point group ``viperstorm.commands``.

An entry point's name is the command's, and what it names is a click command.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import click

from framework.cli.messages import warning_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "viperstorm.commands"


class PluginGroup(click.Group):
    """A group that has the commands of other packages, too; one of its own goes before another's of its name.

    Entry points are read for a command that is not one of its own, for help and for completion only: that
    takes 15 ms.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Its own and those of others, by name; those that cannot be loaded are warned about and left out."""
        return sorted({*super().list_commands(ctx), *self._usable_plugins(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Its own, else one of another package.

        Raises:
            click.UsageError: there is one, but it cannot be loaded; while completing there is none then.
        """
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        try:
            point = _entry_points().get(cmd_name)
            return None if point is None else _loaded(point)
        except click.UsageError:
            if ctx.resilient_parsing:
                return None
            raise

    def _usable_plugins(self, ctx: click.Context) -> list[str]:
        usable = []
        for name, point in _entry_points().items():
            try:
                _loaded(point)
            except click.UsageError as error:
                if not ctx.resilient_parsing:
                    warning_line(error.message)
            else:
                usable.append(name)
        return usable


@cache
def _entry_points() -> dict[str, EntryPoint]:
    """By name; of two of one name the one that is first on the path counts."""
    from importlib.metadata import entry_points

    return {point.name: point for point in reversed(tuple(entry_points(group=GROUP)))}


def _loaded(point: EntryPoint) -> click.Command:
    owner = "" if point.dist is None else f" of {point.dist.name}"
    try:
        command = point.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise click.UsageError(f"the command {point.name!r}{owner} cannot be loaded: {reason}") from error
    if not isinstance(command, click.Command):
        reason = f"{point.value} is no click command, but {command!r}"
        raise click.UsageError(f"the command {point.name!r}{owner} cannot be loaded: {reason}")
    return command
