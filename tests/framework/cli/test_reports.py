"""The report of a run: what it counts, and that its file is never there in part."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from framework.cli.exit_codes import ExitCode
from framework.cli.reports import ReportFile, report_json
from framework.runtime import RunReport, RunStatistics, StopReason

Viper = Callable[..., Result]
Process = Callable[..., "subprocess.Popen[str]"]
KINDS = ["inline", "thread", "process"]


def reported(viper: Viper, *arguments: str) -> dict[str, Any]:
    result = viper("run", "doubling", "--report", "report.json", *arguments)
    assert result.exit_code == ExitCode.OK, result.output
    report: dict[str, Any] = json.loads(Path("report.json").read_text())
    return report


def test_a_result_by_keys_that_are_no_text_is_told() -> None:
    counted = {(1, "a"): 2, None: {(0.5, ("b",)): [{date(2020, 1, 2): 3}]}, 4: 5}
    report = RunReport("t", "event", StopReason.EXHAUSTED, 1.0, 0, {}, {"sink": (counted,)}, True,
                       RunStatistics((), ()))  # fmt: skip
    told = {'[1, "a"]': 2, "null": {'[0.5, ["b"]]': [{"2020-01-02": 3}]}, "4": 5}
    assert json.loads(report_json(report))["results"] == {"sink": [told]}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_acked_for_a_bolt_is_counted(kind: str, viper: Viper) -> None:
    components = reported(viper, "--worker", kind)["components"]
    assert {name: counts["acked"] for name, counts in components.items()} == {
        "numbers": 0,
        "double": 10,
        "console": 10,
    }


def test_the_summary_does_not_repeat_that_everything_was_acked(viper: Viper) -> None:
    assert "acked" not in viper("run", "doubling").stderr


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_printed_is_no_part_of_the_counts(kind: str, viper: Viper) -> None:
    plain = reported(viper, "--worker", kind)
    printed = reported(viper, "--worker", kind, "--print", "double", "--print", "numbers")
    for counts in (*printed["components"].values(), *plain["components"].values()):
        del counts["costs"]
    assert printed["components"] == plain["components"]
    processed = sum(counts["processed"] for counts in printed["components"].values())
    assert processed == 20
    assert printed["rate"] == pytest.approx(processed / printed["elapsed_s"])


def test_the_summary_of_a_run_that_prints_is_that_of_one_that_does_not(viper: Viper) -> None:
    result = viper("run", "doubling", "--print", "double")
    assert "20 tuples processed" in result.stderr
    assert "tap" not in result.stderr


class TestFile:
    @pytest.mark.few(1)
    @pytest.mark.parametrize("before", [None, "what stood there before"])
    def test_a_killed_run_leaves_what_was_there(
        self, before: str | None, process: Process, project: Path
    ) -> None:
        path = project / "report.json"
        if before is not None:
            path.write_text(before)
        running = process("run", "stuck", "--report", "report.json")
        assert running.stdout is not None
        assert running.stdout.readline() == "stuck\n"
        running.kill()
        running.wait()
        assert (path.read_text() if path.exists() else None) == before
        assert [found.name for found in project.iterdir() if "report" in found.name] == [path.name] * bool(
            before
        )

    def test_a_new_one_may_be_read_as_the_umask_says_and_an_old_one_as_before(self, tmp_path: Path) -> None:
        new, old = tmp_path / "new.json", tmp_path / "old.json"
        old.touch(0o600)
        before = os.umask(0o022)
        try:
            for path in (new, old):
                ReportFile(str(path)).write("{}")
        finally:
            os.umask(before)
        assert [stat.S_IMODE(path.stat().st_mode) for path in (new, old)] == [0o644, 0o600]

    def test_a_link_stays_one(self, tmp_path: Path) -> None:
        link, file = tmp_path / "link.json", tmp_path / "file.json"
        link.symlink_to(file)
        ReportFile(str(link)).write("{}")
        assert (link.is_symlink(), file.read_text()) == (True, "{}")

    def test_a_pipe_is_written_to(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            ReportFile(str(pipe)).write("{}")
            assert os.read(reader, 10) == b"{}"
        finally:
            os.close(reader)
        assert pipe.is_fifo()

    def test_a_folder_is_refused(self, tmp_path: Path, viper: Viper) -> None:
        assert viper("run", "doubling", "--report", str(tmp_path)).exit_code == ExitCode.USAGE

    def test_a_full_disk_leaves_the_old_one_and_nothing_beside_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "report.json"
        path.write_text("before")

        def full(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(click.ClickException, match=r"cannot write the report .*: No space left"):
            ReportFile(str(path)).write("{}")
        assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [
            ("report.json", "before")
        ]
