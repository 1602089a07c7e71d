"""Logs and prints of components come to the log of the process that runs the topology."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import ConsoleSink
from tests.framework.runtime.workers.components import Numbers
from tests.framework.runtime.workers.running import PROCESSES, Workers, every_kind
from tests.framework.runtime.workers.trouble import Prints, Talks

TALKING = "viperstorm.component.talks"


def talking() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[3])
    builder.set_bolt("talks", Talks).shuffle_grouping("source")
    builder.set_bolt("console", ConsoleSink).global_grouping("talks")
    return builder


@pytest.fixture
def levels() -> Iterator[None]:
    """Loggers have the levels that they had."""
    names = ("", TALKING, "some.package")
    before = {name: logging.getLogger(name).level for name in names}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def records(caplog: pytest.LogCaptureFixture, name: str) -> list[tuple[int, str]]:
    return [(r.levelno, r.getMessage()) for r in caplog.records if r.name == name]


@every_kind
def test_records_keep_their_level_name_and_traceback(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    workers.run(talking())
    said = records(caplog, TALKING)
    assert said[:3] == [
        (logging.INFO, "made"),
        (logging.INFO, "printed 0"),
        (logging.WARNING, "warned of 0"),
    ]
    assert said[-1] == (logging.INFO, "no newline")
    assert records(caplog, "some.package") == [(logging.INFO, f"uses {n}") for n in range(3)]
    (failed,) = [r for r in caplog.records if r.name == TALKING and r.levelno == logging.ERROR]
    assert "went on after 1" in caplog.text
    assert "in process\n    raise LookupError" in caplog.text
    assert "LookupError: no such number" in caplog.text
    assert failed.process == os.getpid() if workers.kind != "process" else failed.process != os.getpid()


@pytest.mark.usefixtures("levels")
@every_kind
def test_levels_are_those_of_the_parent(workers: Workers, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger=TALKING)
    logging.getLogger().setLevel(logging.INFO)
    logging.getLogger("some.package").setLevel(logging.WARNING)
    workers.run(talking())
    assert (logging.DEBUG, "debugged 2") in records(caplog, TALKING)
    assert records(caplog, "some.package") == []


@pytest.mark.usefixtures("levels")
@every_kind
def test_what_is_below_the_level_is_not_logged(workers: Workers, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger().setLevel(logging.WARNING)
    workers.run(talking())
    assert {level for level, _ in records(caplog, TALKING)} == {logging.WARNING, logging.ERROR}


@every_kind
def test_lines_of_tasks_that_print_at_the_same_time_stay_whole(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[200])
    for name in ("one", "two", "three"):
        builder.set_bolt(name, Prints).shuffle_grouping("source")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers.run(builder)
    finally:
        sys.setswitchinterval(before)
    for name in ("one", "two", "three"):
        lines = [f"{name} has {number}" for number in range(200)]
        assert records(caplog, f"viperstorm.component.{name}") == [(logging.INFO, line) for line in lines]


@every_kind
def test_stdout_is_for_rows(workers: Workers, capfd: pytest.CaptureFixture[str]) -> None:
    workers.run(talking())
    out, err = capfd.readouterr()
    assert out == "0\n1\n2\n"
    assert "printed" not in err  # nobody has set up a log


@every_kind
def test_rows_of_several_consoles_stay_whole(workers: Workers, capfd: pytest.CaptureFixture[str]) -> None:
    count = 20_000
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("console", ConsoleSink, 3).shuffle_grouping("source")
    workers.run(builder)
    out, _ = capfd.readouterr()
    assert sorted(out.splitlines()) == sorted(f"0\t{number}" for number in range(count))


def test_what_cannot_be_carried_of_a_record_ends_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    PROCESSES.run(talking(), log__lock=True)
    out, err = capfd.readouterr()
    assert out == "0\n1\n2\n"
    assert "Logging error" in err
    assert "pickle" in err
