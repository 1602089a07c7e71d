"""Programs that are Python components: hosted directly, instead of through pipes and JSON.

A script is looked at without running it: one that does more than define a component at its top
level stays a program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from framework.topology import Role

_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_LIBRARIES = ("viperstorm", "framework", "streamparse", "pystorm")
_BASES = {
    Role.SPOUT: ("Spout", "ReliableSpout"),
    Role.BOLT: ("Bolt", "BatchingBolt", "TicklessBatchingBolt"),
}


def hosted_class_name(command: Sequence[str], role: Role, folders: Sequence[str]) -> str | None:
    """The dotted path of the component that a command runs; None if it is another program.

    Args:
        command: ``streamparse_run [-s serializer] module.Class`` or ``python script.py``, in one
            string or several.
        role: whether the script's spouts or its bolts count.
        folders: where scripts are looked up.
    """
    words = " ".join(command).split()
    if not words:
        return None
    program = PurePath(words[0]).name
    if program == "streamparse_run":
        return _of_streamparse_run(words[1:])
    if _PYTHON.fullmatch(program) and len(words) == 2 and words[1].endswith(".py"):
        return _of_script(PurePath(words[1]), role, folders)
    return None


def _of_streamparse_run(arguments: list[str]) -> str | None:
    if arguments and arguments[0] in ("-s", "--serializer"):
        arguments = arguments[2:]
    return arguments[0] if len(arguments) == 1 else None


def _of_script(script: PurePath, role: Role, folders: Sequence[str]) -> str | None:
    if script.is_absolute() or ".." in script.parts:
        return None
    file = next((found for folder in folders if (found := Path(folder, script)).is_file()), None)
    tree = None if file is None else _parsed(file)
    if tree is None or _does_something(tree):
        return None
    classes = [
        node.name for node in tree.body if isinstance(node, ast.ClassDef) and _is_component(node, tree, role)
    ]
    return ".".join([*script.with_suffix("").parts, classes[0]]) if len(classes) == 1 else None


def _parsed(file: Path) -> ast.Module | None:
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _does_something(tree: ast.Module) -> bool:
    """Whether importing a module calls something, e.g. ``SplitBolt().run()``, which reads from stdin."""
    calls = (node for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return any(calls)


def _is_component(node: ast.ClassDef, tree: ast.Module, role: Role) -> bool:
    names = set(_base_names(tree, role))
    return any(ast.unparse(base) in names for base in node.bases)


def _base_names(tree: ast.Module, role: Role) -> Iterator[str]:
    """The names under which a module knows the libraries' base classes."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in _LIBRARIES:
            for alias in node.names:
                name = alias.asname or alias.name
                yield from (
                    [name] if alias.name in _BASES[role] else [f"{name}.{base}" for base in _BASES[role]]
                )
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in _LIBRARIES:
                    yield from (f"{alias.asname or alias.name}.{base}" for base in _BASES[role])
