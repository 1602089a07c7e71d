"""Plans that are run beside others: counted between two moments, compared, and told."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.planner import beside, by_itself, validate
from benchmarks.planner.beside import Measured, as_object, faster, lines, raced, to_default
from benchmarks.planner.candidates import DEFAULT, FOUND, Target, candidates
from benchmarks.planner.rates import Interval, interval, ratio
from benchmarks.planner.warm import Candidate, Moment, TooLittle, Warm, between
from framework.optimizer.costs import ComponentCost, Deployment, Profile, StreamCost
from framework.optimizer.profiling import Profiler, RunFailed, Sample, profiler
from framework.optimizer.profiling.profiler import Reference
from tests.benchmarks.planned import endless

HERE = Path(__file__).parent
TARGET = f"{HERE / 'planned.py'}:endless"
BRIEF = ["--plans", "2", "--runs", "1", "--warm-up", "0.2"]
PROFILE = Profile(
    {
        "numbers": ComponentCost(1000.0, {"default": StreamCost(1.0, 8.0)}),
        "slow": ComponentCost(4000.0, {"default": StreamCost(1.0, 8.0)}),
        "count": ComponentCost(100.0),
    }
)


def statistics(at_s: float, emitted: int, taken: int, cpu_s: float, decoded: int = 0) -> dict[str, Any]:
    spout = {"component": "spout", "task": 1, "worker": 1, "executor": 0, "cpu_s": cpu_s}
    bolt = {"component": "bolt", "task": 2, "worker": 2, "executor": 1, "cpu_s": 2 * cpu_s}
    given = {"task": "spout:1", "tuples": taken, "runs": taken, "jumbos": 1, "decoded": decoded}
    put = {"tasks": ["bolt:2"], "tuples": taken, "jumbos": 1, "encoded": decoded, "bytes": 8 * decoded}
    return {
        "executors": [{"number": 0, "at_s": at_s}, {"number": 1, "at_s": at_s}],
        "tasks": [
            {**spout, "emitted": {"default": emitted}, "inputs": [], "outputs": [put]},
            {**bolt, "emitted": {}, "inputs": [given], "outputs": []},
        ],
    }


def test_what_workers_have_told_is_a_rate_by_the_moments_that_it_is_of() -> None:
    before = Moment(10.0, statistics(9.95, 1_000, 900, 1.0, 900))
    after = Moment(12.0, statistics(11.45, 4_000, 4_900, 2.5, 4_900))
    sample = between(before, after)
    assert sample.elapsed_s == 2.0
    assert sample.brought == 4_000  # 3,000 in 1.5 s
    assert sample.processed["bolt"] == 4_000  # told by the channel, which tells at once
    assert sample.tasks["bolt:2"].decoded == {"spout/bolt": 4_000}
    assert sample.ways["spout/bolt"].bytes == 32_000
    assert sample.loads_ns() == pytest.approx({1: 500_000.0, 2: 1_000_000.0})


def test_a_worker_without_tuples_may_be_silent_but_none_with_a_spout() -> None:
    before, after = (
        Moment(at, statistics(at, emitted, 100, 1.0)) for at, emitted in ((10.0, 0), (11.0, 100))
    )
    after.statistics["executors"][1]["at_s"] = 10.0
    assert between(before, after).loads_ns()[2] == 0.0
    after.statistics["executors"][0]["at_s"] = 10.0
    with pytest.raises(TooLittle, match="spout:1 has told nothing"):
        between(before, after)


def test_the_interval_of_five_rounds() -> None:
    assert interval([1.0]) is None
    found = interval([8.0, 9.0, 10.0, 11.0, 12.0])
    assert found is not None
    half = 2.776 * math.sqrt(2.5 / 5)
    assert (found.low, found.high) == pytest.approx((10 - half, 10 + half))
    assert not Interval(1, 2).is_above(Interval(1, 1))
    assert Interval(1.1, 2).is_above(Interval(0, 1))


def test_a_ratio_goes_round_by_round() -> None:
    found = ratio([10.0, 100.0, 40.0], [5.0, 50.0, 20.0])
    assert found.mean == pytest.approx(2.0)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((2.0, 2.0))


def test_plans_are_compared_once_each_and_those_of_a_run_by_their_own_arguments() -> None:
    several = candidates(Target(endless(), {}, 2), PROFILE, "best", 5, seed=1)
    names = [name for one in several for name in one.name.split(", ")]
    assert names[0] == FOUND and len(names) == len(set(names))
    assert {DEFAULT, "--workers 2", "round-robin", "first-fit", "rlas", "random 1"} <= set(names)
    assert {"rlas-fix-l", "rlas-fix-u"} <= set(names)
    (default,) = (one for one in several if DEFAULT in one.name)
    assert default.given(2) == ()
    assert several[0].given(2)[0] == "-o"


class Played(Profiler):
    """Plans have the rates that their names say, a little more each time, and never run."""

    def measure(self, plan: Deployment) -> Sample:
        assert isinstance(plan, Candidate)
        self.__dict__["runs"] = self.__dict__.get("runs", 0) + 1
        brought = int(plan.name.split()[-1]) + self.__dict__["runs"] % 7
        return Sample({}, {}, {"spout": brought}, {}, {}, {}, 1.0)


def played(rates: Sequence[str], times: int, again: int | None = None) -> list[Measured]:
    plans = [Candidate({"spout": (0,)}, name, () if DEFAULT in name else None) for name in rates]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiler, "Reference", lambda: Reference(lambda: 1.0))  # always as fast
        found = raced(Played((), 1.0, 1), plans, times, again)
    return [Measured(plan, 1.0, of) for plan, of in zip(plans, found, strict=True)]


def test_a_plan_that_is_faster_is_told_and_one_that_is_slow_is_not_run_again() -> None:
    names = ["found 1000", f"{DEFAULT}, 500", "planted 1100", "same 1001", "slow 700"]
    measured = played(names, 5, again=2)
    assert [len(one.rates) for one in measured] == [5, 5, 5, 5, 1]
    assert [one.plan.name for one in faster(measured)] == ["planted 1100"]
    assert "faster than the plan that was found: planted 1100" in list(lines(measured))
    assert to_default(measured).mean == pytest.approx(2.0, rel=0.01)
    assert as_object("target", measured)["faster"] == ["planted 1100"]


def test_no_plan_is_faster_than_one_that_is_the_best() -> None:
    assert not faster(played(["found 1100", f"{DEFAULT}, 1100", "other 1000"], 5))
    assert not faster(played(["found 1000", f"{DEFAULT}, 1100"], 1))  # of one round nobody knows


@pytest.mark.slow
def test_a_plan_that_is_planted_is_measured_to_be_faster() -> None:
    measured = Warm(["run", TARGET], 0.3, 2, warm_up_s=0.2)
    bad = Candidate({"numbers": (0,), "slow": (0,), "count": (0,)}, FOUND)
    usual = Candidate(bad.tasks, DEFAULT, ())
    planted = Candidate({"numbers": (0,), "slow": (0,), "count": (0,)}, "planted", ("-o", "planted=1"))
    plans = [bad, usual, planted]
    rates = raced(measured, plans, 3, None)
    told = [Measured(plan, 1.0, of) for plan, of in zip(plans, rates, strict=True)]
    assert [one.plan.name for one in faster(told)] == ["planted"]


@pytest.mark.slow
def test_the_programs_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, kept = tmp_path / "beside.json", tmp_path / "profile.yaml"
    brief = [*BRIEF, "--counted", "0.3", "--random", "1", "--times", "2"]
    beside.main([TARGET, *brief, "--json", str(file), "--save", str(kept)])
    told = json.loads(file.read_text())
    assert all(len(plan["rates"]) == 2 and plan["predicted"] > 0 for plan in told["plans"])
    assert told["found_to_default"]["mean"] > 0
    assert "times as fast as the default" in capsys.readouterr().out
    validate.main([TARGET, *BRIEF, "--seconds", "0.3", "--others", "1", "--times", "1"])
    assert "tuples a second" in capsys.readouterr().out
    assert kept.read_text()


def test_an_input_that_ends_too_early_is_refused() -> None:
    brief = Warm(["run", TARGET, "-o", "numbers.count=10"], 1.0, 1, warm_up_s=0.5)
    with pytest.raises(RunFailed, match="ended"):
        brief.measure(Deployment({"numbers": (0,), "slow": (0,), "count": (0,)}))


@pytest.mark.slow(daily=True)
def test_runs_that_move_by_themselves_are_counted_beside_others(capsys: pytest.CaptureFixture[str]) -> None:
    by_itself.main([TARGET, "--warm-up", "0.2", "--counted", "0.5", "--times", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0].strip() for line in lines[1:]] == ["auto", "--workers 2", "as configured"]
    assert lines[1].endswith("auto is 1.00 times as fast")
