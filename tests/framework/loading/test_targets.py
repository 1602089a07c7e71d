"""What a target may look like, and what is said where it names nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.errors import LoadError
from framework.loading.target import Target, parse

PYTHON = Path("topologies/wordcount.py")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topologies").mkdir()
    for name in ("wordcount.py", "wordcount.yaml", "joined.yml", "notes.txt"):
        (tmp_path / "topologies" / name).touch()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("topologies/wordcount.py", Target(PYTHON, "wordcount", None)),
        ("topologies/wordcount.py:WordCount", Target(PYTHON, "wordcount", "WordCount")),
        ("topologies/wordcount.py:Outer.Inner", Target(PYTHON, "wordcount", "Outer.Inner")),
        ("topologies/wordcount.yaml", Target(Path("topologies/wordcount.yaml"), "wordcount", None)),
        ("wordcount", Target(PYTHON, "wordcount", None)),
        ("wordcount:WordCount", Target(PYTHON, "wordcount", "WordCount")),
        ("joined", Target(Path("topologies/joined.yml"), "joined", None)),
        ("package.module:Name", Target(None, "package.module", "Name")),
        ("package", Target(None, "package", None)),
    ],
)
def test_every_form_of_a_target_is_understood(target: str, expected: Target) -> None:
    assert parse(target) == expected


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "empty target: expected path.yaml"),
        ("topologies/wordcuont.py", "did you mean 'topologies/wordcount.py'?"),
        ("zzz.py", "no such file: 'zzz.py'; topology files in '.': none"),
        ("nowhere/x.py", "there is no folder 'nowhere'"),
        ("topologies", "'topologies' is a folder: expected a topology file, 'topologies/joined.yml', "),
        ("topologies/notes.txt", "expected one that ends in '.py', '.yaml', '.yml' or '.flux'"),
        ("topologies/wordcount.yaml:Name", "drop ':Name'"),
    ],
)
def test_a_target_that_names_nothing_says_what_there_is(target: str, message: str) -> None:
    with pytest.raises(LoadError) as raised:
        parse(target)
    assert message in str(raised.value)


def test_a_bare_name_is_that_of_the_topology_even_beside_a_folder_of_that_name(project: Path) -> None:
    (project / "wordcount").mkdir()
    assert parse("wordcount").file == Path("topologies/wordcount.py")


def test_a_project_folder_says_which_topologies_it_has(project: Path) -> None:
    (project / "inner" / "topologies").mkdir(parents=True)
    (project / "inner" / "topologies" / "one.py").touch()
    with pytest.raises(LoadError, match="is a folder: expected a topology file, 'inner/topologies/one"):
        parse("inner")
