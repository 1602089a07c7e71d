"""Reads from the sources which module imports which; no module is imported for it.

Imports inside functions count as well, because they couple modules as much as those at the top of a
file. So do those under ``if TYPE_CHECKING``; they are marked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Import:
    """One module imports another one."""

    importer: str
    """Dotted name of the module that imports; a package's ``__init__.py`` has the package's name."""
    imported: str
    """Dotted name of the module, or of the package whose ``__init__.py`` holds the name."""
    file: str
    """Path of the importing file, relative to the folder that holds the package."""
    line: int
    for_types_only: bool = False

    def __str__(self) -> str:
        marked = " (for types only)" if self.for_types_only else ""
        return f"{self.file}:{self.line} imports {self.imported}{marked}"


@cache
def imports_in(package: str, root: Path = REPOSITORY) -> Sequence[Import]:
    """All imports between the modules of a package, in the order of files; read once per process.

    Args:
        package: name of a folder with modules, e.g. ``framework``. Folders called ``templates`` are left out:
            they hold other projects' files.
        root: the folder that holds the package.
    """
    found: list[Import] = []
    for path in sorted((root / package).rglob("*.py")):
        if not {"templates", "__pycache__"} & set(path.parts):
            found += _imports_of(path, package, root)
    return tuple(found)


def room_of(module: str, house: str) -> str | None:
    """The room of a house that a module is in, None if it is in another house.

    A house is a package. Its rooms are the packages and modules directly in it, by name; the house's own
    ``__init__.py`` is the room that has the name of the house.
    """
    if module == house:
        return house
    if not module.startswith(f"{house}."):
        return None
    return module.removeprefix(f"{house}.").partition(".")[0]


def between_rooms(imports: Sequence[Import], house: str) -> Mapping[tuple[str, str], Sequence[Import]]:
    """The imports from one room of a house to another, by these two."""
    found: dict[tuple[str, str], list[Import]] = {}
    for entry in imports:
        rooms = room_of(entry.importer, house), room_of(entry.imported, house)
        if rooms[0] is not None and rooms[1] is not None and rooms[0] != rooms[1]:
            found.setdefault((rooms[0], rooms[1]), []).append(entry)
    return found


def circles(imports: Sequence[Import]) -> Sequence[Sequence[str]]:
    """Groups of modules that all reach each other by imports, each sorted by name."""
    graph: dict[str, set[str]] = {}
    for entry in imports:
        if entry.imported != entry.importer:
            graph.setdefault(entry.importer, set()).add(entry.imported)
    reached = {module: _reachable(module, graph) for module in graph}
    groups = {
        tuple(sorted(other for other in ways if module in reached.get(other, ())))
        for module, ways in reached.items()
        if module in ways
    }
    return sorted(groups)


def _reachable(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _imports_of(path: Path, package: str, root: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    file = path.relative_to(root)
    importer = _module_name(file)
    for_types = {id(node) for block in ast.walk(tree) if _is_for_types(block) for node in ast.walk(block)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for imported in dict.fromkeys(_modules(node, file, root)):
                if imported.partition(".")[0] == package:
                    yield Import(importer, imported, str(file), node.lineno, id(node) in for_types)


def _modules(node: ast.Import | ast.ImportFrom, file: Path, root: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = ".".join(file.parts[: -node.level]) if node.level else ""
    module = ".".join(part for part in (base, node.module) if part)
    for alias in node.names:
        inner = f"{module}.{alias.name}"
        yield inner if _is_module(inner, root) else module


def _is_module(name: str, root: Path) -> bool:
    path = root.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _module_name(file: Path) -> str:
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_for_types(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    return any(isinstance(part, ast.Name) and part.id == "TYPE_CHECKING" for part in ast.walk(node.test))
