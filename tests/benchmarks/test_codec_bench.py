"""All codecs are measured with the same rows, which come out as they went in."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Run, number

Load = Callable[[str], ModuleType]
NAMES = ("viper", "marshal", "pickle")


def test_every_kind_of_row_has_a_line_for_each_codec(run_script: Run) -> None:
    rows = run_script("codec.py", "--size=8", "--jumbos=2", "--rounds=1")

    kinds = list(dict.fromkeys(row[0] for row in rows))
    assert len(kinds) == 5
    assert [row[:2] for row in rows] == [[kind, name] for kind in kinds for name in NAMES]
    refused = [row[:2] for row in rows if row[2:] == ["-"] * 3]
    assert refused == [["word, datetime", "marshal"]]
    assert all(number(cell) > 0 for row in rows if row[:2] not in refused for cell in row[2:])


def test_a_codec_that_changes_rows_is_not_measured(load_module: Load) -> None:
    with pytest.raises(AssertionError):
        load_module("codec").carries((pickle.dumps, lambda data: []), [[("word",)]])
