"""``viper completion``: shell completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, targets and keys in SHELL.

    \b
    bash:  viper completion bash > ~/.local/share/bash-completion/completions/viper
    zsh:   viper completion zsh > a folder on your fpath, as _viper
    fish:  viper completion fish > ~/.config/fish/completions/viper.fish
    """
    completer = get_completion_class(shell)
    assert completer is not None, shell
    click.echo(completer(ctx.find_root().command, {}, "viper", "_VIPER_COMPLETE").source())
