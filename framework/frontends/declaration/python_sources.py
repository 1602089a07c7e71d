"""Where in the user's Python files something was declared or went wrong."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from framework.model.topology.places import Place

_FRAMEWORK = str(Path(__file__).parents[2]) + os.sep

_Statement = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def shown(file: str) -> str:
    """A file's path as a user would write it: relative to the current folder where it is below it."""
    relative = os.path.relpath(file)
    return os.path.abspath(file) if relative.startswith(os.pardir) else relative


def calling_place() -> Place:
    """The line of user code that called into the framework."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_FRAMEWORK) and frame.f_back is not None:
        frame = frame.f_back
    return Place(shown(frame.f_code.co_filename), frame.f_lineno)


@dataclass(frozen=True, slots=True)
class ClassSource:
    """The lines of a class statement; lines that cannot be found are those of what is around them."""

    name: str
    file: str = ""
    line: int = 0
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Lines by (attribute, keyword of the call that makes it); the keyword is "" for the whole."""

    def place(self, attribute: str = "", keyword: str = "") -> Place:
        """The place of an attribute of the class, or of a keyword argument in its value."""
        attribute = written(attribute, self.name)
        line = self.lines.get((attribute, keyword)) or self.lines.get((attribute, "")) or self.line
        return Place(self.file, line, f"{self.name}.{attribute}" if attribute else self.name)

    def attribute_at(self, line: int) -> str:
        """The attribute whose definition covers a line."""
        begun = [(begin, attribute) for (attribute, _), begin in self.lines.items() if begin <= line]
        return max(begun, default=(0, ""))[1]


def written(attribute: str, class_name: str) -> str:
    """A class's attribute as its author wrote it: Python itself calls ``__x`` of a class Y ``_Y__x``."""
    prefix = f"_{class_name.lstrip('_')}"
    return attribute.removeprefix(prefix) if attribute.startswith(f"{prefix}__") else attribute


def file_of(cls: type) -> str:
    """The file that a class is defined in; "" where there is none."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or ""


def class_source(file: str, qualname: str) -> ClassSource:
    """The lines of a class in a file; only its name where the file does not hold it."""
    name = qualname.rpartition(".")[2]
    if not file:
        return ClassSource(name)
    statement = _statement(file, qualname)
    if statement is None:
        return ClassSource(name, shown(file))
    return ClassSource(name, shown(file), statement.lineno, dict(_lines(statement)))


def _statement(file: str, qualname: str) -> ast.ClassDef | None:
    linecache.checkcache(file)
    try:
        found: ast.AST = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None
    for name in qualname.replace(".<locals>", "").split("."):
        named = [node for node in ast.walk(found) if isinstance(node, _Statement) and node.name == name]
        if not named:
            return None
        # Of several definitions of one name the last is the one that counts.
        found = named[-1]
    return found if isinstance(found, ast.ClassDef) else None


def _lines(statement: ast.ClassDef) -> Iterator[tuple[tuple[str, str], int]]:
    for node in statement.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name):
                yield (target.id, ""), node.lineno
                value = getattr(node, "value", None)
                for keyword in value.keywords if isinstance(value, ast.Call) else ():
                    if keyword.arg is not None:
                        yield (target.id, keyword.arg), keyword.lineno
