"""``viper run``: data on stdout, messages on stderr, an end to every run."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from framework.cli.choices import Choices
from framework.cli.exit_codes import ExitCode

Viper = Callable[..., Result]
Process = Callable[..., "subprocess.Popen[str]"]

DOUBLED = "".join(f"{2 * number}\n" for number in range(10))


def test_stdout_is_what_the_sink_writes_and_stderr_the_summary(process: Process) -> None:
    out, err = process("run", "doubling").communicate()
    assert out == DOUBLED
    assert "doubling: done after" in err
    assert "20 tuples processed" in err


def test_quiet_says_nothing(viper: Viper) -> None:
    result = viper("run", "doubling", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (ExitCode.OK, DOUBLED, "")


def test_any_stream_can_be_printed(viper: Viper) -> None:
    printed = viper("run", "doubling", "-q", "--print", "numbers", "--print", "numbers/default").stdout
    assert sorted(map(int, printed.split())) == sorted([*range(10), *map(int, DOUBLED.split())])


def test_what_cannot_be_printed_is_refused(viper: Viper) -> None:
    result = viper("run", "doubling", "--print", "nunbers")
    assert (result.exit_code, result.stdout) == (ExitCode.INVALID, "")
    assert "did you mean 'numbers'?" in result.stderr


def test_no_escape_codes_without_a_terminal(process: Process) -> None:
    out, err = process("run", "endless", "--max-tuples", "50000").communicate()
    assert "\x1b" not in out + err
    assert "\r" not in out + err


def test_options_reach_the_components(viper: Viper) -> None:
    assert viper("run", "doubling", "-q", "-o", "numbers=2").stdout == "0\n2\n"


def test_a_seed_draws_the_order_of_tasks_and_changes_nothing(viper: Viper) -> None:
    assert viper("run", "doubling", "-q", "--seed", "7").stdout == DOUBLED


def test_max_tuples_ends_an_endless_topology(viper: Viper) -> None:
    result = viper("run", "endless", "--max-tuples", "5")
    assert result.exit_code == ExitCode.OK
    assert result.stdout == "2\n" * 5
    assert "enough tuples after" in result.stderr


@pytest.mark.parametrize("option", ["--duration", "--time", "-t"])
def test_a_duration_ends_an_endless_topology(viper: Viper, option: str) -> None:
    result = viper("run", "endless", option, "0.05")
    assert result.exit_code == ExitCode.OK
    assert "time is up after" in result.stderr


@pytest.mark.parametrize("time", ["0", "-1"])
def test_no_time_or_less_runs_on_as_for_sparse(viper: Viper, time: str) -> None:
    result = viper("run", "doubling", "-t", time)
    assert result.exit_code == ExitCode.OK
    assert "doubling: done after" in result.stderr


@pytest.mark.parametrize(
    ("flags", "target", "debug"),
    [
        (["-d"], "doubling", True),
        (["-d", "true"], "doubling", True),
        (["-d", "TRUE"], "doubling", True),
        (["--debug=true"], "doubling", True),
        (["--debug", "false"], "doubling", False),
        (["--debug=False"], "doubling", False),
        (["-d", "false"], "doubling", False),
        (["-qd"], "doubling", True),
        ([], "doubling", None),
    ],
)
def test_debug_may_be_said_as_for_sparse(
    flags: list[str], target: str, debug: bool | None, viper: Viper, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []

    def open_target(target: str, choices: Choices) -> Any:
        found.append((target, choices.options.get("topology.debug")))
        raise click.Abort

    monkeypatch.setattr("framework.cli.run.open_target", open_target)
    for command in (["run", *flags, target], ["run", target, *flags]):
        viper(*command)
    assert found == [(target, debug)] * 2


def test_what_stands_behind_two_dashes_is_a_target(viper: Viper) -> None:
    assert "no topology 'true'" in viper("run", "-d", "--", "true").stderr


def test_the_report_is_json(viper: Viper, project: Path) -> None:
    result = viper("run", "doubling", "--report", "report.json")
    assert result.stdout == DOUBLED
    report = json.loads((project / "report.json").read_text())
    assert report["reason"] == "exhausted"
    assert report["components"]["double"]["processed"] == 10
    assert report["rate"] > 0


def test_json_prints_the_report_after_the_data(viper: Viper) -> None:
    result = viper("run", "doubling", "--json")
    assert json.loads(result.stdout.removeprefix(DOUBLED))["components"]["numbers"]["emitted"] == 10


def test_prints_and_logs_of_components_go_to_stderr(viper: Viper) -> None:
    result = viper("run", "talkative", "-q", "-o", "numbers=1")
    assert result.stdout == "0\n"
    assert re.search(r"INFO    double:2 \[\d+\] printed 0$", result.stderr, re.MULTILINE)
    assert "debugged" not in result.stderr


@pytest.mark.parametrize("level", ["debug", "double=debug"])
def test_the_log_level_may_be_set_for_all_or_for_one(viper: Viper, level: str) -> None:
    result = viper("run", "talkative", "-q", "-o", "numbers=1", "--log-level", level)
    assert re.search(r"DEBUG   double:2 \[\d+\] debugged 0$", result.stderr, re.MULTILINE)


@pytest.mark.parametrize(
    ("level", "message"),
    [("loud", "unknown level 'loud': expected trace, debug"), ("dobule=debug", "did you mean 'double'?")],
)
def test_a_wrong_log_level_is_refused(viper: Viper, level: str, message: str) -> None:
    result = viper("run", "talkative", "--log-level", level)
    assert result.exit_code == ExitCode.USAGE
    assert message in result.stderr


def test_a_breakpoint_in_a_component_talks_through_stderr(process: Process) -> None:
    running = process("run", "inspected", "-q", "-o", "numbers=1")
    out, err = running.communicate("p tup.values\ncontinue\n")
    assert out == "0\n"
    assert "(Pdb) NumbersDefaultTuple(number=0)" in err


def test_ported_components_that_share_an_interpreter_are_warned_of(viper: Viper) -> None:
    viper("init", "--template", "streamparse", "ported")
    result = viper("run", "-q", "--max-tuples", "5", "--worker", "inline", "ported/topologies/wordcount.py")
    assert result.exit_code == ExitCode.OK
    (warning,) = result.stderr.splitlines()
    assert warning.startswith("ported/topologies/wordcount.py")
    assert "here they share one interpreter" in warning
    assert warning.endswith(": words, count")


class TestTargetsThatAreLeftOut:
    def test_the_name_says_which_file_as_for_sparse(self, viper: Viper) -> None:
        assert viper("run", "-q", "-n", "doubling").stdout == DOUBLED

    def test_the_only_topology_is_taken(self, viper: Viper, project: Path) -> None:
        for path in (project / "topologies").iterdir():
            if path.stem != "doubling":
                path.unlink()
        assert viper("run", "-q").stdout == DOUBLED

    def test_of_several_one_must_be_named(self, viper: Viper) -> None:
        result = viper("run")
        assert result.exit_code == ExitCode.USAGE
        assert "name the topology to use: found topologies/broken.py, topologies/doubling.py" in result.stderr


class TestFailures:
    def test_what_a_component_raises_is_shown_from_its_own_code_on(self, viper: Viper) -> None:
        result = viper("run", "broken", "-q")
        assert result.exit_code == ExitCode.FAILED
        assert 'parts.py", line ' in result.stderr
        assert "bolt_task.py" not in result.stderr
        assert (
            "error: component 'double', task 2, in process: ZeroDivisionError: no such number"
            in result.stderr
        )

    def test_debug_shows_the_whole_traceback(self, viper: Viper) -> None:
        for arguments in (("run", "broken", "-q", "-d"), ("--debug", "run", "broken", "-q")):
            assert "bolt_task.py" in viper(*arguments).stderr

    def test_an_invalid_topology_does_not_start(self, viper: Viper) -> None:
        result = viper("run", "wrong")
        assert (result.exit_code, result.stdout) == (ExitCode.INVALID, "")
        assert "unknown field 'nubmer'" in result.stderr
        assert "did you mean 'viper.jumbo.size'?" in result.stderr

    def test_options_without_a_value_are_a_usage_error(self, viper: Viper) -> None:
        result = viper("run", "doubling", "-o", "viper.seed")
        assert result.exit_code == ExitCode.USAGE
        assert "expected key=value" in result.stderr

    def test_an_unknown_kind_of_worker_is_named(self, viper: Viper) -> None:
        result = viper("run", "doubling", "--worker", "inlien")
        assert result.exit_code == ExitCode.INVALID
        assert "option -o: viper.worker" in result.stderr

    def test_a_report_that_cannot_be_written_is_refused_before_the_run(self, viper: Viper) -> None:
        result = viper("run", "doubling", "--report", "no/such/folder.json")
        assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")


class TestSignals:
    @pytest.mark.few(1)
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_the_first_signal_drains(self, process: Process, number: signal.Signals) -> None:
        running = process("run", "endless")
        assert running.stdout is not None
        assert running.stdout.readline() == "2\n"
        running.send_signal(number)
        out, err = running.communicate()
        assert running.returncode == ExitCode.OK
        assert set(out.splitlines()) <= {"2"}  # it may have come before the second tuple
        assert "interrupted after" in err
        assert "Traceback" not in err

    def test_a_callback_that_does_not_return_cannot_outlive_the_drain(self, process: Process) -> None:
        running = process("run", "stuck", "-t", "0.1", "-o", "viper.drain.timeout.secs=0.1")
        out, err = running.communicate(timeout=60)
        assert (running.returncode, out) == (ExitCode.FAILED, "stuck\n")
        assert "not drained" in err
        assert "Traceback" not in err

    def test_the_second_signal_stops_at_once(self, process: Process) -> None:
        running = process("run", "stuck")
        assert running.stdout is not None
        assert running.stdout.readline() == "stuck\n"
        # Signals that come together count as one, so they are sent until the process has ended.
        for _ in range(600):
            running.send_signal(signal.SIGINT)
            try:
                running.wait(timeout=0.1)
                break
            except subprocess.TimeoutExpired:
                continue
        _, err = running.communicate()
        assert running.returncode == ExitCode.STOPPED
        assert "stopped at once" in err
        assert "Traceback" not in err


def test_a_reader_that_goes_away_ends_the_run_without_a_word(process: Process) -> None:
    running = process("run", "endless", "-q")
    assert running.stdout is not None
    assert running.stdout.readline() == "2\n"
    running.stdout.close()
    assert running.stderr is not None
    assert running.stderr.read() == ""
    assert running.wait() == ExitCode.BROKEN_PIPE
