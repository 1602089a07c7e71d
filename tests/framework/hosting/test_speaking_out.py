"""What components log, print and report arrives, and breaks nothing."""

from __future__ import annotations

import logging
from types import ModuleType
from typing import Any

import pytest

from framework.components.component import LOGGER_PREFIX
from tests.framework.hosting.kinds import both, chain, everywhere
from tests.framework.runtime.workers.running import Workers

LEVELS = {
    "trace": "DEBUG",
    "debug": "DEBUG",
    "info": "INFO",
    "warn": "WARNING",
    "warning": "WARNING",
    "error": "ERROR",
    "what": "INFO",
    None: "INFO",
}


def said(caplog: pytest.LogCaptureFixture, component: str) -> list[tuple[str, str]]:
    name = f"{LOGGER_PREFIX}.{component}"
    return [(r.levelname, r.getMessage()) for r in caplog.records if r.name == name]


@both
@everywhere
def test_every_way_to_log_and_report(
    workers: Workers, base: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER_PREFIX)
    options = {"rows": [["x"]], "pystorm__log__level": "trace"}
    report = workers.run(chain(base.Lists, base.Speaks), **options)
    assert report.result("sink") == [("went on",)]
    lines = said(caplog, "b1")
    for level, name in LEVELS.items():
        assert (name, f"by log: {level}") in lines
    assert ("INFO", "['no', 'text']") in lines
    assert any(text == "by log: critical" for _, text in lines)
    for method in ("debug", "info", "warning", "error"):
        assert (method.upper(), f"by logger: {method}") in lines
    counters = report.components["b1"]
    assert (counters.metrics, counters.errors) == ({"any name: at all/1": {"nested": [2]}}, 2)
    assert "ValueError: reported" in caplog.text


@both
@everywhere
def test_what_is_printed_goes_to_the_log(
    workers: Workers, base: ModuleType, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO, LOGGER_PREFIX)
    assert workers.run(chain(base.Lists, base.Prints), rows=[["x"]]).result("sink") == [("x",)]
    lines = [text for _, text in said(caplog, "b1")]
    assert [line for line in lines if "in __" not in line] == [
        "printed in initialize",
        "printed in",
        "process",
        "written without an end",
    ]
    assert "printed in __init__" in caplog.messages
    assert capfd.readouterr().out == ""


@both
@everywhere
def test_an_undeclared_emit_is_warned_of_once_with_the_line_to_add(
    workers: Workers, base: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    from framework import TopologyBuilder

    builder = TopologyBuilder()
    builder.set_spout("source", base.Lists)
    builder.set_bolt("b1", base.Undeclared).shuffle_grouping("source")
    report = workers.run(builder, rows=[["x"], ["y"]])
    (warning,) = [text for level, text in said(caplog, "b1") if level == "WARNING"]
    assert warning.endswith('add to its class: outputs = ["field1", "field2"]')
    assert report.components["b1"].undeclared == report.components["b1"].processed == 2


def test_what_is_no_message_is_told_and_harmless(streamparse: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Odd(streamparse.Bolt):
        outputs = ["value"]

        def process(self, tup: Any) -> None:
            self.send_message(["not", "a", "dict"])
            self.send_message({"command": "sync"})
            self.send_message({"pid": 1})
            self.emit(["went on"])

    from tests.framework.runtime.pieces import listed, run_built

    assert run_built(chain(listed([1]), Odd)).result("sink") == [("went on",)]
    assert "non dict message to Storm: ['not', 'a', 'dict']" in caplog.text
