"""Transactions of topologies that nobody thought of: all is as one event after the other would leave it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.framework.runtime.pieces import run_built
from tests.framework.transactions.random_topologies import (
    GROUPS,
    Death,
    Event,
    Shape,
    options,
    recovering,
    shapes,
)
from tests.framework.transactions.serial import Position, Serial, Tables
from tests.kills.pointed import REPOSITORY, built
from tests.portions import at_every_change
from tests.viper.transactions.reference import AbortedError, Program

EXAMPLES = {"inline": (60, 600), "thread": (30, 300), "process": (4, 30)}
"""The number of topologies that are drawn for each kind of worker: at every change, and in CI."""
CASES = [(kind, EXAMPLES[kind][part]) for part in (0, 1) for kind in EXAMPLES]
CATCH = settings(max_examples=60, phases=[Phase.generate], report_multiple_bugs=False, print_blob=False)


def check(shape: Shape, report: Any, serial: Serial) -> None:
    """Compare a run with one event after the other."""
    assert report.result("sink") == serial.output()
    for group in {member.group for member in shape.members}:
        for name, table in GROUPS[group].items():
            rows = repr(list(report.table(table.table_name)))
            assert rows == repr(serial.groups[group].sorted_rows(name))


def drawn(kind: str, reference: Callable[[Shape], Serial] = Serial) -> Callable[[], None]:
    """A test of drawn topologies on workers of a kind, for Hypothesis to run."""

    @given(shape=shapes(), chosen=options(kind))
    def attempt(shape: Shape, chosen: dict[str, Any]) -> None:
        check(shape, run_built(shape.build(), **chosen), reference(shape))

    return attempt


@pytest.mark.few(1, daily=True)
@pytest.mark.parametrize(("kind", "examples"), at_every_change(CASES, len(EXAMPLES), daily=True))
def test_all_is_as_one_event_after_the_other(kind: str, examples: int) -> None:
    settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])(drawn(kind))()


# -- worker processes that die


@pytest.mark.parametrize("examples", at_every_change([2, 25]))
def test_a_death_does_not_show(examples: int) -> None:
    deaths: list[bool] = []

    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(shape=shapes(), chosen=options("process"), place=st.integers(0, 1000), in_callback=st.booleans())
    def attempt(shape: Shape, chosen: dict[str, Any], place: int, in_callback: bool) -> None:
        serial = Serial(shape)
        seen = [(member, number) for _, _, member, (number, _) in serial.transactions()]
        if not seen:
            return
        member, number = seen[place % len(seen)]
        with tempfile.TemporaryDirectory() as folder:
            death = Death(member, number, in_callback, f"{folder}/mark")
            report = run_built(shape.build(death), **{**chosen, **recovering(shape)})
            deaths.append(Path(death.mark).exists())
            assert len(report.incidents) == deaths[-1]
        check(shape, report, serial)

    attempt()
    assert 2 * sum(deaths) >= examples, deaths


# -- planted bugs


class AbortsLeaveTraces(Tables):
    """A planted bug: the writes of a transaction before it aborts stay."""

    def run(self, program: Program) -> tuple[list[Any], str | None]:
        found = super().run(program)
        if found[1] is not None:
            with suppress(AbortedError):
                self.conditions = 0
                values: list[Any] = []
                for operation in program:
                    self._do(operation, values)
        return found


class TurnedTies(Serial):
    """Members that see a tuple at one position come in the opposite order."""

    def transactions(self) -> list[tuple[Position, int, int, Event]]:
        return sorted(super().transactions(), key=lambda one: (one[0], -one[1]))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda shape: Serial(shape, AbortsLeaveTraces),
        TurnedTies,
    ],
    ids=["aborts", "ties"],
)
def test_a_wrong_reference_is_caught(wrong: Callable[[Shape], Serial]) -> None:
    with pytest.raises(AssertionError):
        CATCH(drawn("inline", wrong))()


def ran_with(plant: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The drawn topologies, in a process whose backend has a bug."""
    first = built(folder / "first", plant)
    environ = {**os.environ, "PYTHONPATH": f"{first}{os.pathsep}{REPOSITORY}"}
    code = f"import tests.conftest, {__name__} as t; t.CATCH(t.drawn('inline'))()"
    return subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd=first, capture_output=True, text=True, timeout=240
    )


@pytest.mark.parametrize("plant", at_every_change(["ties_turned", "aborts_stay", "sets_live_on"], daily=True))
def test_a_planted_bug_is_caught(plant: str, tmp_path: Path) -> None:
    ran = ran_with(plant, tmp_path)
    assert ran.returncode == 1 and "\nAssertionError" in ran.stderr, ran.stderr[-3000:]


@pytest.mark.slow
def test_nothing_is_caught_where_nothing_is_planted(tmp_path: Path) -> None:
    ran = ran_with("ordinary", tmp_path)
    assert ran.returncode == 0, ran.stderr[-3000:]
