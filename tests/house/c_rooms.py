"""The rooms of the C extension: which file includes and calls which, read from the sources alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ORDER: Final = ("rows", "keys", "codec", "state", "tx", ".")
"""From the bottom up: a room uses itself and those before it. The last holds `module.c`, which names all."""

_COMMENT_OR_TEXT = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_DEFINED = re.compile(
    r"^(?!static\b|typedef\b|extern\b)[A-Za-z][\w *]*?\b(\w+)(?:\([^;{}]*\)\n\{|(?:\[\])? = \{)", re.MULTILINE
)
_OWN = re.compile(r"^static\b[\w *]*?\b(\w+)(?:\([^;{}]*\)\n\{|\[?[^;(]*= )", re.MULTILINE)
_INLINE = re.compile(r"^static inline\b[\w *]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")


def _files(root: Path, pattern: str) -> list[Path]:
    return [path for path in sorted(root.glob(pattern)) if "build" not in path.parts]


def _code(path: Path) -> str:
    return _COMMENT_OR_TEXT.sub(" ", path.read_text())


def _with_inline(names: set[str], bodies: dict[str, set[str]]) -> set[str]:
    """Names, and those that the inline functions of headers among them name."""
    found = set(names)
    while more := {inner for name in found & bodies.keys() for inner in bodies[name]} - found:
        found |= more
    return found


def calls(root: Path) -> dict[str, set[str]]:
    """For each C file below a folder the others whose functions or types of Python it names."""
    code = {path.relative_to(root).as_posix(): _code(path) for path in _files(root, "**/*.c")}
    home = {name: file for file, text in code.items() for name in _DEFINED.findall(text)}
    bodies = {
        name: set(_NAME.findall(body))
        for path in _files(root, "**/*.h")
        for name, body in _INLINE.findall(_code(path))
    }
    found = {}
    for file, text in code.items():
        names = _with_inline(set(_NAME.findall(text)) - set(_OWN.findall(text)), bodies)
        found[file] = {home[name] for name in names if name in home} - {file}
    return found


def includes(root: Path) -> dict[str, set[str]]:
    """For each C file and header below a folder the headers below it that it includes."""
    files = _files(root, "**/*.[ch]")
    found: dict[str, set[str]] = {}
    for path in files:
        named = re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
        candidates = [place / name for name in named for place in (path.parent, root)]
        found[path.relative_to(root).as_posix()] = {
            place.relative_to(root).as_posix() for place in candidates if place in files
        }
    return found


def circle(uses: dict[str, set[str]]) -> list[str]:
    """The files of all circles and of all that leads to one; empty where there is none."""
    left = {file: set(others) for file, others in uses.items()}
    while ends := [file for file, others in left.items() if not others & left.keys()]:
        for file in ends:
            del left[file]
    return sorted(left)


def upwards(uses: dict[str, set[str]]) -> list[str]:
    """Each use of a room by one below it, as "rows/plain.c -> tx/log.c"."""

    def level(file: str) -> int:
        return ORDER.index(Path(file).parent.as_posix())

    pairs = [(file, other) for file, others in uses.items() for other in sorted(others)]
    return [f"{file} -> {other}" for file, other in pairs if level(other) > level(file)]
