"""A valid file that is changed in any way: loading it reports problems and never raises."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from framework.frontends.flux import load_flux, to_flux
from framework.planning.validation import validate
from tests.portions import at_every_change

FILES = Path(__file__).parent / "files"
TEXTS = [path.read_text("utf-8") for path in sorted(FILES.glob("*.yaml"))]
PARSABLE = [text for text in TEXTS if "${" not in text]
VALUES = [None, True, 0, -1, 1.5, "", "text", "${x}", [], {}, [[]], [None], {1: 2}]
VALUES += [{"ref": "x"}, {"reflist": 3}]
SNIPPETS = ["\n", "\t", "- ", ": ", "[", "}", "&a ", "*a", "<<: ", "!!int ", "!x ", "'", "#", "${"]
SNIPPETS += ["\x00", "\ud7ff", "|\n"]

EXAMPLES = at_every_change([50, 150])


def check(text: str, folder: Path) -> None:
    """Load a file strictly and not; each problem of it has a line."""
    file = folder / "mutant.yaml"
    file.write_text(text, "utf-8")
    for strict in (False, True):
        loaded = load_flux(file, environ={}, strict=strict)
        for problem in loaded.problems:
            assert problem.message
            assert problem.place.file
        if loaded.topology is not None:
            validate(loaded.topology)
            to_flux(loaded.topology)


def containers(value: Any) -> list[Any]:
    """All mappings and lists in a value that are not empty."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    found = [container for item in inner for container in containers(item)]
    return [value, *found] if isinstance(value, dict | list) and value else found


def mutate(value: Any, draw: random.Random) -> None:
    """Delete, rename, duplicate, move or replace one thing somewhere in a value."""
    container = draw.choice(containers(value))
    other = draw.choice(containers(value))
    key = draw.choice(list(container) if isinstance(container, dict) else range(len(container)))
    match draw.choice(["delete", "rename", "replace", "swap", "copy"]):
        case "delete":
            del container[key]
        case "rename" if isinstance(container, dict):
            container[f"{key}x"] = container.pop(key)
        case "rename" | "replace":
            container[key] = deepcopy(draw.choice(VALUES))
        case "swap":
            where = draw.choice(list(other) if isinstance(other, dict) else range(len(other)))
            container[key], other[where] = deepcopy(other[where]), deepcopy(container[key])
        case "copy" if isinstance(container, list):
            container.append(deepcopy(container[key]))
        case "copy":
            container[draw.choice(["id", "name", "bolts", "from"])] = deepcopy(container[key])


def changed_value(text: str, draw: random.Random, count: int) -> str:
    """A file with some changes of its values."""
    value = yaml.safe_load(text)
    for _ in range(count):
        if containers(value):
            mutate(value, draw)
    return yaml.safe_dump(value, sort_keys=False)


def changed_text(text: str, draw: random.Random, count: int) -> str:
    """A file with some changes of its text, which may leave no YAML."""
    for _ in range(count):
        start, end = sorted(draw.choices(range(len(text) + 1), k=2))
        lines = text.splitlines(keepends=True) or [""]
        line = draw.randrange(len(lines))
        match draw.choice(["cut", "insert", "repeat", "drop"]):
            case "cut":
                text = text[:start] + text[min(end, start + 30) :]
            case "insert":
                text = text[:start] + draw.choice(SNIPPETS) + text[start:]
            case "repeat":
                text = "".join([*lines[: line + 1], *lines[line:]])
            case "drop":
                text = "".join([*lines[:line], *lines[line + 1 :]])
    return text


@pytest.mark.few(1, daily=True)
@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize(("change", "texts"), [(changed_value, PARSABLE), (changed_text, TEXTS)])
def test_changed_files_never_raise(
    change: Callable[[str, random.Random, int], str], texts: list[str], examples: int, tmp_path: Path
) -> None:
    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(text=st.sampled_from(texts), draw=st.randoms(use_true_random=False), count=st.integers(1, 4))
    def check_changed(text: str, draw: random.Random, count: int) -> None:
        check(change(text, draw, count), tmp_path)

    check_changed()


@pytest.mark.few(9)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"name: \xff",
        b"- 1",
        b"just text",
        b"a: b: c",
        b"&a [*a]",
        b"name: &a {x: *a}",
        b"? {a: b}\n: c",
        b"[" * 5000,
        *(b"config: {a: " + b"[" * depth + b"]" * depth + b"}" for depth in (100, 150, 200, 250, 300, 400)),
        b"name: !!python/object/apply:os.system [true]",
        b"name: !!timestamp x\nconfig: !!binary '*'",
        b"--- 1\n--- 2",
        b"spouts: [1, [], null, {id: }]\nstreams: {}\nconfig: [1]\nbolts: x",
        b"config: {a: !!int '', b: 1e400, c: 2020-99-99, d: !!set {x}, e: !!omap [1], f: =}",
        b"components: [{id: a, className: 1.2}, {id: a, className: ..}, {id: b, className: os.path}]",
        b"topologySource: {className: os.getcwd}",
        b"topologySource: [1]",
        b"includes: [{file: ''}, {file: .}, {file: /}, 3]",
    ],
)
def test_odd_files_never_raise(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_bytes(content)
    loaded = load_flux(file)
    assert loaded.problems
    if loaded.topology is not None:
        validate(loaded.topology)
        to_flux(loaded.topology)
