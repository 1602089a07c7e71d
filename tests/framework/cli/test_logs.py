"""The log on stderr where it is one of objects."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
import pytest
from click.testing import Result

from framework.cli.exit_codes import ExitCode
from framework.cli.logs import stderr_for_lines
from framework.cli.messages import AS_JSON, note
from framework.operators.log import LogForm

Viper = Callable[..., Result]


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stderr.splitlines()]


def test_what_a_component_raises_is_an_object(viper: Viper) -> None:
    result = viper("run", "broken", "--log-format", "json")
    assert result.exit_code == ExitCode.FAILED
    *_, summary, line = objects(result)
    assert "FAILED" in summary["message"]
    assert (line["level"], line["logger"], line["error"]) == ("ERROR", "viperstorm.cli", "ZeroDivisionError")
    assert line["message"].startswith("component 'double', task 2, in process: ZeroDivisionError: no such")
    assert "parts.py" in line["traceback"]
    assert "bolt_task.py" not in line["traceback"]


def test_the_whole_traceback_is_in_it_where_it_is_asked_for(viper: Viper) -> None:
    *_, line = objects(viper("run", "broken", "-d", "--log-format", "json"))
    assert "bolt_task.py" in line["traceback"]


@pytest.mark.parametrize("arguments", [(), ("-d",)])
def test_problems_are_objects(viper: Viper, arguments: tuple[str, ...]) -> None:
    result = viper("run", "wrong", "--log-format", "json", *arguments)
    assert result.exit_code == ExitCode.INVALID
    assert any("unknown field 'nubmer'" in line["message"] for line in objects(result))


def test_the_summary_is_an_object_and_data_is_data(viper: Viper) -> None:
    result = viper("run", "doubling", "--log-format", "json", "-o", "numbers=2")
    assert result.stdout == "0\n2\n"
    assert any("doubling: done after" in line["message"] for line in objects(result))


def test_an_unknown_form_is_refused(viper: Viper) -> None:
    result = viper("run", "doubling", "--log-format", "xml")
    assert result.exit_code == ExitCode.USAGE
    assert "'text', 'json'" in result.stderr


def test_lines_of_progress_become_objects(capsys: pytest.CaptureFixture[str]) -> None:
    with click.Context(click.Command("run")) as context:
        context.meta[AS_JSON] = True
        stderr_for_lines(LogForm.JSON).write("  5.0 s  10 emitted\n")
        note("done")
    said = [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()]
    assert said == ["5.0 s  10 emitted", "done"]
