"""The words by first letter in both forms, against windows that were made without it."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from framework.frontends.loading import load
from framework.planning.validation import validate
from framework.testing import run_topology

TOPOLOGIES = Path(__file__).parents[2] / "topologies"
FORMS = ["letters_windows.yaml", "letters_windows.py"]
LENGTH, EVERY = 10_000, 5_000
LINES = 9_000


@pytest.mark.few(1, daily=True)
@pytest.mark.parametrize("form", FORMS)
def test_words_by_letter(form: str, tmp_path: Path) -> None:
    with gzip.open(TOPOLOGIES / "data" / "kjv.txt.gz", "rt") as text:
        lines = list(islice(text.read().splitlines(), LINES))
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    conf = {"viper.order": "strict", "words.text": str(tmp_path / "text.txt")}
    found = run_topology(TOPOLOGIES / form, conf=conf, timeout_s=120).emitted("windows")
    assert sorted(found) == sorted(expected(lines))
    ends = [row[2] for row in found]
    assert ends == sorted(ends)


@pytest.mark.parametrize("form", FORMS)
def test_it_deserves_no_warning(form: str) -> None:
    topology = load(str(TOPOLOGIES / form)).topology
    assert topology is not None and validate(topology) == []


def expected(lines: list[str]) -> list[tuple[Any, ...]]:
    rows = []
    for end in range(EVERY, LINES + LENGTH, EVERY):
        by_letter: dict[str, list[str]] = {}
        for number, line in enumerate(lines, start=1):
            if end - LENGTH <= number < end:
                for word in line.lower().split():
                    letters = word.strip("()[]'.,;:!?-")
                    if letters:
                        by_letter.setdefault(letters[0], []).append(letters)
        for letter, words in by_letter.items():
            mean, longest = sum(map(len, words)) / len(words), [max(words, key=len)]
            start = (end - LENGTH) * 1_000_000
            rows.append((letter, start, end * 1_000_000, len(words), len(set(words)), mean, longest))
    return rows
