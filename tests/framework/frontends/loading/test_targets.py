"""The forms of a target, and the message if it names nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.frontends.loading import Target, configured, load, parse, project_files, topology_folders
from framework.model.errors import LoadError

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


class TestStreamparsesConfiguration:
    """``sparse`` joins `topology_specs` of its ``config.json`` with the name, and ``.py``."""

    @pytest.fixture(autouse=True)
    def files(self, project: Path) -> None:
        for name in ("topos/mine.py", "topos/wordcount.py", "topos/sub/deep.py", "topologies/sub/other.py"):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).touch()

    @pytest.mark.parametrize("folder", ["topos", "topos/", "./topos"])
    def test_names_the_folder_of_topologies(self, folder: str, project: Path) -> None:
        (project / "config.json").write_text(json.dumps({"topology_specs": folder, "envs": {}}))
        assert parse("mine").file == Path("topos/mine.py")
        assert parse("wordcount").file == Path("topos/wordcount.py")
        assert parse("joined").file == Path("topologies/joined.yml")  # which streamparse does not look for
        assert parse("sub/deep:Deep") == Target(Path("topos/sub/deep.py"), "deep", "Deep")
        assert [str(file) for file in project_files()][:2] == ["topos/mine.py", "topos/wordcount.py"]

    def test_may_name_a_folder_elsewhere(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (project / "package" / "config.json").write_text(
            json.dumps({"topology_specs": str(project / "topos")})
        )
        monkeypatch.chdir(project / "package")
        assert parse("mine").file == project / "topos" / "mine.py"

    @pytest.mark.parametrize("text", ["{", "[]", "{}", '{"topology_specs": 3}', '{"topology_specs": ""}'])
    def test_that_names_none_leaves_it_at_the_usual_one(self, text: str, project: Path) -> None:
        (project / "config.json").write_text(text)
        assert topology_folders() == (Path("topologies"),)
        assert parse("mine") == Target(None, "mine", None)

    def test_is_in_the_message_of_a_name_that_is_not_found(self, project: Path) -> None:
        (project / "config.json").write_text('{"topology_specs": "topos"}')
        for folder in topology_folders():
            assert str(folder) in str(load("nowhere").problems[0])

    def test_may_be_another_file(self, project: Path) -> None:
        """As ``sparse run --config FILE``, whose folder is one of the current folder all the same."""
        file = project / "package" / "other.json"
        file.write_text('{"topology_specs": "topos", "envs": {}}')
        assert configured("mine", [file]) == "topos/mine.py"
        assert configured("sub/deep:Deep", [project / "nowhere.json", file]) == "topos/sub/deep.py:Deep"
        for other in ("joined", "topologies/wordcount.py:X", "package.module:Name", ""):
            assert configured(other, [file]) == other

    def test_a_name_may_have_folders(self) -> None:
        assert parse("sub/other").file == Path("topologies/sub/other.py")
        with pytest.raises(LoadError, match="did you mean 'sub/other'"):
            parse("sub/othre")


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
