"""One batch bolt at a time, through the module for users' own tests."""

from __future__ import annotations

from typing import Any

import pytest

from framework import BatchBolt, RowError, Rows, Stream
from framework.model.errors import ComponentError, EmitError
from framework.testing import TICK, BoltRun, run_bolt

pa = pytest.importorskip("pyarrow")


class Words(BatchBolt):
    """Emits the words of each line, and notes how many rows each call had."""

    outputs = ["word"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.calls: list[int] = []

    def process_rows(self, rows: Rows) -> None:
        self.calls.append(len(rows))
        words = [(index, word) for index, (line,) in enumerate(rows) for word in line.split()]
        self.emit_rows([[word] for _, word in words], of=[index for index, _ in words])

    def process_tick(self, tup: Any) -> None:
        self.emit(["tick"])


LINES = [["a b"], ["c"], [""], ["d e"], ["f"]]


@pytest.mark.parametrize(("most", "calls"), [(None, [5]), (2, [2, 2, 1]), (1, [1] * 5)])
def test_the_size_of_batches_makes_no_difference(most: int | None, calls: list[int]) -> None:
    run = run_bolt(Words, LINES, most_rows=most)
    assert run.emitted() == [(word,) for word in "abcdef"]
    assert run.acked == [tuple(line) for line in LINES]
    assert run.component.calls == calls


def test_ticks_come_between_batches() -> None:
    run = run_bolt(Words, [["a"], ["b"], TICK, ["c"]])
    assert run.emitted() == [("a",), ("b",), ("tick",), ("c",)]
    assert run.component.calls == [2, 1]


class Halves(BatchBolt):
    """Emits half of each number, as columns; an odd one is refused."""

    outputs = [Stream(["half"], schema={"half": "int64"}), Stream(["n"], name="seen")]
    exit_on_exception = False

    def process_rows(self, rows: Rows) -> None:
        numbers = rows.numpy("n")
        odd = (numbers % 2).nonzero()[0]
        good = range(odd[0] if len(odd) else len(rows))
        self.emit_rows([rows[index] for index in good], of=good, stream="seen")
        self.emit_rows({"half": numbers[: len(good)] // 2}, of=good)
        if len(odd):
            raise RowError(len(good), ValueError(f"{rows[len(good)][0]} is odd"))


def halves(*numbers: Any, most_rows: int | None = None) -> BoltRun:
    return run_bolt(Halves, [[number] for number in numbers], schema={"n": "int64"}, most_rows=most_rows)


@pytest.mark.parametrize("most", [None, 1, 3])
def test_columns_and_a_row_that_cannot_be_processed(most: int | None) -> None:
    run = halves(2, 4, 5, 6, 8, most_rows=most)
    assert run.emitted() == [(1,), (2,), (3,), (4,)]
    assert run.emitted("seen") == [(2,), (4,), (6,), (8,)]
    assert run.acked == [(2,), (4,), (6,), (8,)]
    assert run.failed == [(5,)]
    assert "n=5" in run.logs[-1].getMessage()


def test_values_have_the_types_of_the_schema() -> None:
    with pytest.raises(EmitError, match="field 'n'"):
        halves(2, "4")


def test_an_error_of_the_whole_batch_reaches_the_test() -> None:
    class Broken(BatchBolt):
        outputs = ["x"]

        def process_rows(self, rows: Rows) -> None:
            raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        run_bolt(Broken, LINES)


class Latest(BatchBolt):
    """Passes numbers on, and keeps the last ones, or a copy."""

    keeps_columns = False
    outputs = [Stream(schema={"n": "int64"})]

    def __init__(self, copies: bool) -> None:
        super().__init__()
        self._copies = copies

    def process_rows(self, rows: Rows) -> None:
        self.latest = rows.numpy("n").copy() if self._copies else rows.numpy("n")
        self.emit_rows(rows.batch())


def test_a_bolt_that_keeps_what_it_declares_not_to_keep_is_found_out() -> None:
    run = run_bolt(Latest(copies=True), [[1], [2]], schema={"n": "int64"})
    assert (run.emitted(), run.component.latest.tolist()) == ([(1,), (2,)], [1, 2])
    with pytest.raises(ComponentError, match=r"attribute 'latest' has a numpy\.ndarray of field 'n'"):
        run_bolt(Latest(copies=False), [[1], [2]], schema={"n": "int64"})
