"""Logs, prints and reports of components arrive, and break nothing."""

from __future__ import annotations

import logging
from types import ModuleType
from typing import Any

import pytest

from framework.operators.components.component import LOGGER_PREFIX
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


ASKED = {
    "__import__('sys').stdout.encoding": "utf-8",
    "__import__('sys').stdout.errors": "strict",
    "__import__('sys').stdout.name": "<stdout>",
    "__import__('sys').stdout.mode": "w",
    "__import__('sys').stdout.closed": False,
    "__import__('sys').stdout.isatty()": False,
    "__import__('sys').stdout.writable()": True,
    "__import__('sys').stdout.readable()": False,
    "__import__('sys').stdout.flush()": None,
    "__import__('sys').stdout.fileno() == __import__('sys').stderr.fileno()": True,
    "__import__('sys').stdout.writelines(['one\\n', 'two\\n'])": None,
    "__import__('sys').stdout.buffer.write('trois \u00e9t\u00e9s\\n'.encode())": 13,
    "__import__('sys').stdout.buffer.raw.write(b'half\\xc3'), "
    "__import__('sys').stdout.buffer.write(b'\\xa9 and half\\n')": (5, 11),
    "__import__('sys').stdout.buffer.write(b'\\xff no text\\n')": 10,
    "__import__('sys').stdout.reconfigure(encoding='latin-1', errors='replace')": None,
    "__import__('sys').stdout.encoding, ": ("latin-1",),
    "__import__('sys').stdout.buffer.write(b'caf\\xe9\\n')": 5,
    "__import__('sys').stdout.reconfigure(encoding='utf-8', errors='strict')": None,
    "__import__('codecs').getwriter('utf8')(__import__('sys').stdout.buffer).write('coded \u00e9\\n')": None,
    "print('wrapper', file=__import__('io').TextIOWrapper(__import__('sys').stdout.buffer))": None,
    "print('on'), print('closed', __import__('sys').stdout.close(), end='\\n')": (None, None),
    "__import__('subprocess').run(['true'], stdout=__import__('sys').stdout).returncode": 0,
}
"""Expressions with their values: on Storm a component has its stdout to itself."""


@both
@everywhere
def test_stdout_does_what_pythons_does(
    workers: Workers, base: ModuleType, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO, LOGGER_PREFIX)
    report = workers.run(chain(base.Lists, base.Evaluates), rows=[[text] for text in ASKED])
    found = dict(zip(ASKED, (value for (value,) in report.result("sink")), strict=True))
    assert found == ASKED
    assert [text for _, text in said(caplog, "b1")] == [
        *("one", "two", "trois \u00e9t\u00e9s", "half\u00e9 and half", "\\xff no text", "caf\u00e9"),
        *("coded \u00e9", "wrapper", "on", "closed None"),
    ]
    assert capfd.readouterr().out == ""


@both
def test_stdout_may_be_detached_and_replaced(base: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    """As many a program does for Python 2's sake, or to have its text in UTF-8."""
    import io
    import sys

    caplog.set_level(logging.INFO, LOGGER_PREFIX)

    class Replaces(base.Bolt):  # type: ignore[misc,name-defined]
        outputs: Any = []

        def process(self, tup: Any) -> None:
            print("before", end="\n")
            sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding="utf-8", line_buffering=True)
            print("behind \u00e9")

    from framework import TopologyBuilder
    from tests.framework.runtime.pieces import listed, run_built

    before = sys.stdout
    builder = TopologyBuilder()
    builder.set_spout("source", listed([1]))
    builder.set_bolt("b1", Replaces).shuffle_grouping("source")
    run_built(builder)
    assert sys.stdout is before
    assert [text for _, text in said(caplog, "b1")] == ["before", "behind \u00e9"]


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
