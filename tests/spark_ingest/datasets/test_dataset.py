"""Datasets and their manifests: what they say, and what is refused; without Spark."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_ingest.datasets.dataset import Dataset, StreamFile
from spark_ingest.datasets.manifest import MANIFEST, from_json, is_dataset, to_json
from spark_ingest.errors import DatasetError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
seal = pytest.importorskip("spark_ingest.datasets.sealing").seal

TIME = "_time_us"


def parquet(path: Path, times: list[int], **how: object) -> str:
    """A file of rows, ten in a row group."""
    table = pa.table({TIME: pa.array(times, pa.int64()), "n": pa.array(range(len(times)), pa.int32())})
    pq.write_table(table, path, row_group_size=10, **how)
    return path.name


@pytest.fixture
def made(tmp_path: Path) -> Dataset:
    folder = tmp_path / "made"
    folder.mkdir()
    streams = [
        [parquet(folder / "a.parquet", list(range(25))), parquet(folder / "b.parquet", [24, 30])],
        [],
        [parquet(folder / "c.parquet", [-5])],
    ]
    counts = {"nulls": {"found": 1, "kept": 0, "dropped": 1}}
    return seal(
        folder, streams, timestamp="at", types={"n": "int"}, unit="s", counts=counts, source={"table": "t"}
    )


def test_what_it_says(made: Dataset) -> None:
    found = Dataset.open(made.path)
    assert found == made
    assert (found.fields, found.types, found.timestamp, found.unit) == (("n",), {"n": "int"}, "at", "s")
    assert (found.rows, found.min_us, found.max_us) == (28, -5, 30)
    assert found.source == {"table": "t"}
    assert found.counts["nulls"]["dropped"] == 1
    assert found.streams == (
        StreamFile((f"{made.path}/a.parquet", f"{made.path}/b.parquet"), 27, 0, 30),
        StreamFile((), 0, None, None),
        StreamFile((f"{made.path}/c.parquet",), 1, -5, -5),
    )


def test_it_may_be_moved(made: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made.path.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    moved = Dataset.open("moved")
    assert moved.streams[2].files == (str(tmp_path / "moved" / "c.parquet"),)
    assert moved.fingerprint == made.fingerprint


def test_the_fingerprint_is_of_the_content(made: Dataset, tmp_path: Path) -> None:
    def again(name: str, times: list[int]) -> str:
        folder = tmp_path / name
        folder.mkdir()
        return seal(
            folder, [[parquet(folder / f"{name}.parquet", times)]], timestamp="at", types={"n": "int"}
        ).fingerprint

    assert again("one", [1, 2, 3]) == again("two", [1, 2, 3]) != again("three", [1, 2, 4])


def test_a_manifest_as_text_and_back(made: Dataset) -> None:
    assert from_json(to_json(made.manifest), "here") == made.manifest


def test_opening_needs_neither_spark_nor_pyarrow(made: Dataset) -> None:
    code = (
        "import sys; sys.modules.update(pyspark=None, pyarrow=None, py4j=None)\n"
        f"from spark_ingest import Dataset; print(Dataset.open({str(made.path)!r}).rows)"
    )
    repository = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "28\n"


def _cut(folder: Path) -> None:
    data = (folder / "a.parquet").read_bytes()
    (folder / "a.parquet").write_bytes(data[:-100])


def _replace(folder: Path) -> None:
    """By another file of the same size."""
    data = bytearray((folder / "a.parquet").read_bytes())
    data[-20] ^= 1
    (folder / "a.parquet").write_bytes(data)


def _not_parquet(folder: Path) -> None:
    data = (folder / "a.parquet").read_bytes()
    (folder / "a.parquet").write_bytes(bytes(len(data)))


def _edited(**changes: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        said = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps(said | changes))

    return edit


def _text(text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / MANIFEST).write_text(text) and None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "a.parquet").unlink(), r"a\.parquet is missing: prepare the dataset again"),
        (_cut, r"a\.parquet has \d+ bytes, expected \d+: prepare the dataset again"),
        (_replace, r"a\.parquet is not the file that the manifest names"),
        (_not_parquet, r"a\.parquet is no whole Parquet file"),
        (
            lambda f: (f / MANIFEST).unlink(),
            r"is no prepared dataset: there is no _manifest\.json in it; its Parquet",
        ),
        (lambda f: shutil.rmtree(f), r"there is no .*made: expected a folder that `viper prepare` made"),
        (_text("{"), r"is no dataset: its _manifest\.json is no JSON"),
        (_text("[]"), r"found format \[\], expected 'viperstorm dataset'"),
        (_edited(format="other"), "is no dataset: found format 'other'"),
        (_edited(version=2), r"has version 2 of the format, .* which reads version 1: prepare it again"),
        (_edited(streams=None), r"its _manifest\.json is damaged: TypeError"),
        (_edited(fields=["m"]), r"its _manifest\.json is damaged: KeyError: 'm'"),
        (_edited(rows=3), r"was changed, and contradicts itself"),
        (_edited(types={"n": "bigint"}), r"was changed, and contradicts itself"),
    ],
)
def test_what_is_refused(made: Dataset, damage: Callable[[Path], object], message: str) -> None:
    damage(made.path)
    with pytest.raises(DatasetError, match=message):
        Dataset.open(made.path)


def test_a_file_is_no_dataset(tmp_path: Path) -> None:
    path = tmp_path / "flights.csv"
    path.touch()
    with pytest.raises(DatasetError, match=r"flights\.csv is a file: expected a folder"):
        Dataset.open(path)


class TestSealing:
    def test_what_is_not_sorted_is_refused(self, tmp_path: Path) -> None:
        name = parquet(tmp_path / "a.parquet", [*range(10), *range(5, 15)])
        with pytest.raises(DatasetError, match=r"a\.parquet is not sorted by '_time_us': 5 follows 9"):
            seal(tmp_path, [[name]], timestamp="at", types={"n": "int"})
        assert not is_dataset(tmp_path)

    def test_nor_from_file_to_file(self, tmp_path: Path) -> None:
        names = [parquet(tmp_path / "a.parquet", [5]), parquet(tmp_path / "b.parquet", [4])]
        with pytest.raises(DatasetError, match=r"b\.parquet is not sorted by '_time_us': 4 follows 5"):
            seal(tmp_path, [names], timestamp="at", types={"n": "int"})

    def test_what_cannot_be_sought_in_is_refused(self, tmp_path: Path) -> None:
        name = parquet(tmp_path / "a.parquet", [1], write_statistics=False)
        with pytest.raises(DatasetError, match="has no statistics for '_time_us'"):
            seal(tmp_path, [[name]], timestamp="at", types={"n": "int"})

    def test_the_time_comes_first(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"n": [1], TIME: [1]}), tmp_path / "a.parquet")
        with pytest.raises(DatasetError, match=r"the first column is \['n'\], expected '_time_us'"):
            seal(tmp_path, [["a.parquet"]], timestamp="at", types={"n": "int"})
