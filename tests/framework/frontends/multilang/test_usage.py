"""Arguments of ``python -m framework.frontends.multilang.serve`` that name no component."""

from __future__ import annotations

import subprocess
import sys

import pytest

from framework.frontends.multilang.serve import main

CLASS = "framework.Bolt"


@pytest.mark.parametrize(
    ("arguments", "mistake"),
    [
        ([], "expected 1 or 2 arguments, found 0"),
        ([CLASS, "{}", "more"], "expected 1 or 2 arguments, found 3"),
        ([CLASS, "{args}"], "ARGUMENTS are no JSON"),
        ([CLASS, "[1]"], "ARGUMENTS must be an object with args and kwargs only: found '[1]'"),
        ([CLASS, '{"arg": []}'], "ARGUMENTS must be an object with args and kwargs only"),
        ([CLASS, '{"args": 1}'], "args must be a list, and kwargs an object"),
        ([CLASS, '{"kwargs": []}'], "args must be a list, and kwargs an object"),
    ],
)
def test_arguments_are_refused_with_the_usage(
    arguments: list[str], mistake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith(mistake)
    assert "usage: python -m framework.frontends.multilang.serve MODULE.CLASS" in said.err


@pytest.mark.parametrize(
    ("command", "mistake"),
    [
        (["framework.frontends.multilang.serve", "framework.Bold"], "'framework.Bold'"),
        (["framework.web"], "usage: python -m framework.web DESCRIPTOR CONTROL"),
    ],
)
def test_a_process_ends_with_status_2(command: list[str], mistake: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", *command], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert mistake in ran.stderr
