"""Progress: one changing line on a terminal, few plain ones elsewhere, never in the way of data."""

from __future__ import annotations

import io
import sys
from dataclasses import replace

import pytest

from framework.cli.progress import PLAIN_PERIOD_S, ProgressLine, can_animate
from framework.runtime import Progress
from framework.runtime.observation.statistics import LongCallback


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


def test_the_line_stays_away_until_the_line_of_data_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    line = ProgressLine(terminal, animated=True)
    with line.sharing():
        sys.stdout.write("half of")
        line.show(at(1.0))
        sys.stdout.write(" a line\n")
        assert terminal.getvalue() == "half of a line\n"
        line.show(at(2.0))
    assert terminal.getvalue().startswith("half of a line\n\r\x1b[K   2.0 s")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_hidden_line_is_neither_there_nor_shown() -> None:
    stream = Terminal()
    line = ProgressLine(stream, animated=True)
    line.show(at(1.0))
    with line.hidden():
        before = stream.getvalue()
        line.show(at(2.0))
    assert before.endswith("\r\x1b[K")
    assert stream.getvalue() == before


def test_what_is_waited_for_stands_before_the_counts() -> None:
    stream = Terminal()
    callbacks = [LongCallback("slow:2", "process", 12.3), LongCallback("slow:3", "process", 2.0)]
    progress = Progress(20.0, 10, 1_000, False, draining=True, callbacks=callbacks)
    ProgressLine(stream, animated=True).show(progress)
    assert (
        stream.getvalue().removeprefix("\r\x1b[K")
        == ("  20.0 s  draining  slow:2 has been in process for 12 s (and 1 more)  10 emitted  1,000")[:79]
    )


def test_a_run_that_has_not_begun_starts() -> None:
    stream = Terminal()
    line = ProgressLine(stream, animated=True)
    line.show(at(0.0))
    line.show(at(0.0))
    line.show(at(1.0, 100))
    assert stream.getvalue().split("\r\x1b[K")[1:] == [
        *["   0.0 s  starting"] * 2,
        "   1.0 s  10 emitted  100 processed  100/s",
    ]


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


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ([None, None], ""),
        ([0.1, 0.2], "  20%  8 s to go"),
        ([0.0, 0.002], "  0%  8 min 19 s to go"),
        ([0.5, 0.5], "  50%"),
        ([0.0, 1e-5], "  0%  27 h 46 min to go"),
    ],
)
def test_where_the_end_is_known_the_line_tells_it(shares: list[float | None], told: str) -> None:
    stream = Terminal()
    line = ProgressLine(stream, animated=True)
    for second, share in enumerate(shares):
        line.show(replace(at(1.0 + second, 1_000 * (1 + second)), share=share))
    assert stream.getvalue().rpartition("/s")[2] == told


def test_a_run_that_drains_is_not_measured_by_its_input() -> None:
    stream = Terminal()
    ProgressLine(stream, animated=True).show(replace(at(1.0), share=0.5, draining=True))
    assert "%" not in stream.getvalue()
