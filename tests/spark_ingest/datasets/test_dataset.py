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
from spark_ingest.datasets.formats import STORED_AS
from spark_ingest.datasets.manifest import MANIFEST, from_json, is_dataset, to_json
from spark_ingest.errors import DatasetError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
seal = pytest.importorskip("spark_ingest.datasets.sealing").seal
stages = pytest.importorskip("tests.spark_ingest.stages")

TIME = "_time_us"


def table(times: list[int]) -> pa.Table:
    return pa.table({TIME: pa.array(times, pa.int64()), "n": pa.array(range(len(times)), pa.int32())})


@pytest.fixture(params=[found.suffix for found in STORED_AS.values()])
def ending(request: pytest.FixtureRequest) -> str:
    """Of the names of files, which says their format."""
    return str(request.param)


def written(path: Path, times: list[int]) -> str:
    """A file of rows, in groups of ten."""
    return stages.write_rows(path, table(times)).name


@pytest.fixture
def made(tmp_path: Path, ending: str) -> Dataset:
    folder = tmp_path / "made"
    folder.mkdir()
    streams = [
        [written(folder / f"a{ending}", list(range(25))), written(folder / f"b{ending}", [24, 30])],
        [],
        [written(folder / f"c{ending}", [-5])],
    ]
    counts = {"nulls": {"found": 1, "kept": 0, "dropped": 1}}
    return seal(
        folder, streams, timestamp="at", types={"n": "int"}, unit="s", counts=counts, source={"table": "t"}
    )


def test_what_it_says(made: Dataset, ending: str) -> None:
    found = Dataset.open(made.path)
    assert found == made
    assert (found.fields, found.types, found.timestamp, found.unit) == (("n",), {"n": "int"}, "at", "s")
    assert (found.rows, found.min_us, found.max_us) == (28, -5, 30)
    assert found.source == {"table": "t"}
    assert found.counts["nulls"]["dropped"] == 1
    assert found.streams == (
        StreamFile((f"{made.path}/a{ending}", f"{made.path}/b{ending}"), 27, 0, 30),
        StreamFile((), 0, None, None),
        StreamFile((f"{made.path}/c{ending}",), 1, -5, -5),
    )


def test_it_may_be_moved(made: Dataset, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made.path.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    moved = Dataset.open("moved")
    assert moved.streams[2].files == (str(tmp_path / "moved" / f"c{ending}"),)
    assert moved.fingerprint == made.fingerprint


def test_the_fingerprint_is_of_the_content(made: Dataset, ending: str, tmp_path: Path) -> None:
    def again(name: str, times: list[int]) -> str:
        folder = tmp_path / name
        folder.mkdir()
        return seal(
            folder, [[written(folder / f"{name}{ending}", times)]], timestamp="at", types={"n": "int"}
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


def _first(folder: Path) -> Path:
    return next(folder.glob("a.*"))


def _cut(folder: Path) -> None:
    _first(folder).write_bytes(_first(folder).read_bytes()[:-100])


def _replace(folder: Path) -> None:
    """By another file of the same size."""
    data = bytearray(_first(folder).read_bytes())
    data[-20] ^= 1
    _first(folder).write_bytes(data)


def _zero(folder: Path) -> None:
    _first(folder).write_bytes(bytes(_first(folder).stat().st_size))


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
        (lambda f: _first(f).unlink(), r"a\.\w+ is missing: prepare the dataset again"),
        (_cut, r"a\.\w+ has \d+ bytes, expected \d+: prepare the dataset again"),
        (_replace, r"a\.\w+ is not the file that the manifest names"),
        (_zero, r"a\.\w+ is no whole (Parquet|Arrow) file"),
        (
            lambda f: (f / MANIFEST).unlink(),
            r"is no prepared dataset: there is no _manifest\.json in it",
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
    def test_what_is_not_sorted_is_refused(self, tmp_path: Path, ending: str) -> None:
        name = written(tmp_path / f"a{ending}", [*range(10), *range(5, 15)])
        with pytest.raises(DatasetError, match=r"a\.\w+ is not sorted by '_time_us': 5 follows 9"):
            seal(tmp_path, [[name]], timestamp="at", types={"n": "int"})
        assert not is_dataset(tmp_path)

    def test_nor_from_file_to_file(self, tmp_path: Path, ending: str) -> None:
        names = [written(tmp_path / f"a{ending}", [5]), written(tmp_path / f"b{ending}", [4])]
        with pytest.raises(DatasetError, match=r"b\.\w+ is not sorted by '_time_us': 4 follows 5"):
            seal(tmp_path, [names], timestamp="at", types={"n": "int"})

    def test_what_cannot_be_sought_in_is_refused(self, tmp_path: Path) -> None:
        pq.write_table(table([1]), tmp_path / "a.parquet", write_statistics=False)
        with pytest.raises(DatasetError, match="has no statistics for '_time_us'"):
            seal(tmp_path, [["a.parquet"]], timestamp="at", types={"n": "int"})

    def test_the_time_comes_first(self, tmp_path: Path, ending: str) -> None:
        name = stages.write_rows(tmp_path / f"a{ending}", pa.table({"n": [1], TIME: [1]})).name
        with pytest.raises(DatasetError, match=r"the first column is \['n'\], expected '_time_us'"):
            seal(tmp_path, [[name]], timestamp="at", types={"n": "int"})
