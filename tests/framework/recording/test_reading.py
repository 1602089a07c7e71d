"""Recordings as they are read: in order, whatever the plan of the run was, and refused if they are none."""

from __future__ import annotations

import dataclasses
import json
import pickle
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from framework.recording import Recording, RecordingError, TickKind
from framework.recording.header import from_json, header_of, to_json
from framework.recording.writing import CHUNK_BYTES
from tests.framework.recording.pieces import (
    HandRun,
    emission,
    plan_of,
    position,
    positioned,
    positions_of,
    recorded_run,
)
from viper.position import LEAST


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return recorded_run(tmp_path / "run.viper", plan_of(2, 2, 3))


def test_what_a_component_emitted_comes_in_the_order_of_positions(recorded: Path) -> None:
    with Recording(recorded) as recording:
        found = list(recording.tuples("count"))
    assert [t.position for t in found] == sorted(t.position for t in found)
    assert [t.values for t in found] == [
        *(("a", 1), ("b", 1), ("a", 2), ("b", 2)),
        *(("c", 1), ("a", 3), ("b", 3), ("c", 2), ("c", 3), ("a", 4)),
    ]
    assert {t.task for t in found} == {1, 2, 3}


@pytest.mark.parametrize("par", [(2, 1, 1), (2, 4, 1), (2, 1, 5), (2, 3, 3)])
def test_it_does_not_depend_on_the_plan(recorded: Path, tmp_path: Path, par: tuple[int, int, int]) -> None:
    other = recorded_run(tmp_path / "other.viper", plan_of(*par))
    with Recording(recorded) as a, Recording(other) as b:
        for component in ("lines", "split", "count"):
            assert positioned(a.tuples(component)) == positioned(b.tuples(component))


def test_streams_are_told_apart(recorded: Path) -> None:
    with Recording(recorded) as recording:
        words, lengths = (list(recording.tuples("split", name)) for name in ("default", "lengths"))
        both = list(recording.tuples("split"))
    assert [t.values[0] for t in words] == list("abab") + list("cabcca")
    # The partitions advance in step, the first of them before the second.
    assert [t.values[0] for t in lengths] == [5, 1, 0, 3, 5, 1]
    assert sorted(words + lengths) == both


def test_reading_can_begin_anywhere(recorded: Path) -> None:
    with Recording(recorded) as recording:
        everything = list(recording.tuples("split"))
        for nth, one in enumerate(everything):
            assert list(recording.tuples("split", since=one.position)) == everything[nth:]
            assert list(recording.at("split", one.position)) == [one]
        assert list(recording.at("split", position(2))) == []


def test_what_lies_before_is_not_unpickled(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of())
    for ts, value in ((1, _Unreadable()), (2, "readable")):
        run.recorders[1].record(emission([(value,)], None, positions_of(position(ts))))
    with Recording(run.finish()) as recording:
        assert positioned(recording.tuples("count", since=position(2))) == [(position(2), ("readable",))]
        with pytest.raises(RecordingError, match="cannot read what component 'count' emitted: Eof"):
            list(recording.tuples("count"))


class Eof(Exception):
    """The error that unpickling raises."""


def _raise() -> None:
    raise Eof


class _Unreadable:
    def __reduce__(self) -> Any:
        return (_raise, ())


def test_several_may_read_at_a_time(recorded: Path) -> None:
    with Recording(recorded) as recording:
        expected = list(recording.tuples("split"))
        pairs = list(zip(recording.tuples("split"), recording.tuples("split"), strict=True))
    assert pairs == [(one, one) for one in expected]


def test_memory_does_not_grow_with_the_recording(tmp_path: Path) -> None:
    def peak_bytes(chunks: int) -> int:
        run = HandRun(tmp_path / f"{chunks}.viper", plan_of())
        for ts in range(4 * chunks):
            run.recorders[1].record(
                emission([(ts, "x" * (CHUNK_BYTES // 4))], None, positions_of(position(ts)))
            )
        with Recording(run.finish()) as recording:
            tracemalloc.start()
            try:
                assert sum(1 for _ in recording.tuples("count")) == 4 * chunks
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    assert peak_bytes(60) < 1.5 * peak_bytes(6)


def test_equal_positions_come_by_task_and_then_as_they_were_emitted(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of(1, 1, 2))
    for task in (2, 1):
        rows = [(task, nth) for nth in range(3)]
        run.recorders[task].record(emission(rows, None, positions_of(*[position(7)] * 3)))
    with Recording(run.finish()) as recording:
        found = [t.values for t in recording.tuples("count")]
    assert found == [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]


@pytest.mark.parametrize("times", [[3, 1, 2], [1, 2, 1, 0, 5], [2, 2, 1]])
@pytest.mark.parametrize(("batch", "flushes"), [(1, True), (1, False), (100, False)])
def test_a_part_that_is_out_of_order_is_put_in_order(
    tmp_path: Path, times: list[int], batch: int, flushes: bool
) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of())
    for first in range(0, len(times), batch):
        listed = times[first : first + batch]
        run.recorders[1].record(
            emission([(ts,) for ts in listed], None, positions_of(*map(position, listed)))
        )
        if flushes:
            run.recorders[1].flush()
    with Recording(run.finish()) as recording:
        assert [t.values[0] for t in recording.tuples("count")] == sorted(times)
        assert [t.values[0] for t in recording.tuples("count", since=position(2))] == sorted(
            ts for ts in times if ts >= 2
        )
        assert recording.header.tasks[0].part is not None
        assert not recording.header.tasks[0].part.ordered


def test_the_extreme_positions_survive(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of())
    listed = [LEAST, position(-1, 2**128 - 1), position(0), position(2**63 - 1, 2**127 + 1)]
    run.recorders[1].record(emission([(n,) for n in range(4)], None, positions_of(*listed)))
    with Recording(run.finish()) as recording:
        assert [t.position for t in recording.tuples("count")] == listed


def test_ticks_are_read_per_task(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of(1, 1, 2))
    run.recorders[2].record_tick(position(5), after=position(4))
    run.recorders[2].record_tick(position(6), after=position(6), kind=TickKind.BATCH)
    with Recording(run.finish()) as recording:
        assert list(recording.ticks("count", 0)) == []
        found = [(t.at, t.passed, t.kind) for t in recording.ticks("count", 1)]
        assert list(recording.tuples("count")) == []
    assert found == [(position(5), False, TickKind.TICK), (position(6), True, TickKind.BATCH)]


def test_an_unknown_name_comes_with_the_nearest(recorded: Path) -> None:
    with Recording(recorded) as recording:
        with pytest.raises(RecordingError, match=r"unknown component 'cuont'.*did you mean 'count'"):
            recording.tuples("cuont")
        with pytest.raises(RecordingError, match="unknown stream of 'split' 'words': expected 'default' or"):
            recording.tuples("split", "words")


class TestHeader:
    def test_it_survives(self, tmp_path: Path) -> None:
        header = dataclasses.replace(header_of(plan_of(2, 2, 2)), import_paths=("a", "b"), reason="é")
        assert from_json(to_json(header), "here") == header

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            (
                {"format": "other"},
                "here is no recording: found format 'other', expected 'viperstorm recording'",
            ),
            (
                {"version": 2, "software": "9.1"},
                "version 2 of the format, written by ViperStorm 9.1; this is",
            ),
            ({"byteorder": "middle"}, f"a middle-endian machine, this one is {sys.byteorder}-endian"),
            ({"time": "lunch"}, "its header is damaged: ValueError: 'lunch' is not a valid TimeMode"),
            ({"tasks": [{"id": 1}]}, "its header is damaged: KeyError: 'part'"),
            ({"components": None}, "its header is damaged: TypeError"),
            ({"more": 1}, "its header is damaged: TypeError"),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, changes: dict[str, Any], message: str) -> None:
        said = {**json.loads(to_json(header_of(plan_of()))), **changes}
        with pytest.raises(RecordingError, match=message):
            from_json(json.dumps(said), "here")

    @pytest.mark.parametrize("text", ["", "[]", "null", "{", "{}", b"\xff"])
    def test_other_texts_are_refused(self, text: str | bytes) -> None:
        with pytest.raises(RecordingError, match="here is no recording: "):
            from_json(text, "here")


class TestDamage:
    def test_no_such_file(self, tmp_path: Path) -> None:
        with pytest.raises(RecordingError, match=r"cannot read .*none: No such file or directory"):
            Recording(tmp_path / "none")

    def test_another_file_or_folder(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("hello")
        with pytest.raises(RecordingError, match="text is no recording, or a damaged one: File is not a zip"):
            Recording(tmp_path / "text")
        with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
            archive.writestr("other", "hello")
        for path in (tmp_path / "other.zip", tmp_path):
            with pytest.raises(RecordingError, match=r"is no recording: there is no header\.json in it"):
                Recording(path)

    def test_a_flipped_byte_never_makes_other_tuples(self, recorded: Path) -> None:
        with zipfile.ZipFile(recorded) as archive:
            info = archive.getinfo("task-1.pickles")
        data = bytearray(recorded.read_bytes())
        start = info.header_offset + 30 + len(info.filename)
        with Recording(recorded) as recording:
            intact = list(recording.tuples("count"))
        noticed = 0
        for offset in range(start, start + info.compress_size):
            data[offset] ^= 0x10
            recorded.write_bytes(data)
            with Recording(recorded) as recording:
                try:
                    assert list(recording.tuples("count")) == intact  # a few bits mean nothing
                except RecordingError:
                    noticed += 1
            data[offset] ^= 0x10
        assert noticed > info.compress_size * 0.9

    def test_a_part_that_lacks_tuples_is_noticed(self, tmp_path: Path) -> None:
        run = HandRun(tmp_path / "run.viper", plan_of()).run()
        path = run.finish()
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        members["task-1.pickles"] = pickle.dumps(("tuples", []))
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        with (
            Recording(path) as recording,
            pytest.raises(RecordingError, match="found 0 tuples of component 'count', task 1, expected 10"),
        ):
            list(recording.tuples("count"))
