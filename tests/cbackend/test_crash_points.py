"""Every named point at which the C layer can be killed is one at which a test kills it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

CBACKEND = Path(__file__).parents[2] / "cbackend"

STATE = ("writer", "pool", "heap", "keyed", "changes")
"""The parts of state in shared memory; a test of its own kills it at each of its points."""


def sources() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (CBACKEND / "src").glob("*.[ch]")}


def texts_of_tests() -> dict[str, str]:
    """The texts of the tests that the Makefile compiles with the points."""
    text = (CBACKEND / "Makefile").read_text().replace("\\\n", "")
    line = re.search(r"^at_points = (.*)$", text, re.M)
    assert line
    names = " ".join(re.findall(r"\$\(patsubst %,test_%,([^)]*)\)", line[1])).split()
    paths = [CBACKEND / "tests" / f"test_{name}.c" for name in names]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def points_in(texts: Mapping[str, str]) -> dict[str, str]:
    """The names of all points, with the file of each."""
    return {
        name: file
        for file, text in texts.items()
        for name in re.findall(r'VP_CRASH_POINT\("([^"]+)"\)', text)
    }


def fatal_points(tests: Mapping[str, str]) -> set[str]:
    """The points of the tables that tests go through from beginning to end; each must kill somebody."""
    tables = re.findall(r"\*const POINTS\[\] = \{(.*?)\};", "\n".join(tests.values()), re.S)
    return {name for table in tables for name in re.findall(r'"([^"]+)"', table)}


def named_points(tests: Mapping[str, str]) -> set[str]:
    """All that tests name; one name that ends with a blank stands for all points that begin so."""
    return set(re.findall(r'"(\w[\w ]*: [\w ]*)"', "\n".join(tests.values())))


def untested(texts: Mapping[str, str], tests: Mapping[str, str]) -> dict[str, str]:
    """Points that no test comes to, and those of state that are in no table, with their files."""
    named, fatal = named_points(tests), fatal_points(tests)
    prefixes = tuple(name for name in named if name.endswith(" "))
    found = {}
    for point, file in points_in(texts).items():
        reached = point in named or point.startswith(prefixes)
        if not (point in fatal if file.partition(".")[0] in STATE else reached):
            found[point] = file
    return found


def test_every_point_is_one_of_a_test() -> None:
    assert points_in(sources())
    assert untested(sources(), texts_of_tests()) == {}


def test_every_point_of_a_table_is_there() -> None:
    assert fatal_points(texts_of_tests()) <= set(points_in(sources()))


@pytest.mark.parametrize("file", ["keyed.c", "heap.c", "ring.c"])
def test_a_point_without_a_test_is_found(file: str) -> None:
    texts = sources()
    texts[file] += '\nvoid further(void)\n{\n    VP_CRASH_POINT("further: begun");\n}\n'
    assert untested(texts, texts_of_tests()) == {"further: begun": file}


def test_a_point_that_a_table_has_lost_is_found() -> None:
    tests = texts_of_tests()
    tests["test_keyed_crash.c"] = tests["test_keyed_crash.c"].replace('"commit: not yet", ', "")
    assert untested(sources(), tests) == {"commit: not yet": "writer.c"}
