"""A job's progress: one changing line on a terminal, gone at the end."""

from __future__ import annotations

import io
import sys

import pytest

from framework.cli.progress import StatusLine
from spark_ingest.cli.progress import shown_progress
from spark_ingest.engine.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_each_stage_and_is_clear_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with shown_progress(quiet=False) as show:
        assert show is not None
        show(Progress("starting"))
        show(Progress("writing", 1_000, 2_000))
    first, *shown = terminal.getvalue().split("\r\x1b[K")
    assert first == ""
    assert [text.partition(" s  ")[2] for text in shown] == [
        "starting Spark",
        "writing the streams: 1,000 of 2,000 tasks",
        "",
    ]


def test_it_is_clear_where_the_job_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(ZeroDivisionError), shown_progress(quiet=False) as show:
        assert show is not None
        show(Progress("counting"))
        raise ZeroDivisionError
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_who_wants_quiet_is_told_nothing() -> None:
    with shown_progress(quiet=True) as show:
        assert show is None


def test_without_a_terminal_a_long_silence_is_not_made_up_for() -> None:
    stream = io.StringIO()
    line = StatusLine(stream, animated=False)
    for elapsed_s in (1.0, 53.7, 54.0, 55.1):
        line.tell(f"at {elapsed_s}", elapsed_s)
    assert stream.getvalue() == "at 53.7\nat 55.1\n"
