"""The live table, ``viper ps`` and ``viper top``: as text, and beside runs in processes of their own."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from framework.cli.exit_codes import ExitCode
from framework.cli.live_table import LiveTable, live_lines
from framework.cli.progress import StatusLine
from framework.cli.top import _Once, watch
from framework.model.errors import SuspendError
from framework.runtime.coordination.registry import known_runs
from framework.runtime.observation import TaskSnapshot, rates_between
from tests.framework.runtime.observation.test_observing import component, snapshot, tasks

Process = Callable[..., "subprocess.Popen[str]"]
Viper = Callable[..., Result]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))


class TestTable:
    """The table as lines."""

    BEFORE = snapshot(0, component("n", role="spout", tasks=tasks(0, 0)), component(tasks=tasks(0, 0)))
    NOW = snapshot(
        2,
        component("n", role="spout", emitted=3000, tasks=tasks(2, 0.5)),
        component(processed=2000, tasks=tasks(2, 1.0), fill=0.25, errors=3),
    )
    RATES = rates_between(BEFORE, NOW)

    def test_wide(self) -> None:
        assert live_lines(self.NOW, self.RATES, 100, 20) == [
            "component     /s  total  busy  blocked  idle  capacity  µs each  queue  errors",
            "n          1,500  3,000   25%       0%   75%      0.25    166.7      -       0",
            "split      1,000  2,000   50%       0%   50%      0.50    500.0    25%       3",
        ]

    def test_tuples_a_claim_of_those_that_claim(self) -> None:
        claimed = (TaskSnapshot(0, 0.5, 2.0, claims=3, claimed=20), TaskSnapshot(1, 0.5, 2.0, claims=1))
        now = snapshot(2, component("n", role="spout"), component(processed=20, tasks=claimed))
        head, spout, bolt = live_lines(now, {}, 160, 20)
        at = head.index("per claim")
        assert [line[at : at + 9].strip() for line in (spout, bolt)] == ["-", "5.0"]

    def test_what_waits_and_what_is_at_its_limit(self) -> None:
        told = (TaskSnapshot(0, 1.9, 2.0, waited_s=1.8),)
        before = snapshot(0, component("ask", tasks=tasks(0, 0)))
        now = snapshot(2, component("ask", processed=100, tasks=told))
        rates = rates_between(before, now)
        lines = live_lines(now, rates, 160, 20)
        assert lines[0].split()[:6] == ["component", "/s", "total", "busy", "waiting", "blocked"]
        assert lines[1].split()[3:5] == ["5%", "90%"]
        assert lines[2].startswith("bolt ask is at its limit, in its code for 95% of the time, waiting, not")
        assert len(live_lines(now, rates, 160, 2)) == 2

    @pytest.mark.parametrize("width", [1, 2, 10, 20, 35, 50, 60, 70, 78])
    def test_no_line_is_wider_than_the_terminal(self, width: int) -> None:
        lines = live_lines(self.NOW, self.RATES, width, 20)
        assert len(lines) == 3 and max(map(len, lines)) <= width

    def test_before_anything_is_known(self) -> None:
        assert live_lines(self.BEFORE, {}, 100, 20)[1].split()[:4] == ["n", "-", "0", "-"]

    @pytest.mark.parametrize("height", [1, 2, 3, 10])
    def test_more_components_than_lines(self, height: int) -> None:
        many = snapshot(1, *(component(f"c{number}" * 20) for number in range(2000)))
        lines = live_lines(many, {}, 60, height)
        assert len(lines) <= max(height, 2) and max(map(len, lines)) <= 60
        assert lines[-1] == f"... and {2000 - max(0, height - 2):,} more"

    def test_no_component(self) -> None:
        assert live_lines(snapshot(1), {}, 80, 20) == []

    def test_it_is_made_anew_now_and_then(self) -> None:
        looked = iter([self.BEFORE, self.NOW])
        table = LiveTable(lambda: next(looked))
        first = table.lines(1.0)
        assert table.lines(1.4) is first
        assert table.lines(1.5) != first


def test_one_look_has_averages_since_the_beginning(capsys: pytest.CaptureFixture[str]) -> None:
    """So have two, of which the second finds that the run has ended."""
    once = _Once()
    once.print()
    now = snapshot(12, component(processed=500, blocked_s=1.0, tasks=tasks(12, 2.0)), elapsed_s=10)
    once.take(now)
    once.print()
    first, _, row = capsys.readouterr().out.splitlines()
    assert first == "t  10.0 s  averages since the beginning"
    assert row.split()[:8] == ["split", "50", "500", "20%", "10%", "70%", "0.20", "4,000.0"]


def test_two_looks_have_what_went_on_in_between(capsys: pytest.CaptureFixture[str]) -> None:
    once = _Once()
    for at_s in (12, 13):
        once.take(snapshot(at_s, component(processed=100 * at_s, tasks=tasks(at_s, 2.0))))
    once.print()
    first, _, row = capsys.readouterr().out.splitlines()
    assert first == "t  13.0 s"
    assert row.split()[:3] == ["split", "100", "1,300"]


def test_before_the_spouts_are_activated_nothing_is_made_up(capsys: pytest.CaptureFixture[str]) -> None:
    once = _Once()
    once.take(snapshot(12, component(), elapsed_s=0))
    once.print()
    assert capsys.readouterr().out.splitlines()[0] == "t  0.0 s  starting  nothing to show yet"


def test_lines_below_are_removed_with_the_line() -> None:
    out = io.StringIO()
    line = StatusLine(out, animated=True)
    line.tell("a", 1.0, ["b", "c"])
    line.tell("d", 1.1)
    line.tell("e", 1.2)
    line.clear()
    assert out.getvalue() == "\r\x1b[Ka\nb\nc\r\x1b[2A\x1b[Jd\r\x1b[Ke\r\x1b[K"


class TestWatch:
    """Looking again and again, without a clock."""

    def test_until_the_run_ends(self) -> None:
        shown, waits = [], []
        looked = iter([1, 2])

        def look() -> int:
            for found in looked:
                return found
            raise SuspendError("it has ended")

        assert watch(look, shown.append, lambda: waits.append(1), None)  # type: ignore[arg-type]
        assert (shown, len(waits)) == ([1, 2], 2)

    def test_so_many_looks(self) -> None:
        shown: list[object] = []
        assert not watch(lambda: snapshot(1), shown.append, lambda: None, 3)
        assert len(shown) == 3

    def test_no_run_at_all(self) -> None:
        def look() -> None:
            raise SuspendError("none")

        with pytest.raises(SuspendError):
            watch(look, print, lambda: None, None)  # type: ignore[arg-type]


def run_of(process: Process, worker: str) -> subprocess.Popen[str]:
    running = process("run", "endless", "--worker", worker, "-q", "--report", "/dev/null")
    while not any(known.pid == running.pid for known in known_runs()) or not looked(running):
        assert running.poll() is None
    return running


def looked(running: subprocess.Popen[str]) -> bool:
    from framework.cli.top import looked_at
    from framework.runtime.coordination.registry import control_of

    try:
        return looked_at(control_of(str(running.pid))).components[1].processed > 0
    except SuspendError:
        return False


@pytest.mark.few(1)
@pytest.mark.parametrize("worker", ["process", "thread"])
def test_a_run_is_seen_from_outside(process: Process, viper: Viper, worker: str) -> None:
    running = run_of(process, worker)
    listed = json.loads(viper("ps", "--json").stdout)
    assert [each["pid"] for each in listed] == [running.pid]
    assert str(running.pid) in viper("ps").stdout
    seen = viper("top", str(running.pid), "--json", "--looks", "2", "--interval", "0.1")
    first, second = (json.loads(line) for line in seen.stdout.splitlines())
    counts = [[each["processed"] for each in look["components"]] for look in (first, second)]
    assert 0 < counts[0][1] <= counts[1][1]
    refused = viper("stop", "endless", "--checkpoint")
    assert refused.exit_code == ExitCode.FAILED
    assert "the run has no folder for checkpoints" in refused.stderr
    assert "viper.parallelism.max" in viper("scale", "endless", "double=2").stderr
    assert viper("stacks", "endless").exit_code == ExitCode.OK
    assert viper("stop", "endless").exit_code == ExitCode.OK
    running.communicate()
    assert running.returncode == ExitCode.OK
    for command in ("top", "stop", "stacks", "checkpoint"):
        gone = viper(command, "endless")
        assert gone.exit_code == ExitCode.FAILED and "no run 'endless' is going on" in gone.stderr
    assert json.loads(viper("ps", "--json").stdout) == []


@pytest.mark.slow(daily=True)
def test_a_run_is_killed_while_somebody_looks(process: Process, viper: Viper) -> None:
    running = run_of(process, "thread")
    top = process("top", str(running.pid), "--json", "--interval", "0.1")
    assert top.stdout is not None and top.stderr is not None
    assert json.loads(top.stdout.readline())["topology"] == "endless"
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert top.wait() == ExitCode.OK
    assert "the run has ended" in top.stderr.read()
    assert viper("ps").stdout.splitlines() == ["id  topology  since  folder"]


class TestTimes:
    """Percentiles have columns once anything was timed."""

    def test_of_tuples_since_the_snapshot_before(self) -> None:
        busy = TaskSnapshot(1, 0.0, 0.0, 1, ((40, 5),)), TaskSnapshot(1, 1.0, 2.0, 1, ((40, 14), (80, 1)))
        before, now = (snapshot(at, component(tasks=(task,))) for at, task in zip((0, 2), busy, strict=True))
        rates = rates_between(before, now)
        header, split = live_lines(now, rates, 120, 20)
        assert "p50 ms  p99 ms" in header
        assert split.split()[-3:-1] == ["1.0", "1,049"]
