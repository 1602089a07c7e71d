"""The example that counts words into a table, against counts that were made without it."""

from __future__ import annotations

import gzip
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from framework.api import run

REPOSITORY = Path(__file__).parents[2]
LINES = 400


def test_the_table_has_the_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "topologies").symlink_to(REPOSITORY / "topologies")
    monkeypatch.chdir(tmp_path)
    report = run("topologies/wordcount_table.yaml", max_tuples=LINES)
    with gzip.open(REPOSITORY / "topologies" / "data" / "kjv.txt.gz", "rt") as text:
        expected = Counter(word for _, line in zip(range(LINES), text, strict=False) for word in line.split())
    assert report.components["lines"].emitted == LINES
    database = sqlite3.connect("wordcount.db")
    found = dict(database.execute("SELECT word, count FROM words"))
    database.close()
    assert found == expected
