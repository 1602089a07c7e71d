"""Programs with Storm's own libraries, which are not part of this project: ``make storm-programs`` gets them.

Its folder, or another one with storm.py, storm.rb and storm.js, may be given by STORM_PROGRAMS.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.framework.frontends.multilang.conftest import FIXTURES
from tests.framework.frontends.multilang.pieces import around, behind
from tests.framework.runtime.pieces import listed, run_built

FETCHED = Path(__file__).parents[4] / "build" / "storm-programs" / "resources"
FOLDER = Path(os.environ.get("STORM_PROGRAMS", FETCHED))
LANGUAGES = {"py": "python3", "rb": "ruby", "js": "node"}
TASKS = 10
RUNS = 5
"""Together 50 starts of each program."""


@pytest.fixture(params=LANGUAGES)
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The command of a program, without its last argument, in an environment with Storm's libraries."""
    suffix = request.param
    if not (FOLDER / f"storm.{suffix}").is_file():
        pytest.skip(f"there is no storm.{suffix} in {FOLDER}: make storm-programs, or set STORM_PROGRAMS")
    if shutil.which(LANGUAGES[suffix]) is None:
        pytest.skip(f"there is no {LANGUAGES[suffix]} on the PATH")
    for variable in ("PYTHONPATH", "RUBYLIB", "NODE_PATH"):
        monkeypatch.setenv(variable, str(FOLDER))
    return LANGUAGES[suffix], str(FIXTURES / "storm" / f"echo.{suffix}")


def test_bolts_start_and_answer(program: tuple[str, str]) -> None:
    rows = [[number] for number in range(3 * TASKS)]
    for _ in range(RUNS):
        builder = around((*program, "bolt"), listed(*rows), par=TASKS, viper__stateless=True)
        report = run_built(builder, viper__on__error="stop", viper__drain__timeout__secs=2)
        assert sorted(report.result("sink")) == [(number,) for number in range(3 * TASKS)]
        counters = report.components["bolt"]
        # The program in Python never acks the last tuple of each task.
        acked = 2 * TASKS if "echo.py" in program[1] else 3 * TASKS
        assert (counters.acked, counters.unanswered) == (acked, 3 * TASKS - acked)
        assert (counters.processed, counters.errors) == (3 * TASKS, 0)
        assert report.drained == (acked == 3 * TASKS)


def test_a_bolt_that_works_asynchronously_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (FOLDER / "storm.js").is_file() or shutil.which("node") is None:
        pytest.skip(f"there is no storm.js in {FOLDER}, or no node on the PATH")
    monkeypatch.setenv("NODE_PATH", str(FOLDER))
    rows = [[f"a{number} b{number} c{number}"] for number in range(10)]
    command = ("node", str(FIXTURES / "storm" / "split.js"))
    builder = around(command, listed(*rows), par=2, viper__stateless=True)
    report = run_built(builder, viper__on__error="stop")
    assert sorted(report.result("sink")) == sorted((f"{c}{n}",) for c in "abc" for n in range(10))
    counters = report.components["bolt"]
    assert (counters.acked, counters.unanswered, report.drained) == (10, 0, True)


def test_spouts_start_and_emit(program: tuple[str, str]) -> None:
    for _ in range(RUNS):
        builder = behind((*program, "spout"), par=TASKS)
        report = run_built(builder, {"max_tuples": 4 * TASKS}, viper__on__error="stop")
        numbers = [number for (number,) in report.result("sink")]
        assert len(numbers) >= 4 * TASKS
        assert report.components["spout"].failed == 0
