"""A user's own type checker on a project that is built on the framework."""

from __future__ import annotations

from pathlib import Path

import pytest

# It is here wherever the types of the project itself are checked.
api = pytest.importorskip("mypy.api")

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]

PROJECT = """
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from framework import Bolt, Grouping, Spout, Topology, Tuple, run
from framework.operators.sinks import CollectingSink, Sink
from framework.testing import run_bolt, run_spout, run_topology


class Words(Spout):
    outputs = ["word"]

    def tuples(self) -> Iterator[Sequence[Any] | None]:
        yield ["dog"]


class Count(Bolt):
    outputs = ["word", "count"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.counts: Counter[str] = Counter()

    def process(self, tup: Tuple) -> None:
        word: str = tup.values.word
        (same,) = tup.values
        assert same == tup.values[0]
        self.counts[tup.values.word] += 1
        self.emit([word, self.counts[word]])


class Store(Sink):
    def consume(self, rows: Sequence[tuple[Any, ...]]) -> None:
        print(len(rows))


class WordCount(Topology):
    words = Words.spec()
    count = Count.spec(inputs={words: Grouping.fields("word")}, par=2)
    store = Store.spec(inputs={count: Grouping.GLOBAL})
    kept = CollectingSink.spec(inputs=[count])


def test_word_count() -> None:
    assert run_bolt(Count, [["dog"]], fields=["word"]).emitted() == [("dog", 1)]
    assert run_bolt(Count, [Tuple("1", "words", "default", 1, ("dog",))]).acked == [("dog",)]
    assert run_spout(Words).emitted() == [("dog",)]
    assert run_topology(WordCount, sinks=["store"]).received("store") == [("dog", 1)]


if __name__ == "__main__":
    print(run(WordCount, conf={"viper.jumbo.size": 1}).result("kept"))
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that keeps mypy's findings of the framework, which take some seconds, for all tests."""
    return tmp_path_factory.mktemp("mypy")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    # mypy does not see editable installations; `tests/test_wheel.py` looks at a real one.
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {REPOSITORY}\n")
    return tmp_path


def checked(project: Path, cache: Path, source: str) -> str:
    """Run ``mypy --strict`` on a project with one file, and return its output."""
    (project / "words.py").write_text(source)
    said, complaint, _ = api.run(
        ["--config-file", str(project / "mypy.ini"), "--cache-dir", str(cache), str(project / "words.py")]
    )
    assert complaint == ""
    return said


def test_a_typed_project_passes_mypy_strict(project: Path, cache: Path) -> None:
    assert checked(project, cache, PROJECT).startswith("Success: no issues found")


@pytest.mark.parametrize(
    ("right", "wrong", "error"),
    [
        ("word: str = tup.values", "word: str = tup.vales", '"Tuple" has no attribute "vales"'),
        ("run(WordCount, conf=", "run(WordCount, config=", 'Unexpected keyword argument "config" for "run"'),
        ("CollectingSink.spec(inputs", "CollectingSink.spec(input", "Unexpected keyword argument"),
    ],
)
def test_a_mistake_is_found(project: Path, cache: Path, right: str, wrong: str, error: str) -> None:
    assert PROJECT.count(right) == 1
    said = checked(project, cache, PROJECT.replace(right, wrong))
    assert error in said.replace("framework.operators.components.tuple.", "")


@pytest.mark.parametrize("package", ["framework", "spark_ingest", "viper"])
def test_every_package_says_that_it_is_typed(package: str) -> None:
    assert (REPOSITORY / package / "py.typed").is_file()
