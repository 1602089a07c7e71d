"""docs/determinism.md names tests and topologies that exist."""

from __future__ import annotations

import re
from pathlib import Path

from tests.determinism.topologies import TOPOLOGIES
from tests.determinism.variants import JUMBO_SIZES, PARALLELISMS

TESTS = Path(__file__).parents[1]
TEXT = (TESTS.parent / "docs" / "determinism.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`((?:determinism|framework)/[\w/]+\.py)(?:::(\w+))?`", TEXT)
    assert len(named) > 10
    for path, name in named:
        source = (TESTS / path).read_text(encoding="utf-8")
        assert not name or re.search(rf"^\s*(?:def|class) {name}\b", source, flags=re.MULTILINE), name


def test_every_topology_that_is_named_exists() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("|")]
    named = {
        name for row in rows for part in re.findall(r"topolog(?:y|ies) (.*)", row) for name in _ids(part)
    }
    assert named >= {"keyed", "where"}
    assert named <= set(TOPOLOGIES)


def test_the_axes_are_as_told() -> None:
    assert f"| {', '.join(map(str, PARALLELISMS))} |" in TEXT
    assert f"| {', '.join(map(str, JUMBO_SIZES))} |" in TEXT


def _ids(text: str) -> list[str]:
    return [name for name in re.findall(r"`([^`]+)`", text) if name.isidentifier()]
