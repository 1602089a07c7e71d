"""``viper profile``, with runs so short that no figure of it means anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from framework.cli.exit_codes import ExitCode
from framework.optimizer.costs.file import load

Viper = Callable[..., Result]
SHORT = ("--plans", "3", "--runs", "1")

RING = """
from framework import GlobalStreamId, Grouping, Topology
import parts


class Ring(Topology):
    numbers = parts.Numbers.spec()
    double = parts.Double.spec(
        inputs={numbers: Grouping.SHUFFLE, GlobalStreamId("again", "default"): Grouping.SHUFFLE}
    )
    again = parts.Double.spec(inputs={double: Grouping.SHUFFLE})
"""


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs are processes of their own, which find the packages of this repository."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


@pytest.mark.usefixtures("importable")
@pytest.mark.slow
def test_a_profile_is_measured_and_written(viper: Viper, project: Path) -> None:
    result = viper("profile", "doubling", *SHORT, "-o", "numbers=3000", "--output", "costs.yaml")
    assert result.exit_code == ExitCode.OK, result.output
    read = load(project / "costs.yaml")
    assert read.topology == "doubling"
    components = read.profile.components
    assert list(components) == ["numbers", "double", "console"]
    assert all(cost.ns > 0 for cost in components.values())
    assert components["numbers"].streams["default"].selectivity == 1
    assert components["double"].streams["default"].size > 0
    assert read.hardware is not None and read.hardware.cpus
    header, *rows = result.stdout.splitlines()
    assert header.split()[:4] == ["component", "ns", "alone", "stream"]
    assert [row.split()[0] for row in rows[:3]] == ["numbers", "double", "console"]
    alone = [row.split()[2].replace(",", "") for row in rows[:3]]
    assert all(ns.isdecimal() and int(ns) > 0 for ns in alone), alone
    assert "double alone, round 1 of 1, plan 3 of 3" in result.stderr
    assert "not measured" not in result.stderr
    assert "the busiest workers of its own 3 plans" in rows[-1]
    assert "round 1 of 1, plan 3 of 3" in result.stderr and "written to costs.yaml" in result.stderr


@pytest.mark.usefixtures("importable")
@pytest.mark.slow
def test_a_topology_that_never_ends_is_drained(viper: Viper, project: Path) -> None:
    result = viper(
        "profile", "endless", *SHORT, "--workers", "1", "--seconds", "0.3", "--no-alone", "--output", "c.yaml"
    )
    assert result.exit_code == ExitCode.OK, result.output
    assert "alone," not in result.stderr
    assert load(project / "c.yaml").profile.components["double"].ns > 0


def test_a_cycle_is_refused_before_anything_starts(viper: Viper, project: Path) -> None:
    (project / "topologies" / "ring.py").write_text(RING)
    result = viper("profile", "ring", *SHORT)
    assert result.exit_code == ExitCode.INVALID
    assert "is part of a cycle" in result.stderr and "round 1" not in result.stderr
    assert not list(project.glob("*.profile.yaml"))


@pytest.mark.usefixtures("importable")
@pytest.mark.slow
def test_a_run_that_fails_ends_it_with_what_it_said(viper: Viper, project: Path) -> None:
    result = viper("profile", "broken", *SHORT)
    assert result.exit_code == ExitCode.FAILED
    assert "no such number" in result.stderr
    assert not list(project.glob("*.profile.yaml"))
