"""Components that print, and that have threads of their own."""

from __future__ import annotations

import logging
import sys
import threading
from typing import Any

import pytest

from tests.framework.runtime.pieces import bolt, built, listed, polled, run_built, spout


def test_what_is_printed_goes_to_the_components_log(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def process(self: Any, tup: Any) -> None:
        print("got", tup.values[0])
        print("no newline", end="")

    class Printing(bolt(process)):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            print("made")

    handler = logging.StreamHandler()
    caplog.set_level(logging.INFO)

    def initialize(self: Any, storm_conf: Any, context: Any) -> None:
        handler.setStream(sys.stdout)  # what logging.basicConfig(stream=sys.stdout) does
        self.logger.addHandler(handler)

    Printing.initialize = initialize
    try:
        run_built(built(listed([1]), Printing))
    finally:
        logging.getLogger("viperstorm.component.b1").removeHandler(handler)
    said = [(r.name, r.getMessage()) for r in caplog.records if "component" in r.name]
    assert ("viperstorm.component.b1", "got 1") in said
    assert "no newline" in [text for _, text in said]
    assert "made" in [text for _, text in said]
    out, err = capsys.readouterr()
    assert out == ""
    assert "got 1" in err


def test_a_thread_of_a_component_may_emit() -> None:
    def initialize(self: Any, storm_conf: Any, context: Any) -> None:
        self.thread = threading.Thread(target=talk, args=(self,))
        self.thread.start()

    def talk(self: Any) -> None:
        for number in range(30_000):
            self.emit([number])
            if number % 1000 == 0:
                self.emit([[number]])

    def tuples(self: Any) -> Any:
        while threads[0].is_alive():
            yield None

    threads: list[threading.Thread] = []
    talker = bolt(lambda self, tup: None, initialize=lambda *a: (initialize(*a), threads.append(a[0].thread)))
    report = run_built(built(spout(tuples), talker), viper__poll__pause__max__ms=1)
    rows = [row[0] for row in report.result("sink")]
    assert [value for value in rows if isinstance(value, int)] == list(range(30_000))
    assert [value for value in rows if isinstance(value, list)] == [[n] for n in range(0, 30_000, 1000)]
    assert report.components["b1"].unplanned == len(rows)


def test_a_thread_of_a_spout_may_emit() -> None:
    def next_tuple(self: Any) -> None:
        if not hasattr(self, "thread"):
            self.thread = threading.Thread(target=lambda: [self.emit([n]) for n in range(20_000)])
            self.thread.start()
        elif not self.thread.is_alive():
            raise StopIteration

    rows = run_built(built(polled(next_tuple))).result("sink")
    assert rows == [(n,) for n in range(20_000)]
