"""The house rules that no tool checks: who may import whom, what is public, what an import costs."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.house.constructors import KNOWN_WIDE, MOST, wide
from tests.house.imports import Import, circles, imports_in
from tests.house.picture import to_svg, to_text
from tests.house.requirements import installed_by, not_installed
from tests.house.rooms import EXCEPTIONS, ORDERS, as_text, upwards
from tests.house.slivers import KNOWN, LINES, PACKAGES, REASON, slivers
from tests.house.way import way
from tests.house.words import (
    CEILINGS,
    LONG_SENTENCE,
    LONG_SENTENCE_OF_DOCS,
    Text,
    above_ceilings,
    docstrings_of,
    findings,
    first_lines,
    long_sentences,
    not_english,
    relative_sentences,
)

REPOSITORY = Path(__file__).parents[1]

MAY_IMPORT = {
    "topologies": {"viperstorm"},
    "viperstorm_pytest": {"viperstorm"},
    "viperstorm": {"framework", "spark_ingest"},
    "framework": {"viper"},
    "viper": set(),
    "cbackend": set(),
    "spark_ingest": {"framework"},
}
"""The folders of the house, and what each may import of the others. Imports run down, never up."""

OURS = {*MAY_IMPORT, "tests", "benchmarks", "conf", "docs"}

HEAVY = {"streamparse", "pystorm", "thriftpy2", "simplejson", "pyspark", "pyarrow", "click", "yaml", "cffi"}
"""The packages that `import framework` leaves for those who need them."""

WORDS_OF_A_WORKPLACE = re.compile(r"/(?:wor[k]|roo[t])/|pyp[i]\.|pythonhoste[d]|npmj[s]", re.IGNORECASE)
"""Paths of somebody's machine and hosts of package registries; written so that this line is none."""


TEMPLATES = "framework/cli/templates"
"""The files that `viper init` writes; they are a user's code, and import what users import."""


def sources(*folders: str, suffixes: tuple[str, ...] = (".py",)) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in suffixes and not {"build", "__pycache__"} & set(path.parts):
                yield path


def imported_by(path: Path) -> Iterator[tuple[int, str]]:
    """Line and top-level name of every import in a file, wherever in it; relative ones stay at home."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.partition(".")[0]


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_run_down(folder: str) -> None:
    of_users = set(sources(TEMPLATES))
    own = [path for path in sources(folder) if path not in of_users]
    assert forbidden_imports(own, OURS - MAY_IMPORT[folder] - {folder}) == []


def test_what_is_written_for_users_imports_the_public_name() -> None:
    assert len(written := list(sources(TEMPLATES))) > 4
    assert forbidden_imports(written, OURS - {"viperstorm"}) == []


def forbidden_imports(paths: Iterable[Path], forbidden: set[str]) -> list[str]:
    return [
        f"{path.relative_to(REPOSITORY)}:{line} imports {name}"
        for path in paths
        for line, name in imported_by(path)
        if name in forbidden
    ]


def test_an_import_upwards_would_be_found(tmp_path: Path) -> None:
    path = tmp_path / "up.py"
    path.write_text("def f():\n    from topologies.words import components\n")
    assert list(imported_by(path)) == [(2, "topologies")]


class TestRooms:
    """The order of the rooms within framework, framework/runtime and spark_ingest."""

    @pytest.mark.parametrize("house", ORDERS)
    def test_no_room_imports_upwards(self, house: str) -> None:
        found = upwards(imports_in(house.partition(".")[0]), house, ORDERS[house])
        assert [str(entry) for entry in found] == []

    @pytest.mark.parametrize("house", ORDERS)
    def test_every_room_that_stands_in_the_order_exists_and_none_is_forgotten(self, house: str) -> None:
        folder = REPOSITORY.joinpath(*house.split("."))
        modules = {path.stem for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__")}
        packages = {path.parent.name for path in folder.glob("*/__init__.py")}
        rooms = [room for row in ORDERS[house] for room in row]
        assert sorted(rooms) == sorted({house} | modules | packages - _NO_ROOMS)

    def test_exceptions_are_still_needed(self) -> None:
        needed = {(entry.file, entry.imported) for entry in imports_in("framework")}
        assert needed >= EXCEPTIONS

    @pytest.mark.parametrize("package", ["framework", "spark_ingest", "viper"])
    def test_modules_do_not_import_each_other_in_a_circle(self, package: str) -> None:
        assert circles(imports_in(package)) == []

    @pytest.mark.parametrize("house", ORDERS)
    def test_the_documented_order_is_the_declared_one(self, house: str) -> None:
        text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
        assert as_text(house, ORDERS[house]) in text


_NO_ROOMS = {"templates"}


class TestPlantedImports:
    """An import that breaks the order of rooms is found, wherever it hides."""

    ROWS = (("top",), ("left", "right"), ("bottom",))

    def imports(self, folder: Path, **modules: str) -> list[Import]:
        for name in ("house", "house.top", "house.left", "house.right", "house.bottom"):
            package = folder.joinpath(*name.split("."))
            package.mkdir()
            (package / "__init__.py").write_text("")
        for name, source in modules.items():
            folder.joinpath("house", name, "module.py").write_text(source)
        return list(imports_in("house", folder))

    @pytest.mark.parametrize(
        ("source", "line"),
        [
            ("import house.top.module", 1),
            ("from house.top.module import x", 1),
            ("from house.top import module", 1),
            ("from house import top", 1),
            ("from ..top import module", 1),
            ("def f():\n    from house.top.module import x", 2),
            ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.top import module", 3),
        ],
    )
    def test_upwards(self, tmp_path: Path, source: str, line: int) -> None:
        imports = self.imports(tmp_path, top="x = 1", bottom=source)
        (found,) = upwards(imports, "house", self.ROWS)
        assert (found.file, found.line) == ("house/bottom/module.py", line)
        assert found.imported.startswith("house.top")
        assert found.for_types_only == ("TYPE_CHECKING" in source)

    def test_within_a_row(self, tmp_path: Path) -> None:
        imports = self.imports(tmp_path, left="from house.right import module", right="")
        assert [entry.line for entry in upwards(imports, "house", self.ROWS)] == [1]

    @pytest.mark.parametrize("room", ["top", "bottom"])
    def test_of_a_room_without_a_row(self, tmp_path: Path, room: str) -> None:
        imports = self.imports(tmp_path, **{room: "from house.left import module", "left": ""})
        rows = (("top",), ("right",), ("bottom",))
        assert [str(entry) for entry in upwards(imports, "house", rows)] == [
            f"house/{room}/module.py:1 imports house.left.module"
        ]

    def test_downwards_is_allowed(self, tmp_path: Path) -> None:
        imports = self.imports(
            tmp_path, top="from house.left import module\nimport house.bottom", left="import house.bottom"
        )
        assert len(imports) == 3
        assert upwards(imports, "house", self.ROWS) == []

    def test_a_circle_of_lazy_imports(self, tmp_path: Path) -> None:
        lazy = "def f():\n    from house.left import module"
        imports = self.imports(tmp_path, left="import house.right.module", right=lazy)
        assert circles(imports) == [("house.left.module", "house.right.module")]

    def test_the_pictures_show_it(self, tmp_path: Path) -> None:
        imports = self.imports(
            tmp_path,
            top="import house.left, house.bottom",
            left="import house.bottom",
            bottom="import house.top",
        )
        assert to_text(imports, "house", self.ROWS).splitlines() == [
            "  1  top     left (1), bottom (1)",
            "  2  left    bottom (1)",
            "  2  right   -",
            "  3  bottom  UP TO top (1)",
        ]
        drawn = ElementTree.fromstring(to_svg(imports, "house", self.ROWS))
        arrows = [path.get("marker-end") for path in drawn.iter("{http://www.w3.org/2000/svg}path")]
        # top -> bottom follows from top -> left -> bottom, and is not drawn.
        assert sorted(filter(None, arrows)) == ["url(#down)", "url(#down)", "url(#up)"]


class TestSlivers:
    """A small module that one other imports is part of that one, or says why it is not."""

    def test_no_module_becomes_a_sliver(self) -> None:
        found = slivers([entry for package in PACKAGES for entry in imports_in(package)])
        assert sorted(found - KNOWN) == []
        assert sorted(KNOWN - found) == [], "none any more: take them from KNOWN"

    @pytest.mark.parametrize(
        ("docstring", "lines", "importers", "is_sliver"),
        [
            ("Small.", 2, ["a"], True),
            ("Small.", LINES - 1, ["a"], True),
            ("Small.", LINES, ["a"], False),
            ("Small.", 2, ["a", "b"], False),
            ("Small.", 2, ["__init__"], False),
            (f"Small.\n\n{REASON}: it is tried alone.\n", 5, ["a"], False),
        ],
    )
    def test_a_planted_one_is_found(
        self, tmp_path: Path, docstring: str, lines: int, importers: list[str], is_sliver: bool
    ) -> None:
        house = tmp_path / "house"
        house.mkdir()
        (house / "__init__.py").write_text("")
        text = f'"""{docstring}"""\n'
        (house / "small.py").write_text(text + "x = 1\n" * (lines - text.count("\n")))
        for name in importers:
            (house / f"{name}.py").write_text("from house.small import x\n")
        assert slivers(imports_in("house", tmp_path), tmp_path) == ({"house.small"} if is_sliver else set())


class TestConstructors:
    """A class with more than a few parts takes values that group them."""

    def test_none_grows_wide(self) -> None:
        found = wide(path for package in PACKAGES for path in sources(package))
        assert found == KNOWN_WIDE, "group arguments in a value; strike off, or lower, what has become narrow"

    @pytest.mark.parametrize(
        ("parameters", "count"),
        [
            ("a, b, c, d, e, f", None),
            ("a, b, c, d, e, f, g", 7),
            ("a, b, c, /, d, *, e=1, f=2, g=3", 7),
            ("a, *rest, b=1, **options", None),
        ],
    )
    def test_a_planted_one_is_found(self, tmp_path: Path, parameters: str, count: int | None) -> None:
        path = tmp_path / "house" / "rooms" / "hall.py"
        path.parent.mkdir(parents=True)
        path.write_text(f"class Hall:\n    def __init__(self, {parameters}):\n        pass\n")
        expected = {} if count is None else {"house.rooms.hall.Hall": count}
        assert MOST == 6
        assert wide([path], tmp_path) == expected


@pytest.mark.parametrize("name", ["framework", "viperstorm", "viperstorm.spark"])
def test_importing_it_is_cheap(name: str) -> None:
    code = f"import sys, {name}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert HEAVY.isdisjoint(ran.stdout.split())


@pytest.mark.parametrize("folder", ["framework", "viper", "viperstorm", "spark_ingest"])
def test_every_folder_of_modules_is_a_package(folder: str) -> None:
    folders = {path.parent for path in sources(folder) if "templates" not in path.parts}
    assert [str(found) for found in sorted(folders) if not (found / "__init__.py").is_file()] == []


class TestPublicNames:
    def packages(self) -> list[str]:
        inits = [path for path in sources("framework", "viper") if path.name == "__init__.py"]
        folders = [path.parent.relative_to(REPOSITORY) for path in inits if "templates" not in path.parts]
        return [".".join(folder.parts) for folder in folders]

    def test_all_names_exist_and_stand_in_order(self) -> None:
        for name in self.packages():
            package = importlib.import_module(name)
            public = getattr(package, "__all__", [])
            assert list(public) == sorted(set(public), key=_as_ruff_sorts), name
            assert [entry for entry in public if not hasattr(package, entry)] == [], name

    def test_what_the_framework_exports_is_what_is_documented(self) -> None:
        text = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
        documented = re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)
        assert sorted(documented) == sorted(importlib.import_module("framework").__all__)


def _as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants, classes, functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_the_project_speaks_of_itself_only() -> None:
    suffixes = (".py", ".pyi", ".c", ".h", ".md", ".yaml", ".cfg", ".toml", ".json")
    top = [
        path
        for path in REPOSITORY.iterdir()
        if path.suffix in suffixes or path.name in ("Makefile", "NOTICE")
    ]
    found = [
        f"{path.relative_to(REPOSITORY)}: {match.group()}"
        for path in (*top, *sources(*OURS, ".ci", suffixes=suffixes))
        for match in WORDS_OF_A_WORKPLACE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_every_documented_target_of_make_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    text = "".join(
        (REPOSITORY / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")
    )
    targets = set(re.findall(r"^([\w-]+):", makefile, flags=re.MULTILINE))
    named = set(re.findall(r"^    make ([\w-]+)", text, flags=re.MULTILINE))
    assert {"demo", "demo-spark", "test"} <= named <= targets


def test_no_pattern_of_words_rises_above_its_ceiling() -> None:
    found = findings()
    assert found.keys() == CEILINGS.keys()
    assert not above_ceilings(found, CEILINGS)


def test_planted_words_are_counted() -> None:
    long = " ".join(["word"] * 31)
    source = (
        'class Planted:\n    """What a task holds.\n\n'
        f'    {long}. Those remain. A noun. Is it? Whether it ends."""\n'
        '    size = 1\n    """How many there are."""\n'
        '    def name(self) -> str:\n        """Return the name of the task."""\n'
        '        if self:\n            pass\n        return "What is no docstring"\n'
    )
    texts = list(docstrings_of("planted.py", source))
    assert [(first.line, first.text) for first in first_lines(texts)] == [
        (2, "What a task holds."),
        (6, "How many there are."),
    ]
    assert [sentence.text for sentence in relative_sentences(texts)] == [
        "What a task holds.",
        "Those remain.",
        "Whether it ends.",
    ]
    assert [sentence.text for sentence in long_sentences(texts, LONG_SENTENCE)] == [f"{long}."]
    table = Text("table.py", 1, "\n".join(f"row {number}   with some text of its own" for number in range(9)))
    assert long_sentences([table], LONG_SENTENCE) == []
    row = f"| A cell. {' cell' * LONG_SENTENCE} |"
    page = Text(
        "page.md", 1, f"{'word ' * LONG_SENTENCE_OF_DOCS}\n\n{'term ' * LONG_SENTENCE_OF_DOCS}more\n{row}\n"
    )
    assert [found.line for found in long_sentences([page], LONG_SENTENCE_OF_DOCS)] == [3]
    assert [
        word.line for word in not_english([Text("planted.c", 7, "index\nthe so-" + "manieth row\n")])
    ] == [8]
    planted = {"first lines of the code": first_lines(texts)}
    assert len(above_ceilings(planted, {"first lines of the code": 1})) == 1
    assert above_ceilings(planted, {"first lines of the code": 2}) == []


def test_the_way_of_a_tuple_is_traced() -> None:
    """Between two bolts of a chain no gate is passed, and nothing is asked about timers, answers or cuts.

    The bounds are the counts of today: lower them when they fall, and never raise them.
    """
    files, by_gate = set(way(by_gate=False)), way(by_gate=True)
    assert len(files) <= 23, files
    assert len(by_gate) <= 28, by_gate
    assert "viper/reader.py" in by_gate
    tasks = {path.removeprefix("framework/runtime/tasks/").removesuffix(".py") for path in files}
    assert tasks >= {"emitter", "bolt_task", "processors"}
    assert not tasks & {"agenda", "awaited", "bolt_cut", "membership"}
    assert not {"viper/reader.py", "viper/source.py"} & files


def test_tests_import_what_make_test_installs() -> None:
    """A test that imports more at its top ends the collection in a new checkout; `importorskip` does not."""
    installed = installed_by("test")
    found = {
        str(path.relative_to(REPOSITORY)): missing
        for path in sorted((REPOSITORY / "tests").rglob("*.py"))
        if "fixtures" not in path.parts and (missing := not_installed(path.read_text("utf-8"), installed))
    }
    assert found == {}


def test_a_planted_import_is_found() -> None:
    source = "import pyspark.sql\nimport pytest, os\nif TYPE_CHECKING:\n    import mypy\n"
    source += "def test():\n    import mypy\npytest.importorskip('numpy')\nimport numpy\n"
    assert not_installed(source, {"pytest"}) == ["1: pyspark"]
    assert not_installed(source, {"pytest", "pyspark"}) == []
