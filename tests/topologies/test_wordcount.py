"""The word count in its three forms, against counts that were made without it."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from framework.frontends.flux import to_flux
from framework.frontends.loading import load
from framework.model.topology import Topology
from framework.planning.validation import validate
from framework.testing import TopologyRun, run_topology
from tests.portions import at_every_change

REPOSITORY = Path(__file__).parents[2]
TOPOLOGIES = REPOSITORY / "topologies"
FORMS = ["wordcount.yaml", "wordcount_builder.py", "wordcount_functions.py", "wordcount_streamparse.py"]
STRICT = {"viper.order": "strict"}
LONGEST_S = 600
"""A run of the whole text takes seconds, on a busy machine a minute."""


@pytest.fixture(scope="module")
def words() -> list[str]:
    with gzip.open(TOPOLOGIES / "data" / "kjv.txt.gz", "rt") as text:
        return text.read().split()


@pytest.fixture(scope="module")
def running_counts(words: list[str]) -> list[tuple[str, int]]:
    seen: Counter[str] = Counter()
    rows = []
    for word in words:
        seen[word] += 1
        rows.append((word, seen[word]))
    return rows


@pytest.fixture(scope="module")
def top_ten(words: list[str]) -> list[tuple[int, str, int]]:
    return [(rank, word, count) for rank, (word, count) in enumerate(Counter(words).most_common(10), start=1)]


def topology(form: str) -> Topology:
    loaded = load(str(TOPOLOGIES / form))
    assert loaded.problems == ()
    assert loaded.topology is not None
    return loaded.topology


def with_parallelism(form: str, parallelism: int) -> Topology:
    before = topology(form)
    components = (
        replace(c, parallelism=parallelism) if c.id in ("split", "count") else c for c in before.components
    )
    return replace(before, components=tuple(components))


def check(
    run: TopologyRun, running_counts: list[tuple[str, int]], top_ten: list[tuple[int, str, int]]
) -> None:
    # Compared as a whole: a failure shows no difference of a million rows.
    assert (run.emitted("count") == running_counts) is True
    assert run.emitted("top") == top_ten


def test_the_text_is_the_whole_text(words: list[str]) -> None:
    assert (len(words), len(set(words))) == (789_634, 28_856)


@pytest.mark.parametrize("form", at_every_change(FORMS))
def test_every_form_counts_right(
    form: str, running_counts: list[tuple[str, int]], top_ten: list[tuple[int, str, int]]
) -> None:
    check(run_topology(TOPOLOGIES / form, conf=STRICT, timeout_s=LONGEST_S), running_counts, top_ten)


@pytest.mark.slow
@pytest.mark.parametrize("parallelism", [1, 3, 4])
def test_parallelism_changes_nothing(
    parallelism: int, running_counts: list[tuple[str, int]], top_ten: list[tuple[int, str, int]]
) -> None:
    topology = with_parallelism("wordcount.yaml", parallelism)
    run = run_topology(topology, conf=STRICT, seed=parallelism, timeout_s=LONGEST_S)
    check(run, running_counts, top_ten)


@pytest.mark.parametrize("form", FORMS)
def test_no_form_deserves_a_warning(form: str) -> None:
    assert validate(topology(form)) == []


def test_yaml_and_builder_make_one_value() -> None:
    # A class that the builder is given is known by its own name, which is not the public one.
    in_yaml, built = map(to_flux, (topology("wordcount.yaml"), topology("wordcount_builder.py")))
    assert in_yaml.replace("viperstorm.sinks", "framework.operators.sinks") == built


def test_the_components_differ_in_their_import_line_alone() -> None:
    ours, theirs = (
        (TOPOLOGIES / "words" / name).read_text().splitlines()
        for name in ("components.py", "components_streamparse.py")
    )
    different = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    assert different == [("from viperstorm import Bolt, Spout", "from streamparse import Bolt, Spout")]


@pytest.mark.slow
@pytest.mark.parametrize("target", [*FORMS[:2], "wordcount_streamparse.py --print top"])
def test_the_command_line_prints_the_top_ten(target: str, top_ten: list[tuple[int, str, int]]) -> None:
    file, *options = target.split()
    ran = subprocess.run(
        [sys.executable, "-m", "framework.cli", "run", f"topologies/{file}", *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "".join(f"{rank}\t{word}\t{count}\n" for rank, word, count in top_ten)
    assert "31,102" in ran.stderr


def test_another_text_and_another_number_of_words(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b a\nc a b\n")
    conf = {"words.text": str(tmp_path / "text.txt"), "words.top": 2}
    run = run_topology(TOPOLOGIES / "wordcount.yaml", conf=conf, timeout_s=LONGEST_S)
    assert run.emitted("top") == [(1, "a", 3), (2, "b", 2)]
