"""Components outside of a topology: in the style of streamparse's unit tests, and by mistake."""

from __future__ import annotations

import logging
from collections.abc import Callable
from io import BytesIO
from typing import Any
from unittest import mock

import pytest

from framework import BatchingBolt, Bolt, ReliableSpout, Spout, Tuple


class Count(Bolt):
    outputs = ["word", "count"]

    def initialize(self, conf: Any, ctx: Any) -> None:
        self.counts: dict[str, int] = {}

    def process(self, tup: Any) -> None:
        (word,) = tup.values
        self.counts[word] = self.counts.get(word, 0) + 1
        self.emit([word, self.counts[word]])
        self.log(f"{word}: {self.counts[word]}", level="warn")


TUPLE = Tuple(id="1", component="words", stream="default", task=2, values=("dog",))


def test_a_bolt_with_its_emit_replaced() -> None:
    bolt = Count(input_stream=BytesIO(), output_stream=BytesIO())
    bolt.initialize({}, {})
    bolt.emit = mock.Mock()  # type: ignore[method-assign]
    bolt.process(TUPLE)
    bolt.process(TUPLE)
    assert bolt.emit.mock_calls == [mock.call(["dog", 1]), mock.call(["dog", 2])]


def test_a_bolt_whose_class_is_patched() -> None:
    bolt = Count(output_stream=BytesIO())
    bolt.initialize({}, {})
    with mock.patch.object(Bolt, "emit", autospec=True) as emit:
        bolt.process(TUPLE)
    emit.assert_called_once_with(bolt, ["dog", 1])


def test_it_logs_like_any_logger(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    bolt = Count()
    for level in (None, "trace", "warn", "error", "no such level"):
        bolt.log(f"{level} %s", level)
    bolt.logger.warning("%s", "by the logger")
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "None %s"),
        ("DEBUG", "trace %s"),
        ("WARNING", "warn %s"),
        ("ERROR", "error %s"),
        ("INFO", "no such level %s"),
        ("WARNING", "by the logger"),
    ]


CALLS: dict[str, Callable[[], Any]] = {
    "a bolt's emit": lambda: Count().emit(["dog", 1]),
    "ack": lambda: Count().ack(TUPLE),
    "fail": lambda: Count().fail(TUPLE),
    "report_metric": lambda: Count().report_metric("n", 1),
    "raise_exception": lambda: Count().raise_exception(ValueError("x")),
    "a batching bolt's emit": lambda: BatchingBolt().emit([1]),
    "a spout's emit": lambda: Spout().emit([1]),
    "a reliable spout's emit": lambda: ReliableSpout().emit([1], tup_id=1),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_nobody_would_receive_says_how_to_test(call: str) -> None:
    with pytest.raises(RuntimeError, match=r"not part of a running topology.*run it with framework\.testing"):
        CALLS[call]()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: Bolt().process(TUPLE), r"Bolt must define process\(self, tup\)"),
        (lambda: Spout().next_tuple(), r"Spout must define next_tuple\(self\) or tuples\(self\)"),
        (
            lambda: BatchingBolt().process_batch(None, []),
            r"BatchingBolt must define process_batch\(self, key, tups\)",
        ),
    ],
)
def test_a_hook_that_must_be_defined(call: Callable[[], Any], expected: str) -> None:
    with pytest.raises(NotImplementedError, match=expected):
        call()
