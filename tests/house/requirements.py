"""Packages of others that the tests import as they are collected, beside those that `make test` installs."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = frozenset(path.name for path in ROOT.iterdir() if path.is_dir())
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_OF_OURS = re.compile(r"viperstorm\[([\w, ]+)\]")


brought = cache(packages_distributions)


def named(requirement: str) -> str:
    """The name of a distribution that a requirement begins with, as all spellings of it have it in common."""
    found = _NAME.match(requirement)
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def installed_by(extra: str) -> set[str]:
    """The names of the distributions that an extra brings, and of those that these require."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = parser["options.extras_require"]
    todo, lines, seen = [extra], parser["options"]["install_requires"].splitlines(), set[str]()
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            lines += extras[one].splitlines()
            for line in extras[one].splitlines():
                if found := _OF_OURS.match(line.strip()):
                    todo += [name.strip() for name in found[1].split(",")]
    names = {named(line.strip()) for line in lines if line.strip() and line.strip()[0] != "#"}
    return names | {further for name in names for further in _required_by(name)}


def _required_by(name: str) -> Iterator[str]:
    try:
        yield from (named(line) for line in requires(name) or () if "extra ==" not in line)
    except PackageNotFoundError:
        return


def imported_at_once(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the first name of each import of a module, up to an `importorskip` at its top."""
    todo: list[ast.stmt] = list(ast.parse(source).body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Expr | ast.Assign) and "importorskip(" in ast.unparse(node):
            return
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name.partition(".")[0]) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module.partition(".")[0]
        elif isinstance(node, ast.ClassDef | ast.Try | ast.With):
            todo[:0] = node.body
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            todo[:0] = [*node.body, *node.orelse]


def not_installed(source: str, installed: set[str]) -> list[str]:
    """List the imports, as ``LINE: NAME``, of packages that are here, but in none of these distributions."""
    return [
        f"{line}: {name}"
        for line, name in imported_at_once(source)
        if name in brought()
        and name not in sys.stdlib_module_names | OURS
        and not {named(found) for found in brought().get(name, ())} & installed
    ]
