"""Runs take turns, each in a process of its own that leaves nothing behind; their figures become medians."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.peers import __main__ as command
from benchmarks.peers import alternation, launching
from benchmarks.peers.alternation import Measured, best_of_each, measure
from benchmarks.peers.entries import Entry, bytewax, ours, plain
from benchmarks.peers.jobs import LAUNCHER, Job, Outcome, outcome_of
from benchmarks.peers.launching import Run, RunError, busy_seconds, interpreter, launch, reap
from benchmarks.peers.registry import Experiment
from benchmarks.peers.workloads import Expected
from benchmarks.processes import tree

RIGHT = Expected(units=1000, rows=10, digest=7, newest=7)
HERE = Path(sys.executable)


def run_of(seconds: float, *, rows: int = 10, delays: tuple[float, ...] = ()) -> Run:
    return Run(Outcome(seconds, rows, digest=7, newest=7, delays_us=delays), cpu_s=1.0, foreign_cores=0.25)


class TestAlternation:
    """With programs that are not run, but whose outcomes are given."""

    @pytest.fixture
    def launched(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
        """The programs that have been launched; true for those whose rows were to be inspected."""
        order: list[tuple[str, bool]] = []
        seconds = {"plain": iter([9.0, 1.0, 4.0, 2.0]), "ours": iter([9.0, 2.0, 2.5, 8.0])}

        def launch(program: str, python: Path, job: Job, timeout_s: float) -> Run:
            order.append((program, job.exact))
            if program not in seconds:
                raise RunError("it broke")
            return run_of(next(seconds[program]))

        monkeypatch.setattr(alternation, "launch", launch)
        monkeypatch.setattr(alternation, "expected_of", lambda workload, size, exact: RIGHT)
        monkeypatch.setattr(
            alternation, "interpreter", lambda program, _: None if program == "pathway" else HERE
        )
        return order

    def measured(self, *entries: Entry) -> dict[str, Measured]:
        experiment = Experiment("words", "Words", entries)
        found = measure(experiment, entries, rounds=3, quick=True, environments=Path(), say=lambda line: None)
        return {one.entry.program: one for one in found}

    def test_entries_are_checked_first_and_then_take_turns(self, launched: list[tuple[str, bool]]) -> None:
        found = self.measured(plain("words"), ours("tuples", "words"))
        assert launched == [("plain", True), ("ours", True), *[("plain", False), ("ours", False)] * 3]
        assert found["plain"].rates == [1000.0, 250.0, 500.0]
        assert found["plain"].rate == 500.0 and found["plain"].spread == (250.0, 1000.0)
        assert found["ours"].rate == 400.0 and found["ours"].foreign_cores == 0.25

    def test_one_that_fails_is_run_no_further(self, launched: list[tuple[str, bool]]) -> None:
        found = self.measured(plain("words"), *bytewax("words", 10))
        assert [program for program, _ in launched].count("bytewax") == 1
        assert found["bytewax"].trouble == "it broke" and found["bytewax"].rate is None
        assert found["plain"].rate == 500.0

    def test_a_peer_that_is_not_installed_is_skipped(self, launched: list[tuple[str, bool]]) -> None:
        found = self.measured(plain("words"), Entry("Pathway", "pathway", "words"))
        assert found["pathway"].trouble == "not installed: skipped"
        assert {program for program, _ in launched} == {"plain"}

    def test_a_run_with_other_rows_does_not_count(
        self, launched: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            alternation, "launch", lambda program, python, job, _: run_of(1.0, rows=10 if job.exact else 11)
        )
        (found,) = self.measured(plain("words")).values()
        assert found.trouble == "wrong result: 11 rows instead of 10"
        assert found.rate is None and len(found.runs) == 1


def test_the_best_setting_stands_for_its_system() -> None:
    slow, fast, broken = (Measured(entry, [run_of(1.0)]) for entry in bytewax("words", 10, 100, 1000))
    slow.rates, fast.rates, broken.rates, broken.trouble = [1.0], [3.0], [9.0], "wrong result"
    assert best_of_each([slow, fast, broken]) == [fast]


def test_the_best_setting_by_delays_has_the_least_at_the_99th_percentile() -> None:
    entries = [Entry("one", "ours", "latency", setting) for setting in "ab"]
    late, soon = (
        Measured(entry, [run_of(1.0, delays=(5.0, p99))], [1.0])
        for entry, p99 in zip(entries, (90, 80), strict=True)
    )
    assert best_of_each([late, soon]) == [soon]
    assert soon.delays_us == {"p50": 5.0, "p99": 80.0}


class TestLaunching:
    def test_a_run_has_an_outcome_and_a_cost(self, tmp_path: Path) -> None:
        run = launch("plain", HERE, Job("filter", 1000, str(tmp_path), exact=True), timeout_s=60)
        assert run.outcome.rows > 900 and run.outcome.seconds > 0
        assert 0 < run.cpu_s < 60 and run.foreign_cores >= 0

    def test_the_start_is_left_out_of_the_time_between_the_marks(self, tmp_path: Path) -> None:
        run = launch("plain", HERE, Job("filter", 1000, str(tmp_path), exact=True), timeout_s=60)
        assert 0 < run.outcome.cpu_s < run.cpu_s

    def test_processor_time_is_that_of_all_processes_of_the_job(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        burn = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
        job = Job("filter", 10, str(tmp_path))
        monkeypatch.setenv(LAUNCHER, str(os.getpid()))
        job.started()
        with subprocess.Popen([HERE, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            job.ended(job.tally())
            process.communicate(b"\n")
        assert outcome_of(job).cpu_s >= 0.3

    def test_a_program_that_fails_says_why(self, tmp_path: Path) -> None:
        job = Job("filter", 1000, str(tmp_path), options={"variant": "nothing"})
        with pytest.raises(RunError, match=r"ours: exit status 1: KeyError.*nothing"):
            launch("ours", HERE, job, timeout_s=60)

    def test_a_program_that_takes_too_long_is_killed(self, tmp_path: Path) -> None:
        with pytest.raises(RunError, match=r"plain: .* not at its end after 0.05 seconds"):
            launch("plain", HERE, Job("filter", 1000, str(tmp_path)), timeout_s=0.05)

    def test_what_a_program_leaves_behind_is_killed(self) -> None:
        launching.adopt_orphans()
        others = set(tree(os.getpid()))
        process = subprocess.Popen(["sh", "-c", "sleep 1000 & exit 0"])
        process.wait()
        reap(process, others, patience_s=0)
        assert set(tree(os.getpid())) <= others

    def test_marks_of_several_processes_make_one_outcome(self, tmp_path: Path) -> None:
        job = Job("filter", 10, str(tmp_path), exact=True)
        job.started()
        for part in range(2):
            tally = job.tally()
            tally.take(job.task.rows(10, part, 2))
            job.ended(tally)
        whole = job.tally()
        whole.take(job.task.rows(10))
        found = outcome_of(job)
        assert (found.rows, found.digest) == (10, whole.summary()["digest"])

    def test_a_run_that_never_began_is_none(self, tmp_path: Path) -> None:
        job = Job("filter", 10, str(tmp_path))
        job.ended(job.tally())
        with pytest.raises(ValueError, match="0 beginnings and 1 ends"):
            outcome_of(job)

    def test_delays_leave_out_the_warm_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("time.monotonic_ns", lambda: 1_000_000)
        job = Job("latency", 200, str(tmp_path), options={"warm_up_s": 0.005})
        job.started()
        tally = job.tally()
        tally.take([(0, 1, 0)] * 100 + [(0, 1, 1_000_000 - 1000 * late) for late in range(100)])
        job.ended(tally)
        assert outcome_of(job).delays_us == [50, 99]

    def test_processors_are_busy_except_for_idle_time_and_waiting(self) -> None:
        ticks = os.sysconf("SC_CLK_TCK")
        stat = "cpu  " + " ".join(str(ticks * seconds) for seconds in (1, 2, 4, 800, 1600, 8, 16, 32, 0, 0))
        assert busy_seconds(f"{stat}\ncpu0 1 2\n") == 63

    def test_a_peer_without_an_environment_has_no_interpreter(self, tmp_path: Path) -> None:
        assert interpreter("ours", tmp_path) == HERE
        assert interpreter("bytewax", tmp_path) is None

    def test_an_environment_without_the_peer_has_none_either(self, tmp_path: Path) -> None:
        python = tmp_path / "bytewax" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\nexit 1\n")
        python.chmod(0o755)
        assert interpreter("bytewax", tmp_path) is None


class TestCommand:
    def test_it_lists_what_there_is(self) -> None:
        result = CliRunner().invoke(command.main, ["--list", "-e", "words", "-s", "ViperStorm batches*"])
        assert result.exit_code == 0
        first, *names = result.output.splitlines()
        assert first.startswith("words: ") and names[0].strip() == "ViperStorm batches"
        assert all(name.startswith("    ViperStorm batches") for name in names)

    def test_pairs_are_listed_with_their_workloads(self) -> None:
        result = CliRunner().invoke(command.main, ["--list", "-e", "alike", "-s", "ViperStorm columns"])
        names = [line.strip() for line in result.output.splitlines()[1:]]
        assert names == [
            f"{work}: ViperStorm columns" for work in ("words", "filter", "width 100", "changes")
        ]

    def test_a_system_that_there_is_not_is_an_error(self) -> None:
        result = CliRunner().invoke(command.main, ["-s", "Storm"])
        assert result.exit_code == 2 and "no system is called like Storm" in result.output

    def test_a_wrong_result_of_ours_ends_it_with_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def measure(experiment: Experiment, entries: Sequence[Entry], **_: object) -> list[Measured]:
            return [Measured(entry, trouble="wrong result") for entry in entries]

        monkeypatch.setattr(command, "measure", measure)
        options = [f"--output={tmp_path}", "-e", "filter"]
        peers = CliRunner().invoke(command.main, [*options, "-s", "Pathway"])
        assert peers.exit_code == 0
        ours = CliRunner().invoke(command.main, [*options, "-s", "Pathway", "-s", "ViperStorm functions"])
        assert ours.exit_code == 1 and "ViperStorm functions: wrong result" in ours.output

    @pytest.mark.slow
    def test_it_writes_table_figure_and_runs(self, tmp_path: Path) -> None:
        options = ["--quick", "-e", "filter", "-s", "plain loop", "-s", "Bytewax", f"--output={tmp_path}"]
        result = CliRunner().invoke(command.main, [*options, f"--environments={tmp_path}"])
        assert result.exit_code == 0, result.output
        assert {path.name for path in tmp_path.iterdir()} == {"filter.md", "filter.svg", "filter.json"}
        assert "not installed: skipped" in (tmp_path / "filter.md").read_text()
