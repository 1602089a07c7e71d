"""What Spark raises, told in a line; without Spark."""

from __future__ import annotations

import logging

import pytest

from spark_ingest.engine.failing import LONGEST, short, understood
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


def test_spark_s_have_it_as_their_cause() -> None:
    from py4j.protocol import Py4JError

    error = Py4JError("gone")
    with pytest.raises(SparkError, match="the job failed in Spark: gone") as raised, understood("the job"):
        raise error
    assert raised.value.__cause__ is error


def test_what_is_raised_is_not_logged_too() -> None:
    root = logging.getLogger()
    handlers, filters = list(root.handlers), list(root.filters)
    here, theirs = (logging.LogRecord("root", 40, path, 1, path, (), None) for path in ("x.py", "/py4j/y.py"))
    with understood("the job"):
        assert logging.getLogger("SQLQueryContextLogger").disabled
        assert root.filter(here)
        assert not root.filter(theirs)
        assert root.handlers
    assert not logging.getLogger("SQLQueryContextLogger").disabled
    assert (root.handlers, root.filters) == (handlers, filters)
