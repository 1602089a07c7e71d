"""Lines of the log as text and as JSON."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from framework.operators.log.forms import JsonForm, TextForm
from framework.runtime.workers.messages import Forwarding
from tests.framework.operators.log.records import Kept, raised, record


def text(made: logging.LogRecord) -> str:
    return TextForm().format(made)


def parsed(made: logging.LogRecord) -> dict[str, Any]:
    line = JsonForm().format(made)
    assert "\n" not in line
    assert line.isascii()
    found: dict[str, Any] = json.loads(line)
    return found


class TestText:
    def test_a_line_says_when_how_bad_who_where_and_what(self) -> None:
        made = record("counted %d", 17, level=logging.INFO, task=4)
        made.created = datetime(2024, 5, 6, 19, 53, 2, 114_999).timestamp()
        made.process = 12034
        assert text(made) == "19:53:02.114 INFO    count:4 [12034] counted 17"

    @pytest.mark.parametrize(
        ("name", "task", "said"),
        [
            ("viperstorm.component.count", 4, "count:4 [1] hello"),
            ("viperstorm.component.count", None, "count [1] hello"),
            ("viperstorm.component.a.b", None, "a.b [1] hello"),
            ("viperstorm.worker", None, "viperstorm.worker [1] hello"),
            ("myapp", None, "myapp [1] hello"),
            ("myapp", 4, "myapp:4 [1] myapp: hello"),
        ],
    )
    def test_who_speaks(self, name: str, task: int | None, said: str) -> None:
        made = record("hello", name=name, task=task)
        made.process = 1
        assert text(made).endswith(f" WARNING {said}")

    def test_the_traceback_stands_below(self) -> None:
        first, *_, last = text(record("oops", error=raised(lambda: KeyError("tea")))).splitlines()
        assert first.endswith("oops")
        assert last == "KeyError: 'tea'"


class TestJson:
    def test_the_keys(self) -> None:
        made = record("counted %d", 17, level=logging.INFO, task=4)
        made.created = datetime(2024, 5, 6, 19, 53, 2, 114_250, UTC).timestamp()
        made.process = 12034
        assert parsed(made) == {
            "ts": "2024-05-06T19:53:02.114250+00:00",
            "level": "INFO",
            "logger": "viperstorm.component.count",
            "component": "count",
            "task": 4,
            "pid": 12034,
            "message": "counted 17",
        }

    def test_an_exception(self) -> None:
        found = parsed(record("oops", error=raised(lambda: KeyError("tea"))))
        assert (found["message"], found["error"]) == ("oops", "KeyError")
        assert re.match(r"Traceback \(most recent call last\):\n(.|\n)*KeyError: 'tea'$", found["traceback"])

    def test_an_exception_of_another_process_is_the_same(self) -> None:
        made, kept = record("oops %d", 3, error=raised(lambda: KeyError("tea")), task=4), Kept()
        Forwarding(kept.handle).handle(made)
        assert kept.records[0].exc_info is None
        assert parsed(kept.records[0]) == parsed(made)
        assert text(kept.records[0]) == text(made)

    @pytest.mark.parametrize(
        "message", ["two\nlines", "\x00\x1b[31m", "\ud800", 'a "quote" \\', "Grüße \U0001f600", 3, None]
    )
    def test_any_message_is_on_one_line(self, message: object) -> None:
        assert parsed(record(message))["message"] == str(message)

    def test_arguments_that_do_not_fit_are_shown(self) -> None:
        assert parsed(record("%d of %d", 1))["message"] == "'%d of %d' with arguments that do not fit: (1,)"
