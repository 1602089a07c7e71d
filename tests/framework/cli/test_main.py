"""The common part of all commands: help, version, colours, exit codes, completion, speed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from framework.cli import main
from framework.cli import opening as opening_module
from framework.cli.exit_codes import ExitCode
from framework.runtime.coordination.registry import registered
from framework.version import VERSION

DOCS = Path(__file__).parents[3] / "docs" / "cli.md"

Viper = Callable[..., Result]


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).stdout == f"viper, version {VERSION}\n"


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, framework.cli; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "yaml",
        "streamparse",
        "thriftpy2",
        "framework.frontends.loading",
        "framework.runtime",
        "framework.model.config",
    }
    assert heavy.isdisjoint(loaded)


def test_an_unknown_command_is_a_usage_error(viper: Viper) -> None:
    assert viper("rnu").exit_code == ExitCode.USAGE


def test_an_error_of_ours_asks_to_be_reported(viper: Viper, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise IndexError("off by one")

    monkeypatch.setattr(opening_module, "settings_of", broken)
    result = viper("graph", "doubling")
    assert result.exit_code == ExitCode.INTERNAL
    assert "a bug in ViperStorm, please report it: IndexError: off by one" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in viper("--debug", "graph", "doubling").stderr


class TestColours:
    def test_errors_are_coloured_where_colours_are_shown(self, project: Path) -> None:
        result = CliRunner().invoke(main, ["run", "broken", "-q"], color=True)
        assert "\x1b[31m" in result.stderr

    def test_no_color_is_respected(self, project: Path) -> None:
        result = CliRunner().invoke(main, ["run", "broken", "-q"], color=True, env={"NO_COLOR": "1"})
        assert "\x1b" not in result.stderr
        assert "error:" in result.stderr


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_each_shell_has_its_script(self, shell: str, viper: Viper) -> None:
        assert "_VIPER_COMPLETE" in viper("completion", shell).stdout

    def complete(self, *words: str) -> list[str]:
        from click.shell_completion import ShellComplete

        completer = ShellComplete(main, {}, "viper", "_VIPER_COMPLETE")
        return [item.value for item in completer.get_completions(list(words[:-1]), words[-1])]

    def test_commands(self) -> None:
        assert self.complete("co") == ["completion", "config"]

    def test_targets_are_topology_files_and_folders(self, project: Path) -> None:
        (project / "notes.txt").touch()
        assert self.complete("run", "") == ["src/", "topologies/"]
        assert self.complete("run", "topologies/d") == ["topologies/doubling.py"]

    def test_runs_are_completed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        with registered("words", None):
            for command in ("checkpoint", "scale", "stacks", "stop", "top"):
                assert "words" in self.complete(command, "wo")
        assert "words" not in self.complete("stop", "wo")

    def test_keys(self) -> None:
        assert self.complete("run", "-o", "viper.jumbo.") == ["viper.jumbo.size=", "viper.jumbo.linger.ms="]
        assert "viper.seed" in self.complete("config", "show", "viper.s")


class TestDocumentation:
    """docs/cli.md says of every command, option and exit code at least that it exists."""

    def commands(self, group: click.Group, prefix: str) -> list[tuple[str, click.Command]]:
        found: list[tuple[str, click.Command]] = []
        for name, command in group.commands.items():
            inner = isinstance(command, click.Group)
            found += self.commands(command, f"{prefix} {name}") if inner else [(f"{prefix} {name}", command)]
        return found

    def test_commands_and_options(self) -> None:
        text = DOCS.read_text()
        for name, command in self.commands(main, "viper"):
            assert f"`{name}" in text, name
            for parameter in command.params:
                if isinstance(parameter, click.Option):
                    assert any(re.search(rf"`[^`]*{option}\b", text) for option in parameter.opts), (
                        parameter.opts
                    )

    def test_exit_codes(self) -> None:
        table = re.findall(r"^\| (\d+) \| `(\w+)` \|", DOCS.read_text(), flags=re.MULTILINE)
        assert table == [(str(int(code)), code.name) for code in ExitCode]
