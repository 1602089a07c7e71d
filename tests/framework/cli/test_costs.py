"""`viper profile` and what `viper plan` shows of it, as a user would use them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from framework.cli.exit_codes import ExitCode

Viper = Callable[..., Result]


@pytest.fixture
def known(viper: Viper) -> Path:
    """A profile of the topology of these tests."""
    names = [row["component"] for row in json.loads(viper("plan", "doubling", "--json").stdout)["tasks"]]
    written = Path("doubling.profile.yaml")
    cost = {"ns": 1000.0, "streams": {"default": {"selectivity": 1.0, "encode_ns": 10.0, "decode_ns": 20.0}}}
    told = {"topology": "doubling", "run_ns": 100.0, "components": dict.fromkeys(names, cost)}
    written.write_text(yaml.safe_dump(told))
    return written


@pytest.mark.slow
def test_a_profile_is_made_and_predicts(viper: Viper) -> None:
    made = viper("profile", "doubling", "--plans", "2", "--runs", "1", "-O", "made.yaml")
    assert made.exit_code == ExitCode.OK, made.output
    assert "written to made.yaml" in made.stderr
    assert "are predicted with an error of" in made.stdout
    told = json.loads(viper("plan", "doubling", "--profile", "made.yaml", "--json").stdout)
    assert told["predicted_per_s"] > 0
    assert told["options"]["viper.worker"] == "inline"
    components = yaml.safe_load(Path("made.yaml").read_text())["components"]
    assert {"spread", "slow"} <= components["double"].keys() and "spread" not in components["numbers"]


def test_the_best_plan_is_written_and_runs(viper: Viper, known: Path) -> None:
    found = viper(
        "plan",
        "doubling",
        "--profile",
        str(known),
        "--optimize",
        "--cores",
        "2",
        "-O",
        "best.yaml",
        "--picture",
        "best.mmd",
    )
    assert found.exit_code == ExitCode.OK, found.output
    assert "no plan is predicted to be faster" in found.stdout
    assert "times as fast" in found.stdout
    assert Path("best.mmd").read_text().startswith("flowchart LR")
    said = yaml.safe_load(Path("best.yaml").read_text())
    assert set(said) >= {"viper.worker", "topology.workers", "viper.tasks"}
    ran = viper("run", "doubling", "--config", "best.yaml", "--quiet")
    assert ran.exit_code == ExitCode.OK, ran.output


def test_claims_are_planned_where_times_vary(viper: Viper, known: Path) -> None:
    told = yaml.safe_load(known.read_text())
    tasks = "-o", 'viper.tasks={"double": 2}', "-o", "viper.stateless=true"
    best = "plan", "doubling", *tasks, "--profile", str(known), "--optimize", "-w", "2"
    assert "double: dealt, as the profile has no spread of its times" in viper(*best).stdout
    told["components"]["double"] = {**told["components"]["double"], "spread": 35.0, "slow": 0.5, "ns": 1e5}
    known.write_text(yaml.safe_dump(told))
    found = viper(*best, "-O", "best.yaml")
    assert "double: claims, as tuples that take 1,000 times as long as most have 50%" in found.stdout
    assert json.loads(viper(*best, "--json").stdout)["sharing"]["double"]["claims"] is True
    assert yaml.safe_load(Path("best.yaml").read_text())["viper.sharing"] == {"double": "claims"}
    plan = json.loads(viper("plan", "doubling", "--config", "best.yaml", *tasks[2:], "--json").stdout)
    assert plan["claiming"] == ["double"]


@pytest.mark.parametrize("optimizer", ["best", "exact", "local", "counts", "rlas"])
def test_every_optimizer_is_there_by_name(viper: Viper, known: Path, optimizer: str) -> None:
    found = viper(
        "plan", "doubling", "--profile", str(known), "--optimizer", optimizer, "--json", "--workers", "2"
    )
    assert found.exit_code == ExitCode.OK, found.output
    assert json.loads(found.stdout)["predicted_per_s"] > 0


@pytest.mark.parametrize(
    ("optimizer", "instead"),
    [
        ("round-robin", "leave --optimizer out, and set viper.placement to round-robin"),
        ("first-fit", "take local, which finds faster plans"),
        ("random", "take local, which also begins at plans that are drawn"),
    ],
)
def test_a_planner_that_is_gone_says_what_to_take_instead(
    viper: Viper, known: Path, optimizer: str, instead: str
) -> None:
    found = viper("plan", "doubling", "--profile", str(known), "--optimizer", optimizer)
    assert found.exit_code == ExitCode.USAGE, found.output
    said = " ".join(found.stderr.split())
    assert f"'{optimizer}' was for comparison only: {instead}" in said


def test_a_planner_that_never_was_is_refused_with_those_that_are(viper: Viper, known: Path) -> None:
    found = viper("plan", "doubling", "--profile", str(known), "--optimizer", "quickest")
    assert found.exit_code == ExitCode.USAGE, found.output
    assert "'best', 'exact', 'local', 'counts', 'rlas'" in " ".join(found.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--optimize"], "--optimize needs --profile FILE: make one with viper profile"),
        (["--cores", "4"], "--cores needs --profile FILE"),
        (["--profile", "p.yaml", "-O", "best.yaml"], "--output needs --optimize"),
        (["--profile", "none.yaml"], "none.yaml: cannot be read"),
        (["--profile", "p.yaml"], "p.yaml: found nothing of component"),
    ],
)
def test_what_cannot_be_is_refused(viper: Viper, arguments: list[str], message: str) -> None:
    Path("p.yaml").write_text("topology: other\ncomponents: {other: {ns: 5}}\n")
    found = viper("plan", "doubling", *arguments)
    assert found.exit_code != ExitCode.OK
    assert message in found.stderr
