"""The signals of commands that start Spark; without Spark."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import click
import pytest

from framework.cli.exit_codes import ExitCode
from spark_ingest.cli import sessions
from spark_ingest.cli.sessions import spark_commands
from spark_ingest.errors import SparkError

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_stops_and_those_after_it_let_it_tidy_up(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    before, tidied = [signal.getsignal(each) for each in SIGNALS], []
    with pytest.raises(click.exceptions.Exit) as ended, spark_commands("out"):
        try:
            os.kill(os.getpid(), number)
        finally:
            for each in SIGNALS:
                os.kill(os.getpid(), each)
            tidied.append("all")
    assert tidied == ["all"]
    assert ended.value.exit_code == ExitCode.STOPPED
    assert capsys.readouterr().err == "error: stopped; out is as it was\n"
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_where_that_takes_long_java_is_killed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what fails because of that is no error of its own."""
    killed: list[bool] = []
    monkeypatch.setattr(sessions, "PATIENCE_S", -1.0)
    monkeypatch.setattr(sessions, "kill_java", lambda: killed.append(True) or True)
    with pytest.raises(click.exceptions.Exit), spark_commands("out"):
        try:
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            raise SparkError("Java was killed")
    assert killed == [True]
    assert capsys.readouterr().err == "error: stopped; out is as it was\n"


def test_what_was_done_already_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    with pytest.raises(click.exceptions.Exit), spark_commands(folder):
        folder.mkdir()
        os.kill(os.getpid(), signal.SIGINT)
    assert capsys.readouterr().err == f"error: stopped; {folder} was done already, and is new\n"


def test_what_is_moved_aside_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(click.exceptions.Exit), spark_commands(folder):
        folder.rename(tmp_path / ".out.1.old")
        os.kill(os.getpid(), signal.SIGINT)
    said = capsys.readouterr().err
    assert said.startswith(f"error: stopped; {folder} is not there: ")
    assert said.endswith("beside it, under a name that begins with .out\n")


def test_of_a_url_nothing_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.exceptions.Exit), spark_commands("hdfs:///out"):
        os.kill(os.getpid(), signal.SIGINT)
    assert capsys.readouterr().err == "error: stopped\n"


def test_without_a_signal_an_error_is_itself() -> None:
    with pytest.raises(SparkError, match="it failed"), spark_commands("out"):
        raise SparkError("it failed")
