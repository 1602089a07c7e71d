"""Errors that Spark raises, reported in a line; without Spark."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from spark_ingest.engine.failing import LONGEST, short, understood, unlogged
from spark_ingest.errors import JobError, SparkError

pytest.importorskip("pyspark")


class Cause:
    """A Java exception, as the gateway shows it."""

    def __init__(self, said: str, cause: Cause | None = None) -> None:
        self.said, self.cause = said, cause

    def getCause(self) -> Cause | None:
        return self.cause

    def toString(self) -> str:
        return self.said


class Raised(Exception):
    java_exception: Cause


def test_the_innermost_cause() -> None:
    error = Raised("An error occurred while calling o31.sql.\n\tat org.apache")
    error.java_exception = Cause("outer", Cause("java.io.IOException: disk full\n\tat x", None))
    assert short(error) == "java.io.IOException: disk full"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[NOT_FOUND] No `t`. SQLSTATE: 42P01; line 1 pos 14;\n'Project [1]\n+- x",
            "[NOT_FOUND] No `t`. line 1 pos 14",
        ),
        ("", "ValueError"),
        ("a" * 1000, "a" * (LONGEST - 3) + "..."),
        (
            "\n  An exception was thrown from the Python worker.\nTraceback (most recent call last):\n"
            '  File "x.py", line 1, in f\n    int("a")\nValueError: no number\n',
            "ValueError: no number",
        ),
    ],
)
def test_the_first_line_or_what_python_raised(text: str, expected: str) -> None:
    assert short(ValueError(text)) == expected


def test_ours_and_the_user_s_pass_as_they_are() -> None:
    for error in (JobError("no column"), ZeroDivisionError("user's"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as raised, understood("the job"):
            raise error
        assert raised.value is error


def test_an_interrupt_is_not_told_as_what_tidying_up_after_it_met() -> None:
    from py4j.protocol import Py4JNetworkError

    with pytest.raises(KeyboardInterrupt), understood("the job"):
        try:
            raise KeyboardInterrupt
        finally:
            try:
                raise BrokenPipeError
            except BrokenPipeError:
                raise Py4JNetworkError("Answer from Java side is empty") from None


def test_spark_s_have_it_as_their_cause() -> None:
    from py4j.protocol import Py4JError

    error = Py4JError("gone")
    with pytest.raises(SparkError, match="the job failed in Spark: gone") as raised, understood("the job"):
        raise error
    assert raised.value.__cause__ is error


def test_what_is_raised_is_not_logged_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from py4j import java_gateway

    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with understood("the job"):
        with unlogged():
            java_gateway.logging.exception("broken")
        java_gateway.logging.info("broken")
        assert logging.getLogger("SQLQueryContextLogger").disabled
        assert logging.getLogger().handlers == []
    assert not logging.getLogger("SQLQueryContextLogger").disabled
    assert java_gateway.logging is logging


def test_threads_that_overlap_leave_nothing_behind() -> None:
    gateway, first, second = logging.getLogger("py4j.clientserver"), unlogged(), unlogged()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gateway.disabled
    second.__exit__(None, None, None)
    assert not gateway.disabled


def test_a_user_s_logging_can_be_set_up_within(monkeypatch: pytest.MonkeyPatch) -> None:
    root, handler = logging.getLogger(), logging.NullHandler()
    monkeypatch.setattr(root, "handlers", [])
    with understood("the job"):
        logging.basicConfig(handlers=[handler])
    assert root.handlers == [handler]


def test_loggers_stay_what_pyspark_needs_them_to_be() -> None:
    code = (
        "import logging\n"
        "from spark_ingest.engine.failing import unlogged\n"
        "with unlogged(): pass\n"
        "import pyspark.logger as theirs\n"
        "with unlogged(): pass\n"
        "for name in ('SQLQueryContextLogger', 'DataFrameQueryContextLogger'):\n"
        "    assert isinstance(logging.getLogger(name), theirs.PySparkLogger), name\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
