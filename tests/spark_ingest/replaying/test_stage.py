from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from spark_ingest.datasets.dataset import Dataset  # noqa: E402
from spark_ingest.datasets.formats import STORED_AS  # noqa: E402
from spark_ingest.datasets.manifest import MANIFEST, DataFile, write  # noqa: E402
from spark_ingest.errors import DatasetError, JobError  # noqa: E402
from spark_ingest.replaying.ahead import Ahead  # noqa: E402
from spark_ingest.replaying.stage import FINGERPRINT, StageFeed  # noqa: E402
from tests.spark_ingest import stages  # noqa: E402
from tests.spark_ingest.stages import numbered, rows_of, table  # noqa: E402

Write = Callable[..., Dataset]


@pytest.fixture(params=STORED_AS.values(), ids=STORED_AS)
def write_stage(request: pytest.FixtureRequest) -> Write:
    return partial(stages.write_stage, stored_as=request.param)


@pytest.fixture
def stage(tmp_path: Path, write_stage: Write) -> Dataset:
    """Three streams: even times in two files, odd times, nothing."""
    even = [n for n in range(100) if n % 2 == 0]
    odd = [n for n in range(100) if n % 2]
    streams = [[numbered(even[:30]), numbered(even[30:], 30)], [numbered(odd, 50)], [numbered([])]]
    return write_stage(tmp_path / "stage", streams)


def feed_of(stage: Dataset, **options: Any) -> StageFeed:
    return StageFeed(str(stage.path), **options)


def test_what_it_says_of_itself(stage: Dataset) -> None:
    feed = feed_of(stage)
    assert (feed.outputs, feed.partitions, feed.identity) == (("n",), 3, stage.fingerprint)
    assert feed.origin_us() == 0


def test_each_stream_has_its_rows(stage: Dataset) -> None:
    feed = feed_of(stage)
    assert rows_of(feed.blocks(0, None)) == [(2 * n, n) for n in range(50)]
    assert rows_of(feed.blocks(1, None)) == [(2 * n + 1, n + 50) for n in range(50)]
    assert rows_of(feed.blocks(2, None)) == []
    assert feed.read == {0: 50, 1: 50, 2: 0}


def test_a_part_of_the_time(stage: Dataset) -> None:
    feed = feed_of(stage, start=20, until=30)
    assert rows_of(feed.blocks(0, None)) == [(2 * n, n) for n in range(10, 15)]
    assert rows_of(feed.blocks(0, 24)) == [(2 * n, n) for n in range(12, 15)]
    assert rows_of(feed.blocks(0, 4)) == rows_of(feed.blocks(0, None))
    assert rows_of(feed.blocks(0, 30)) == rows_of(feed.blocks(0, 99)) == []


def test_a_place_in_one_part_is_none_in_another(stage: Dataset) -> None:
    parts = [{}, {"start": 20}, {"until": 20}, {"start": 20, "until": 40}]
    names = [feed_of(stage, **part).identity for part in parts]
    assert len(set(names)) == len(parts)
    assert feed_of(stage, columns=["n"], until=20).identity == names[2]


@pytest.mark.parametrize(("start", "origin"), [(None, 0), (-5, 0), (20, 20), (21, 21), (97, 97), (98, 98)])
def test_the_clock_begins_with_the_first_row(stage: Dataset, start: int | None, origin: int) -> None:
    assert feed_of(stage, start=start).origin_us() == origin


def test_the_clock_does_not_wait_for_a_gap_to_pass(tmp_path: Path, write_stage: Write) -> None:
    stage = write_stage(tmp_path / "s", [[numbered([0, 1000])], [numbered([0, 2000])]])
    assert feed_of(stage, start=1).origin_us() == 1000


def test_a_dataset_without_rows(tmp_path: Path, write_stage: Write) -> None:
    feed = feed_of(write_stage(tmp_path / "s", [[numbered([])]]), start=1)
    assert feed.origin_us() is None
    assert rows_of(feed.blocks(0, None)) == []


class TestUnits:
    @pytest.fixture
    def stage(self, tmp_path: Path, write_stage: Write) -> Dataset:
        moments = [1_000_000, 2_000_000, 3_000_000]
        return write_stage(
            tmp_path / "s", [[table(moments, at=pa.array(moments, pa.timestamp("us")))]], unit="ms"
        )

    def test_the_datasets_is_the_default(self, stage: Dataset) -> None:
        assert rows_of(feed_of(stage, start=2000).blocks(0, None)) == [(2_000_000, 2000), (3_000_000, 3000)]

    def test_another(self, stage: Dataset) -> None:
        assert rows_of(feed_of(stage, until=2, unit="s").blocks(0, None)) == [(1_000_000, 1)]

    def test_none_of_that_name(self, stage: Dataset) -> None:
        with pytest.raises(
            JobError, match="unit is 'm': expected 's', 'ms', 'us' or 'ns'; did you mean 'ms'"
        ):
            feed_of(stage, unit="m")


class TestColumns:
    @pytest.fixture
    def stage(self, tmp_path: Path, write_stage: Write) -> Dataset:
        return write_stage(tmp_path / "s", [[table([1], carrier=["AA"], delay=[7])]])

    def test_in_the_order_that_is_asked_for(self, stage: Dataset) -> None:
        feed = feed_of(stage, columns=["delay", "carrier"])
        assert feed.outputs == ("delay", "carrier")
        assert rows_of(feed.blocks(0, None)) == [(1, 7, "AA")]

    def test_one(self, stage: Dataset) -> None:
        assert feed_of(stage, columns="delay").outputs == ("delay",)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (["carier"], "unknown column 'carier': expected 'carrier' or 'delay'; did you mean 'carrier'"),
            (["delay", "delay"], "columns names 'delay' more than once"),
            ([], "columns is empty"),
        ],
    )
    def test_refused(self, stage: Dataset, columns: list[str], message: str) -> None:
        with pytest.raises(JobError, match=message):
            feed_of(stage, columns=columns)


class TestRefused:
    def test_no_dataset(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match=r"there is no .*gone"):
            StageFeed(str(tmp_path / "gone"))

    @pytest.mark.parametrize(("start", "until"), [(100, None), (None, -1), (200, 300)])
    def test_nothing_in_that_time(self, stage: Dataset, start: int | None, until: int | None) -> None:
        with pytest.raises(
            DatasetError, match=r"nothing to replay (from|until) .*: it goes from 1970.* to 1970"
        ):
            feed_of(stage, start=start, until=until)

    def test_a_sound_dataset_is_accepted(self, stage: Dataset) -> None:
        with feed_of(stage).companion({}) as given:
            assert given == {FINGERPRINT: stage.fingerprint}

    def test_a_manifest_of_other_rows(self, tmp_path: Path, write_stage: Write) -> None:
        stage = write_stage(tmp_path / "s", [[numbered([5, 6])]])
        (stream,) = stage.manifest.streams
        files = (replace(stream.files[0], rows=50),)
        write(stage.path, replace(stage.manifest, streams=(replace(stream, files=files, rows=50),)))
        feed = feed_of(stage)
        with pytest.raises(DatasetError, match="stream 0 has 2 rows, 50 were prepared"), feed.companion({}):
            pass
        with pytest.raises(DatasetError, match="stream 0 has 2 rows, 50 were prepared"):
            rows_of(feed.blocks(0, None))

    def test_a_column_that_cannot_be_carried(self, tmp_path: Path, write_stage: Write) -> None:
        stage = write_stage(tmp_path / "s", [[table([1], x=pa.nulls(1, pa.float16()), y=[1])]])
        with pytest.raises(JobError, match="column 'x' is halffloat, which cannot be carried"):
            feed_of(stage).companion({}).__enter__()
        with feed_of(stage, columns=["y"]).companion({}):
            pass

    def test_without_its_manifest(self, stage: Dataset) -> None:
        (stage.path / MANIFEST).unlink()
        with pytest.raises(DatasetError, match="is no prepared dataset"):
            feed_of(stage)


class TestReplacedMeanwhile:
    """The one that comes has other rows, but files of the same names, sizes and footers."""

    @pytest.fixture
    def stage(self, tmp_path: Path, write_stage: Write) -> Dataset:
        return write_stage(tmp_path / "s", [self.files(0, 1, 2, 3)])

    @pytest.fixture
    def next_one(self, tmp_path: Path, write_stage: Write) -> Dataset:
        return write_stage(tmp_path / "next", [self.files(0, 2, 1, 3)])

    def files(self, *values: int) -> list[pa.Table]:
        """Three for one stream."""
        return [table(range(first, first + 4), n=list(values)) for first in (0, 4, 8)]

    def put(self, new: Dataset, old: Dataset) -> None:
        old.path.rename(old.path.with_name("aside"))
        new.path.rename(old.path)

    def test_only_the_content_tells_them_apart(self, stage: Dataset, next_one: Dataset) -> None:
        def described(dataset: Dataset) -> list[DataFile]:
            return [replace(file, content="") for file in dataset.manifest.streams[0].files]

        assert described(stage) == described(next_one)
        assert stage.fingerprint != next_one.fingerprint

    def test_between_two_files(
        self, stage: Dataset, next_one: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Ahead, "of", lambda self, parts: (piece for part in parts for piece in part))
        blocks = feed_of(stage).blocks(0, None)
        assert next(blocks).rows == [(0,), (1,), (2,), (3,)]
        self.put(next_one, stage)
        message = r"stream-0-1\.\w+ is not the one that was opened: the dataset was replaced"
        with pytest.raises(DatasetError, match=message):
            next(blocks)

    def test_files_of_the_same_age(self, stage: Dataset, next_one: Dataset) -> None:
        feed = feed_of(stage)
        for one, other in zip(stage.streams[0].files, next_one.streams[0].files, strict=True):
            shutil.copystat(one, other)
        self.put(next_one, stage)
        with pytest.raises(DatasetError, match="the dataset was replaced or changed during the run"):
            rows_of(feed.blocks(0, None))

    def test_written_over(self, stage: Dataset, next_one: Dataset) -> None:
        feed = feed_of(stage)
        path = Path(stage.streams[0].files[1])
        path.write_bytes(Path(next_one.streams[0].files[1]).read_bytes())
        os.utime(path, ns=(0, 0))  # The clock of a file system may not have moved on.
        with pytest.raises(DatasetError, match=r"stream-0-1\.\w+ is not the one that was opened"):
            rows_of(feed.blocks(0, None))

    def test_files_that_are_gone(self, stage: Dataset) -> None:
        feed = feed_of(stage)
        Path(stage.streams[0].files[2]).unlink()
        with pytest.raises(DatasetError, match=r"stream-0-2\.\w+ is not the one that was opened"):
            rows_of(feed.blocks(0, None))

    def test_before_the_run_or_its_clock_begins(self, stage: Dataset, next_one: Dataset) -> None:
        feed = feed_of(stage, start=1)
        self.put(next_one, stage)
        with pytest.raises(DatasetError, match="the dataset was replaced"), feed.companion({}):
            pass
        with pytest.raises(DatasetError, match="the dataset was replaced"):
            feed.origin_us()

    def test_while_it_is_opened(
        self, stage: Dataset, next_one: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its manifest is read, then it is replaced, then its files are looked at."""
        opened = Dataset.open(stage.path)
        self.put(next_one, stage)
        monkeypatch.setattr(Dataset, "open", lambda path: opened)
        with pytest.raises(DatasetError, match="the dataset was replaced"):
            feed_of(stage)

    def test_a_task_that_finds_another_than_the_run_began_with(
        self, stage: Dataset, next_one: Dataset
    ) -> None:
        with feed_of(stage).companion({}) as given:
            feed_of(stage).open(given)
            self.put(next_one, stage)
            with pytest.raises(
                DatasetError, match=f"{next_one.fingerprint}, but the run began with {stage.fingerprint}"
            ):
                feed_of(stage).open(given)

    def test_without_a_companion_each_takes_what_is_there(self, stage: Dataset) -> None:
        feed_of(stage).open({})


def test_a_moved_dataset(stage: Dataset, tmp_path: Path) -> None:
    moved = shutil.move(stage.path, tmp_path / "elsewhere")
    assert len(rows_of(StageFeed(str(moved)).blocks(0, None))) == 50


def test_neither_spark_nor_java_is_needed(stage: Dataset) -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from spark_ingest import SparkSpout\n"
        f"spout = SparkSpout({str(stage.path)!r})\n"
        "assert 'pyarrow' not in sys.modules\n"
        "with spout.companion({}): print(sum(len(b.rows) for n in range(3) for b in spout.blocks(n, None)))"
    )
    environment = {"PATH": "/nonexistent", "PYTHONPATH": str(Path(__file__).parents[3])}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("100\n", "")


@pytest.mark.parametrize("typed", [False, True])
def test_every_format_brings_the_same_rows(tmp_path: Path, typed: bool) -> None:
    rows = 300
    columns = {
        "at": pa.array(range(rows), pa.timestamp("us", "UTC")),
        "text": [None if n % 7 == 0 else f"n\N{LATIN SMALL LETTER O WITH DIAERESIS}{n}" for n in range(rows)],
        "few": ["a", "b", "a"] * (rows // 3),
        "flag": [n % 2 == 0 for n in range(rows)],
        "list": [[n] * (n % 3) for n in range(rows)],
        "record": [{"x": n, "y": str(n)} for n in range(rows)],
        "bytes": [bytes([n % 256]) for n in range(rows)],
    }
    streams = [[table(range(rows), **columns).slice(first, 100) for first in (0, 100, 200)]]
    found = []
    for name, stored_as in STORED_AS.items():
        feed = feed_of(stages.write_stage(tmp_path / name, streams, stored_as=stored_as))
        if typed:
            feed.bring_columns()
        blocks = list(feed.blocks(0, None))
        values = [block.rows.to_pylist() if typed else block.rows for block in blocks]
        names = [block.rows.schema.names for block in blocks] if typed else []
        found.append(([block.times for block in blocks], values, names))
        feed.close()
    assert all(one == found[0] for one in found)
    assert sum(map(len, found[0][0])) == rows
