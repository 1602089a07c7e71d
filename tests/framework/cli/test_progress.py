"""Progress: one changing line on a terminal, few plain ones elsewhere, never in the way of data."""

from __future__ import annotations

import io
import sys

import pytest

from framework.cli.progress import PLAIN_PERIOD_S, ProgressLine, can_animate
from framework.runtime import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at(elapsed_s: float, processed: int = 0, done: bool = False) -> Progress:
    return Progress(elapsed_s, emitted=10, processed=processed, done=done)


def test_a_terminals_line_is_overwritten_and_gone_at_the_end() -> None:
    stream = Terminal()
    line = ProgressLine(stream, animated=True)
    line.show(at(1.0, 1_000))
    line.show(at(2.0, 3_500))
    line.show(at(2.1, 3_600, done=True))
    assert stream.getvalue().split("\r\x1b[K") == [
        "",
        "   1.0 s  10 emitted  1,000 processed  1,000/s",
        "   2.0 s  10 emitted  3,500 processed  2,500/s",
        "",
    ]


def test_a_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    ProgressLine(stream, animated=True).show(at(1.0))
    assert stream.getvalue() == "\r\x1b[K   1.0 s  10 emitted"[: 4 + 19]


def test_without_a_terminal_there_is_a_line_every_few_seconds() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, animated=False)
    for tenth in range(int(PLAIN_PERIOD_S * 25)):
        line.show(at(tenth / 10))
    line.show(at(PLAIN_PERIOD_S * 2.5, done=True))
    assert [text.split()[0] for text in stream.getvalue().splitlines()] == ["5.0", "10.0"]


def test_the_rate_is_that_of_the_last_seconds() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, animated=False)
    line.show(at(0.0, 0))
    line.show(at(4.0, 1_000_000))
    line.show(at(5.0, 1_000_100))
    assert stream.getvalue().rstrip().endswith(" 100/s")


def test_data_on_the_same_terminal_clears_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    line = ProgressLine(terminal, animated=True)
    with line.sharing():
        line.show(at(1.0))
        sys.stdout.writelines(["word\n", "another\n"])
    assert sys.stdout is terminal
    assert terminal.getvalue().endswith("/s\r\x1b[Kword\nanother\n")


def test_data_that_goes_elsewhere_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.StringIO()
    monkeypatch.setattr(sys, "stdout", data)
    with ProgressLine(Terminal(), animated=True).sharing():
        assert sys.stdout is data


@pytest.mark.parametrize(("term", "animated"), [("xterm", True), ("dumb", False)])
def test_only_a_terminal_that_can_is_animated(
    term: str, animated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    assert can_animate(Terminal()) is animated
    assert not can_animate(io.StringIO())
