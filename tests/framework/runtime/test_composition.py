"""Tasks are composed of small parts, and no part is steered from outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

RUNTIME = Path(__file__).parents[3] / "framework" / "runtime"
MOST_ATTRIBUTES = 16
MOST_ARGUMENTS = 6

VALUES = {"counters", "_counters"}
"""Attributes that hold plain values which grow: whoever holds them counts."""
OF_OTHERS = {
    *("exchange/inputs.py", "tasks/hosts/host.py", "tasks/hosts/user_errors.py", "tasks/slot.py"),
    *("workers/by_value.py", "workers/messages.py", "workers/shipping.py"),
}
"""Files that prepare objects that are not the runtime's: components, exceptions, log records, classes."""


@dataclass(frozen=True)
class Shape:
    """The bases, attributes and arguments of a class."""

    bases: tuple[str, ...]
    attributes: frozenset[str]
    arguments: int


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def stored(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Every attribute that is assigned."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node


def is_own(attribute: ast.Attribute) -> bool:
    return isinstance(attribute.value, ast.Name) and attribute.value.id in ("self", "cls")


def shapes() -> Mapping[str, Shape]:
    found = {}
    for path in sorted((RUNTIME / "tasks").glob("*.py")):
        for cls in parsed(path).body:
            if isinstance(cls, ast.ClassDef):
                found[cls.name] = shape_of(cls)
    return found


def shape_of(cls: ast.ClassDef) -> Shape:
    made = [m for m in cls.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"]
    arguments = max((len(m.args.args) + len(m.args.kwonlyargs) - 1 for m in made), default=0)
    bases = tuple(base.id for base in cls.bases if isinstance(base, ast.Name))
    return Shape(bases, frozenset(a.attr for a in stored(cls) if is_own(a)), arguments)


def attributes(name: str, found: Mapping[str, Shape]) -> set[str]:
    """Collect the attributes of a class, inherited ones included."""
    if name not in found:
        return set()
    return set(found[name].attributes).union(*(attributes(base, found) for base in found[name].bases))


def test_no_task_has_many_attributes_or_arguments() -> None:
    found = shapes()
    assert {"BoltTask", "SpoutTask", "PartitionedTask", "ReplayTask"} <= set(found)
    counted = {name: (len(attributes(name, found)), shape.arguments) for name, shape in found.items()}
    assert {
        name: counts
        for name, counts in counted.items()
        if counts[0] > MOST_ATTRIBUTES or counts[1] > MOST_ARGUMENTS
    } == {}


def steered(tree: ast.Module) -> list[str]:
    """The attributes of other objects that a module assigns, plain values and its own records left out."""
    own = {cls.name for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef) and cls.name.startswith("_")}
    records = {
        argument.arg
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for argument in function.args.args
        if isinstance(argument.annotation, ast.Name) and argument.annotation.id in own
    }
    return [
        ast.unparse(attribute)
        for attribute in stored(tree)
        if not is_own(attribute)
        and not (isinstance(attribute.value, ast.Attribute) and attribute.value.attr in VALUES)
        and not (isinstance(attribute.value, ast.Name) and attribute.value.id in VALUES | records)
        and attribute.attr != "__cause__"
    ]


def test_no_attribute_is_set_from_outside() -> None:
    found = {
        name: steered(parsed(path))
        for path in sorted(RUNTIME.rglob("*.py"))
        if (name := path.relative_to(RUNTIME).as_posix()) not in OF_OTHERS
    }
    assert {name: attributes for name, attributes in found.items() if attributes} == {}


def test_an_attribute_that_is_set_from_outside_would_be_found() -> None:
    assigned = ("task.blocked = self.done = True", "task.counters.ticks += 1")
    tree = ast.parse("\n    ".join(("def run(self, task):", *assigned)))
    assert steered(tree) == ["task.blocked"]
