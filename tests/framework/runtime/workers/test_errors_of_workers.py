"""Errors in a worker are reported as if they had been raised here."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import ComponentError, WorkerError
from framework.model.tracebacks import of_user_code
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.components import Numbers, Rows
from tests.framework.runtime.workers.conftest import Viper
from tests.framework.runtime.workers.running import INLINE, THREADS, Workers, every_kind, several
from tests.framework.runtime.workers.trouble import (
    Broken,
    ExitsInClose,
    Hungry,
    LastWords,
    MarkedSink,
    Whole,
)
from tests.framework.runtime.workers.values import (
    LogsHandle,
    Measures,
    NoResult,
    ResultsInHandle,
    Unpicklable,
)


def broken(during: str = "") -> TopologyBuilder:
    """Source on worker 1, ``whole`` on 2, ``broken`` on 3, the sink on 1."""
    builder = TopologyBuilder()
    builder.set_spout("source", Rows, args=[[[n] for n in range(50)]])
    builder.set_bolt("whole", Whole).shuffle_grouping("source")
    builder.set_bolt("broken", Broken, args=[during]).shuffle_grouping("whole")
    builder.set_bolt("sink", MarkedSink).global_grouping("broken")
    return builder


def closed(marks: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in marks.iterdir()}


@pytest.mark.parametrize("during", ["__init__", "initialize", "process", "close"])
@every_kind
def test_an_error_names_component_task_and_callback(workers: Workers, during: str, marks: Path) -> None:
    with pytest.raises(ComponentError, match=f"no such thing in {during}") as caught:
        workers.run(broken(during), broken__in=during, marks=str(marks))
    error = caught.value
    assert (error.component, error.task, error.during) == ("broken", 1, during)
    text = "".join(of_user_code(error.__cause__))
    assert "trouble.py" in text
    assert 'raise LookupError(f"no such thing in' in text or 'raise LookupError("no such thing in' in text
    assert "LookupError: no such thing" in text
    assert "runtime/bolt_task.py" not in text


@pytest.mark.parametrize("during", ["initialize", "process", "close"])
@every_kind
def test_all_that_were_begun_are_closed(workers: Workers, during: str, marks: Path) -> None:
    with pytest.raises(ComponentError):
        workers.run(broken(), broken__in=during, marks=str(marks))
    one_by_one = workers.kind == "inline" and during == "initialize"
    assert closed(marks) == ({"broken"} if one_by_one else {"whole", "broken", "sink"})


@several
def test_what_fails_in_close_on_top_of_another_failure_is_noted_in_a_line(
    workers: Workers, marks: Path, caplog: pytest.LogCaptureFixture
) -> None:
    builder = broken()
    builder.set_bolt("also", Broken, config={"broken.in": "close"}).shuffle_grouping("source")
    with pytest.raises(ComponentError, match="in process") as caught:
        workers.run(builder, broken__in="process", marks=str(marks))
    line = "and then: component 'also', task 1, in close: LookupError: no such thing in close"
    assert caught.value.__notes__ == [line]
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


@several
def test_the_first_that_fails_in_close_is_raised_and_the_others_are_noted(
    workers: Workers, marks: Path
) -> None:
    builder = broken()
    builder.set_bolt("also", Broken).shuffle_grouping("source")
    with pytest.raises(ComponentError, match="in close") as caught:
        workers.run(builder, broken__in="close", marks=str(marks))
    (line,) = caught.value.__notes__
    found = {caught.value.component, line.removeprefix("and then: component ").split(",")[0].strip("'")}
    assert found == {"also", "broken"}


@pytest.mark.few(1)
@every_kind
def test_the_command_line_shows_the_cause_first_and_then_a_line_for_each_close(
    viper: Viper, workers: Workers, marks: Path
) -> None:
    _, err = viper("broken_twice", "-q", workers=workers, marks=marks).communicate()
    assert err.count("Traceback") == 1
    traceback, _, rest = err.partition("error: ")
    assert "LookupError: no such thing in process" in traceback
    first, *lines = rest.splitlines()
    assert first.startswith("component 'middle', task ")
    notes = [line for line in lines if "and then" in line]
    assert lines[-2:] == notes
    for line in notes:
        assert line.startswith("  and then: component 'last'")
        assert line.endswith(", in close: LookupError: no such thing in close")


@every_kind
def test_a_component_without_memory_is_named(workers: Workers) -> None:
    with pytest.raises(ComponentError, match=r"task 1, in process: MemoryError") as caught:
        workers.run(ending_in(Hungry))
    assert (caught.value.component, caught.value.task) == ("sink", 1)


@pytest.mark.few(1)
@several
def test_the_command_line_shows_the_users_code_first(viper: Viper, workers: Workers, marks: Path) -> None:
    out, err = viper("broken", "-q", workers=workers, broken__in="process", marks=marks).communicate()
    lines = err.splitlines()
    assert (out, lines[0]) == ("", "Traceback (most recent call last):")
    assert "trouble.py" in lines[1]
    assert "bolt_task.py" not in err
    said = "error: component 'middle', task 2, in process: LookupError: no such thing in process"
    assert lines[-2] == said
    assert "values=SourceDefaultTuple(source='0', number=0)" in lines[-1]


def ending_in(last: type[Bolt]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[10])
    builder.set_bolt("sink", last).global_grouping("source")
    return builder


def test_threads_hand_over_any_result() -> None:
    assert callable(THREADS.run(ending_in(Unpicklable)).result("sink"))


@pytest.mark.parametrize(
    ("workers", "last", "message"),
    [
        (Workers("process", 2), Unpicklable, "cannot be carried out of its worker process"),
        (Workers("process", 2), ResultsInHandle, "LookupError: a handle of another process"),
        (Workers("process", 2), NoResult, "LookupError: no result"),
        (THREADS, NoResult, "LookupError: no result"),
        (INLINE, NoResult, "LookupError: no result"),
    ],
    ids=str,
)
def test_a_result_that_cannot_be_had_is_named(workers: Workers, last: type[Bolt], message: str) -> None:
    with pytest.raises(ComponentError, match=message) as caught:
        workers.run(ending_in(last))
    assert (caught.value.component, caught.value.task, caught.value.during) == ("sink", 1, "result")


@every_kind
def test_a_metric_is_what_it_was_when_it_was_reported(workers: Workers) -> None:
    assert workers.run(ending_in(Measures)).components["sink"].metrics == {"list": [1]}


@every_kind
def test_a_metric_that_no_process_could_read_is_refused(workers: Workers) -> None:
    with pytest.raises(ComponentError, match=r"in process: EmitError: cannot carry <unlocked .*lock"):
        workers.run(ending_in(Measures), bad__at=5)


def test_a_record_that_cannot_be_read_here_is_an_error_of_its_worker() -> None:
    with pytest.raises(
        WorkerError, match=r"^worker process 2 .*sent what cannot be read here: LookupError: a h"
    ):
        Workers("process", 2).run(ending_in(LogsHandle))


def test_threads_of_a_component_may_end_in_peace(marks: Path) -> None:
    Workers("process", 2).run(ending_in(LastWords), marks=str(marks))
    assert [path.name for path in marks.iterdir()] == [f"sink-1-summed up {sum(range(2_000_000))}"]


def test_a_process_that_dies_while_it_closes_is_no_success() -> None:
    with pytest.raises(WorkerError, match=r"worker process 2 .*sink:1\) ended with status 3"):
        Workers("process", 2).run(ending_in(ExitsInClose))


@several
def test_results_of_sinks_need_not_be_plain(workers: Workers) -> None:
    rows: list[list[Any]] = [[{"a": [1, {2}]}], [None]]
    builder = TopologyBuilder()
    builder.set_spout("source", Rows, args=[rows])
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    assert workers.run(builder).result("sink") == [tuple(row) for row in rows]
