"""The lines of a class and of its attributes, read from its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.frontends.declaration import class_source, shown
from framework.model.topology import Place

SOURCE = '''\
class Example:
    """Defined twice: the second counts."""
    words = Words.spec()

def function():
    class Local:
        words = Words.spec()

class Example:
    config = {}
    words: Spec = Words.spec(
        par=2,
        config={"a": 1},
    )
    count = other = Count.spec(**options)
    words["default"]
    __mine = Words.spec(par=2)

    class Inner:
        words = Words.spec()
'''


@pytest.fixture(autouse=True)
def _source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("example.py").write_text(SOURCE)


@pytest.mark.parametrize(
    ("qualname", "attribute", "keyword", "line"),
    [
        ("Example", "", "", 9),
        ("Example", "config", "", 10),
        ("Example", "words", "", 11),
        ("Example", "words", "par", 12),
        ("Example", "words", "config", 13),
        ("Example", "words", "inputs", 11),
        ("Example", "count", "par", 15),
        ("Example", "other", "", 15),
        ("Example", "dynamic", "par", 9),
        ("Example", "_Example__mine", "par", 17),
        ("Example.Inner", "words", "", 20),
        ("function.<locals>.Local", "words", "", 7),
    ],
)
def test_a_part_of_a_class_is_at_its_line_or_that_of_what_is_around_it(
    qualname: str, attribute: str, keyword: str, line: int
) -> None:
    name = qualname.rpartition(".")[2]
    place = class_source("example.py", qualname).place(attribute, keyword)
    attribute = attribute.removeprefix("_Example")  # as it was written
    label = f"{name}.{attribute}" if attribute else name
    assert place == Place("example.py", line, label)


def test_a_line_belongs_to_the_attribute_that_began_last() -> None:
    source = class_source("example.py", "Example")
    found = {line: source.attribute_at(line) for line in (9, 10, 11, 14, 15)}
    assert found == {9: "", 10: "config", 11: "words", 14: "words", 15: "other"}


@pytest.mark.parametrize("qualname", ["Absent", "function", "function.<locals>.Absent"])
def test_a_class_that_is_not_in_the_source_has_only_its_file(qualname: str) -> None:
    place = class_source("example.py", qualname).place("words")
    assert (place.file, place.line) == ("example.py", 0)


@pytest.mark.parametrize("file", ["", "absent.py", "<string>"])
def test_a_class_without_a_source_has_its_name(file: str) -> None:
    place = class_source(file, "Example").place("words")
    assert (place.file, place.line, place.attribute) == (file, 0, "Example.words")


def test_a_source_that_cannot_be_parsed_gives_no_lines() -> None:
    Path("example.py").write_text("class Example(:")
    assert class_source("example.py", "Example").place("words").line == 0


def test_paths_are_shown_relative_to_the_current_folder_only_below_it(tmp_path: Path) -> None:
    assert shown(str(tmp_path / "src" / "x.py")) == str(Path("src", "x.py"))
    assert shown(str(tmp_path.parent / "x.py")) == str(tmp_path.parent / "x.py")
