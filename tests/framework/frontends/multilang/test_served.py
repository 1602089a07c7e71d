"""Components of ours, served as programs: their logs, prints and errors, acks and batches."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.frontends.multilang.as_programs import as_programs
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from tests.framework.frontends.multilang.pieces import run_topology
from tests.framework.frontends.multilang.served import (
    Awaits,
    Closes,
    FailsOnce,
    Fragile,
    GivesUp,
    Numbers,
    Polled,
    Raises,
    Repeats,
    Retries,
    Talks,
    Timer,
    Together,
)


def served(spout: type[Spout], bolt: type[Bolt], *args: Any, **options: Any) -> RunReport:
    """Run ``spout -> bolt -> sink``, the first two as programs."""
    builder = TopologyBuilder()
    config = {key.replace("__", "."): value for key, value in options.items()}
    builder.set_spout("spout", spout, args=args)
    builder.set_bolt("bolt", bolt, config=config).shuffle_grouping("spout")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return run_topology(as_programs(builder.build("t")).topology)


def test_everything_that_a_component_says_is_in_its_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    report = served(Numbers, Talks, 1)
    assert report.result("sink") == [("",)]
    assert report.components["bolt"].metrics == {"seen": 5}
    said = {(r.levelname, r.getMessage()) for r in caplog.records if r.name == "viperstorm.component.bolt"}
    assert said == {
        ("INFO", "printed"),
        ("INFO", "by a thread"),
        ("INFO", "written"),  # which goes to stderr
        ("INFO", "on stderr"),
        ("WARNING", "logged"),
        ("ERROR", "by log"),
    }


def test_the_level_is_the_configured_one(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    served(Numbers, Talks, 1, topology__debug=True)
    assert ("DEBUG", "not logged") in {(r.levelname, r.getMessage()) for r in caplog.records}


def test_a_bolt_that_survives_what_it_raises(caplog: pytest.LogCaptureFixture) -> None:
    report = served(Numbers, Raises, 6)
    assert report.result("sink") == [(0,), (2,), (3,), (5,)]
    counters = report.components["bolt"]
    assert (counters.acked, counters.failed, counters.errors) == (4, 2, 2)
    assert "ValueError: no 4" in caplog.text


def test_a_bolt_with_coroutine_functions_takes_one_tuple_after_the_other() -> None:
    report = served(Numbers, Awaits, 6)
    assert report.result("sink") == [(number,) for number in range(6)]
    counters = report.components["bolt"]
    assert (counters.acked, counters.failed) == (3, 3)


def test_a_bolt_that_does_not(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ComponentError) as error:
        served(Numbers, GivesUp, 6)
    assert "has ended with exit status 1" in str(error.value)
    assert "it has reported: ValueError raised while processing" in str(error.value)
    assert "ValueError: no 1" in str(error.value)


def test_a_bolt_that_cannot_begin() -> None:
    with pytest.raises(ComponentError, match="RuntimeError: not today") as error:
        served(Numbers, Fragile)
    assert error.value.during == "initialize"


def test_acks_and_fails() -> None:
    rows = served(Retries, FailsOnce).result("sink")
    assert sorted(rows) == [(number, times) for number in range(3) for times in (1, 2)]


def test_batches_by_a_timer_are_due_at_heartbeats() -> None:
    """Here at each, and there is one after each tuple."""
    assert served(Polled, Timer).result("sink") == [([number],) for number in range(10)]


def test_a_batch_bolt_gets_one_row_at_a_time(caplog: pytest.LogCaptureFixture) -> None:
    """Tuples that it has emitted in a call that raises are not emitted."""
    report = served(Together, Repeats)
    expected = [(-1, 0)] + [(n, nth) for n in (2, 1, 10) for nth in range(n)]
    assert report.result("sink") == expected
    counters = report.components["bolt"]
    assert (counters.acked, counters.failed, counters.errors) == (4, 2, 2)
    assert "ValueError: no 11" in caplog.text
    assert "ValueError: no 12" in caplog.text


def test_a_component_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "closed"
    served(Numbers, Closes, 1, file=str(file))
    assert file.read_text() == "closed"
