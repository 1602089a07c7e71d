"""The tutorial: its commands print what it shows, one after the other, in one folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.console import REPOSITORY, Command, Shell, differences


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "reader").mkdir()
    shell = Shell(tmp_path / "reader")
    yield shell
    shell.close()


@pytest.mark.slow(daily=True)
def test_the_tutorial_prints_what_it_shows(shell: Shell) -> None:
    page = (REPOSITORY / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert list(differences(page, shell)) == []


def test_what_is_not_as_shown_is_told(shell: Shell) -> None:
    files = "```python\n# new.py\nn = 1\n```\n```python\n# new.py\nn = 2\n```\n"
    page = f"```console\n$ echo two\none\n$ false\n```\n{files}"
    assert [text.splitlines()[0] for text in differences(page, shell)] == [
        "$ echo two",
        "$ false",
        "new.py is not as the page shows it",
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("after ... s\n", "after 0.1 s\n", True),
        ("...\nb\n", "x\ny\nb\n", True),
        ("...\nb\n", "b\nx\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_dots_stand_for_anything(shown: str, printed: str, same: bool) -> None:
    assert Command("", shown).matches(printed) is same
