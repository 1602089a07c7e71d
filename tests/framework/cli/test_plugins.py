"""Commands of other packages: found by name, listed in help, and none of them can break the others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from framework.cli import main, plugins
from framework.cli.exit_codes import ExitCode

MODULE = """
import click
from framework.model.errors import InternalError, ViperError


@click.command()
@click.argument("kind", default="nothing")
def greet(kind):
    "Say good day."
    if kind == "internal":
        raise InternalError("so it is")
    if kind != "nothing":
        raise type("Theirs", (ViperError, {"value": ValueError, "run": RuntimeError}[kind]), {})("so it is")
    click.echo("good day")
"""
ENTRY_POINTS = """
[viperstorm.commands]
greet = greetings_of_others:greet
broken = greetings_of_others:nothing_of_that_name
number = greetings_of_others:MODULE
run = greetings_of_others:greet
"""


@pytest.fixture(autouse=True)
def greetings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an installed distribution, which is on the path."""
    installed = tmp_path / "site"
    (installed / "greetings-1.0.dist-info").mkdir(parents=True)
    (installed / "greetings-1.0.dist-info" / "METADATA").write_text("Name: greetings\nVersion: 1.0\n")
    (installed / "greetings-1.0.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS)
    (installed / "greetings_of_others.py").write_text(MODULE + "\nMODULE = 1\n")
    monkeypatch.syspath_prepend(str(installed))
    forget = plugins._entry_points.cache_clear
    forget()
    yield installed
    forget()
    sys.modules.pop("greetings_of_others", None)


def viper(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="viper")


def test_a_command_of_another_package_is_one_of_vipers() -> None:
    assert viper("greet").stdout == "good day\n"
    assert "Usage: viper greet" in viper("greet", "-h").stdout


def test_help_lists_it_and_warns_of_those_that_cannot_be_loaded() -> None:
    result = viper("--help")
    assert result.exit_code == ExitCode.OK
    listed = result.stdout.partition("Commands:")[2]
    assert "\n  greet " in listed and "Say good day." in listed
    assert "broken" not in listed and "number" not in listed
    warnings = result.stderr.splitlines()
    assert sorted(warnings) == [
        "warning: the command 'broken' of greetings cannot be loaded: AttributeError: module "
        "'greetings_of_others' has no attribute 'nothing_of_that_name'",
        "warning: the command 'number' of greetings cannot be loaded: greetings_of_others:MODULE is no click "
        "command, but 1",
    ]


def test_one_of_ours_goes_before_another_of_its_name() -> None:
    assert "Say good day." not in viper("run", "-h").stdout
    assert viper("--help").stdout.count("\n  run ") == 1


def test_ours_do_not_read_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_entry_points", lambda: pytest.fail("entry points were read"))
    assert viper("run", "-h").exit_code == ExitCode.OK


def test_a_command_that_cannot_be_loaded_says_why() -> None:
    result = viper("broken")
    assert result.exit_code == ExitCode.USAGE
    assert "the command 'broken' of greetings cannot be loaded: AttributeError" in result.stderr


def test_an_unknown_command_stays_one() -> None:
    result = viper("grete")
    assert result.exit_code == ExitCode.USAGE
    assert "No such command 'grete'" in result.stderr


@pytest.mark.parametrize(
    ("kind", "code"),
    [("value", ExitCode.INVALID), ("run", ExitCode.FAILED), ("internal", ExitCode.INTERNAL)],
)
def test_its_errors_end_as_ours_do(kind: str, code: ExitCode) -> None:
    result = viper("greet", kind)
    assert (result.exit_code, result.stderr) == (code, "error: so it is\n")


class TestCompletion:
    def complete(self, *words: str) -> list[str]:
        completer = ShellComplete(main, {}, "viper", "_VIPER_COMPLETE")
        return [item.value for item in completer.get_completions(list(words[:-1]), words[-1])]

    def test_it_is_completed(self) -> None:
        assert "greet" in self.complete("g")

    def test_nothing_is_said_of_those_that_cannot_be_loaded(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert "broken" not in self.complete("b")
        self.complete("broken", "")
        assert capfd.readouterr() == ("", "")


def test_commands_of_this_house_load_nothing_heavy() -> None:
    """Help names the commands of `spark_ingest`, but neither Spark nor Arrow is loaded for it."""
    code = (
        "import sys; from framework.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "\n  prepare " in ran.stdout
    heavy = {
        "pyspark",
        "py4j",
        "pyarrow",
        "pandas",
        "yaml",
        "framework.frontends.loading",
        "framework.runtime",
    }
    assert heavy.isdisjoint(ran.stderr.split())
