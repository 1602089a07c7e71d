"""The promises of transactional sinks at checkpoints, and their refusals."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework.model.errors import InternalError, SinkError
from framework.operators.sinks import JsonLinesSink
from framework.operators.sinks.transactional import checkpoint_of, end_number, is_end, rows_of
from tests.framework.operators.sinks.driven import SINKS, begun, held, rows_between, taken

every_sink = pytest.mark.parametrize("kind", SINKS)
WITHOUT_WAY_BACK = ["sqlite", "sqlite by key", "sqlalchemy", "sqlalchemy by key", "own"]


def whole(kind: str, folder: Path) -> Any:
    """Write two epochs in one run, and read the target."""
    folder.mkdir()
    sink = taken(kind, folder, None, 1, 2)
    sink.finish()
    sink.close()
    return held(folder, kind)


@every_sink
def test_a_second_complete_changes_nothing(kind: str, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None, 1)
    sink.complete(1)
    sink.consume(rows_between(10, 20))
    sink.complete(1)
    sink.cut(2)
    sink.cut(2)
    sink.complete(1)
    sink.complete(2)
    sink.complete(2)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@every_sink
def test_cuts_of_a_checkpoint_that_was_given_up_belong_to_the_next(kind: str, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None)
    for epoch, first in enumerate((0, 4, 10), 1):
        sink.consume(rows_between(first, (4, 10, 20)[epoch - 1]))
        sink.cut(epoch)
    sink.complete(3)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@every_sink
def test_rows_behind_the_checkpoint_come_again(kind: str, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None, 1)
    sink.consume(rows_between(10, 17))
    sink.cut(2)  # whose manifest was not written
    sink.consume(rows_between(17, 20))
    sink.close()
    sink = taken(kind, tmp_path, 1, 2)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@every_sink
def test_what_was_cut_is_applied_when_the_run_goes_on(kind: str, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None, 1)
    sink.consume(rows_between(10, 20))
    sink.cut(2)
    sink.close()
    sink = taken(kind, tmp_path, 2)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@pytest.mark.parametrize("kind", WITHOUT_WAY_BACK)
def test_an_older_checkpoint_is_refused(kind: str, tmp_path: Path) -> None:
    taken(kind, tmp_path, None, 1, 2).close()
    before = held(tmp_path, kind)
    with pytest.raises(
        SinkError, match=r"checkpoint 2 have been applied.*from checkpoint 1.*applied twice: go on"
    ):
        taken(kind, tmp_path, 1)
    assert held(tmp_path, kind) == before


@pytest.mark.parametrize("kind", sorted(SINKS.keys() - set(WITHOUT_WAY_BACK)))
@pytest.mark.parametrize("finished", [False, True])
def test_files_go_back_to_an_older_checkpoint(kind: str, finished: bool, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None, 1, 2, 3, 4)
    if finished:
        sink.finish()
    sink.close()
    sink = taken(kind, tmp_path, 1, 2)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@every_sink
def test_another_target_is_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(
        SinkError, match=r"tested/sink/0: the run goes on from checkpoint 3, but nothing is applied"
    ):
        taken(kind, tmp_path, 3)
    (tmp_path / "other").mkdir()
    sink = taken(kind, tmp_path / "other", None, 1)
    sink.close()
    with pytest.raises(
        SinkError, match=r"but only rows up to checkpoint 1 is applied|checkpoint 1 .*not staged in"
    ):
        taken(kind, tmp_path / "other", 3)


def test_complete_without_a_cut_is_a_mistake_of_ours(tmp_path: Path) -> None:
    sink = taken("sqlite", tmp_path, None)
    with pytest.raises(InternalError, match="checkpoint 1 is complete, and was never cut"):
        sink.complete(1)
    sink.cut(1)
    sink.consume(rows_between(0, 1))
    with pytest.raises(InternalError, match="is there already, and 1 rows have come since"):
        sink.cut(1)


@pytest.mark.parametrize("kind", ["sqlite", "sqlalchemy"])
@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 3), (3, 2), (2, 5)])
def test_tables_do_not_care_how_many_tasks_write(kind: str, before: int, after: int, tmp_path: Path) -> None:
    def tasks(number: int, last: int | None) -> list[Any]:
        sinks = [begun(SINKS[kind](tmp_path), index=index, tasks=number) for index in range(number)]
        for sink in sinks:
            sink.resume(last)
        return sinks

    first = tasks(before, None)
    for n, row in enumerate(rows_between(0, 20)):
        first[n % before].consume([row])
    for sink in first:
        sink.cut(1)
    first[0].complete(1)  # the others are killed before
    for sink in first:
        sink.close()
    for last, rows in ((1, rows_between(20, 40)), (2, rows_between(40, 60))):
        sinks = tasks(after, last)
        for n, row in enumerate(rows):
            sinks[n % after].consume([row])
        for sink in sinks:
            sink.cut(last + 1)
            sink.complete(last + 1)
        for sink in sinks:
            sink.close()
    assert sorted(held(tmp_path, kind)) == sorted(rows_between(0, 60))


def test_files_want_the_same_number_of_tasks(tmp_path: Path) -> None:
    taken("json", tmp_path, None, 1).close()
    sink = begun(SINKS["json"](tmp_path), index=1, tasks=2)
    with pytest.raises(SinkError, match="nothing is applied there"):
        sink.resume(1)


def test_each_task_has_a_file(tmp_path: Path) -> None:
    for index in range(2):
        sink = begun(JsonLinesSink(str(tmp_path / "out.jsonl")), index=index, tasks=2, eager=True)
        sink.resume(None)
        sink.consume(rows_between(index, index + 1))
        sink.apply_and_finish()
        sink.close()
    assert sorted(os.listdir(tmp_path)) == ["out-0000.jsonl", "out-0001.jsonl"]
    assert (tmp_path / "out-0001.jsonl").read_text() == '{"word": "w1", "n": 1}\n'


class TestEnd:
    """A run that has come to its end is final: what it has applied may come again, and nothing else."""

    def ended(self, folder: Path, kind: str) -> None:
        sink = taken(kind, folder, None, 1)
        sink.consume(rows_between(10, 15))
        sink.cut(2)  # of a checkpoint that never was
        sink.consume(rows_between(15, 17))
        sink.apply_and_finish()
        sink.close()

    @every_sink
    def test_the_same_rows_are_left_out(self, tmp_path: Path, kind: str) -> None:
        self.ended(tmp_path, kind)
        expected = held(tmp_path, kind)
        sink = taken(kind, tmp_path, 1)
        sink.consume(rows_between(10, 17))
        sink.apply_and_finish()
        sink.close()
        assert held(tmp_path, kind) == expected

    @every_sink
    def test_more_rows_are_refused(self, tmp_path: Path, kind: str) -> None:
        self.ended(tmp_path, kind)
        expected = held(tmp_path, kind)
        sink = taken(kind, tmp_path, 1)
        sink.consume(rows_between(10, 17))
        with pytest.raises(SinkError, match="with 7 rows behind checkpoint 1, and more have come"):
            sink.consume(rows_between(17, 18))
        with pytest.raises(SinkError, match="and more have come"):
            sink.apply_and_finish()
        sink.close()
        assert held(tmp_path, kind) == expected

    @every_sink
    def test_rows_left_out_by_a_run_that_stopped_in_between_count(self, tmp_path: Path, kind: str) -> None:
        self.ended(tmp_path, kind)
        sink = taken(kind, tmp_path, 1)
        sink.consume(rows_between(10, 14))
        sink.cut(2)
        sink.complete(2)
        sink.close()
        sink = taken(kind, tmp_path, 2)
        sink.consume(rows_between(14, 17))
        with pytest.raises(SinkError, match="and more have come"):
            sink.consume(rows_between(17, 18))
        sink.close()

    @every_sink
    def test_rows_before_a_checkpoint_that_nobody_told_of_count(self, tmp_path: Path, kind: str) -> None:
        """It was there, and the run came to its end before its sink heard that it is whole."""
        self.ended(tmp_path, kind)
        expected = held(tmp_path, kind)
        sink = taken(kind, tmp_path, 2)
        sink.consume(rows_between(15, 17))
        with pytest.raises(SinkError, match="with 7 rows behind checkpoint 1, and more have come"):
            sink.consume(rows_between(17, 18))
        sink.close()
        sink = taken(kind, tmp_path, 2)
        sink.consume(rows_between(15, 17))
        sink.apply_and_finish()
        sink.close()
        assert held(tmp_path, kind) == expected

    def test_too_many_rows_are_not_counted(self) -> None:
        number = end_number(7, 1 << 40)
        assert is_end(number) and checkpoint_of(number) == 7 and rows_of(number) is None

    @pytest.mark.parametrize("rows", [0, 1, 2**31 - 2])
    def test_a_number_tells_checkpoint_and_rows(self, rows: int) -> None:
        number = end_number(2**31 - 1, rows)
        assert (checkpoint_of(number), rows_of(number)) == (2**31 - 1, rows)
        assert 2**31 < number < 2**63 and not is_end(2**31 - 1)
