"""The word count of sliding windows in both its forms, against counts that were made without it."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from framework.frontends.loading import load
from framework.planning.validation import validate
from framework.testing import run_topology

TOPOLOGIES = Path(__file__).parents[2] / "topologies"
FORMS = ["wordcount_windows.yaml", "wordcount_windows.py"]
LENGTH, INTERVAL = 5000, 2500


def expected(lines: list[str]) -> list[tuple[int, int, str, int]]:
    found = []
    for end in range(INTERVAL, len(lines) + LENGTH, INTERVAL):
        counts = Counter(" ".join(lines[max(end - LENGTH, 0) : end]).split())
        top = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:3]
        found += [(end, rank, word, count) for rank, (word, count) in enumerate(top, start=1)]
    return found


@pytest.mark.few(1, daily=True)
@pytest.mark.parametrize("form", FORMS)
def test_windows_of_words(form: str, tmp_path: Path) -> None:
    with gzip.open(TOPOLOGIES / "data" / "kjv.txt.gz", "rt") as text:
        lines = text.read().splitlines()[:9000]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    conf = {"viper.order": "strict", "words.text": str(tmp_path / "text.txt")}
    run = run_topology(TOPOLOGIES / form, conf=conf, timeout_s=60)
    assert run.emitted("top") == expected(lines)


@pytest.mark.parametrize("form", FORMS)
def test_it_deserves_no_warning(form: str) -> None:
    topology = load(str(TOPOLOGIES / form)).topology
    assert topology is not None and validate(topology) == []
