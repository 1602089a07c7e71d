"""The gate is measured with all that its sources add, in the runs that are meant."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Run, number
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.reader import Reader

Load = Callable[[str], ModuleType]


def test_every_number_of_sources_and_size_has_its_line(run_script: Run) -> None:
    small = ["--tuples=64", "--rounds=1", "--sources", "1", "3", "--size", "1", "16"]

    rows = run_script("gate.py", *small, head=2)

    assert [row[:2] for row in rows] == [[sources, size] for sources in "13" for size in ("1", "16")]
    assert all(number(cell) > 0 for row in rows for cell in row[2:])


@pytest.mark.parametrize(
    ("interleaved", "runs"), [(False, 3 * 5), (True, 3 * 5 * 16)], ids=["disjoint", "interleaved"]
)
def test_runs_are_as_long_as_they_are_meant_to_be(
    load_module: Load, monkeypatch: pytest.MonkeyPatch, interleaved: bool, runs: int
) -> None:
    delivered: list[object] = []
    get_ready = Reader.get_ready

    def counting(reader: Reader, *arguments: object) -> list[object]:
        found = get_ready(reader, *arguments)  # type: ignore[arg-type]
        delivered.extend(found)
        return list(found)

    monkeypatch.setattr(Reader, "get_ready", counting)
    load_module("gate").timed(3, 16, 5, interleaved=interleaved)

    assert len(delivered) == runs


@pytest.mark.parametrize("encoded", [False, True])
def test_only_what_shall_be_encoded_is(load_module: Load, encoded: bool) -> None:
    module = load_module("gate")
    gate = module.make_gate(sources=1, size=2, encoded=encoded)

    placed = module.positions_of(0, 1, size=2, jumbos=1, interleaved=False)
    assert gate.source(0).add(Jumbo(Rows([("word", 1)] * 2)), placed, 0, 2)

    assert (gate.statistics().sources[0].added_bytes > 0) == encoded
