"""The figures of the pages: they are there, say in words what they show, and need nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.console import REPOSITORY

DOCS = REPOSITORY / "docs"
SHOWN = [
    (page, alternative, target)
    for page in sorted(DOCS.glob("*.md"))
    for alternative, target in re.findall(r"!\[(.*?)\]\((.*?)\)", page.read_text(encoding="utf-8"))
]
SVG = "{http://www.w3.org/2000/svg}"


def test_every_figure_that_is_shown_exists_and_has_words_in_its_place() -> None:
    assert len(SHOWN) > 5
    assert [target for page, _, target in SHOWN if not (page.parent / target).is_file()] == []
    assert [target for _, alternative, target in SHOWN if not alternative] == []


def test_every_figure_is_shown() -> None:
    shown = {(page.parent / target).name for page, _, target in SHOWN}
    assert {path.name for path in (DOCS / "figures").iterdir()} == shown


@pytest.mark.parametrize("path", sorted((DOCS / "figures").glob("*.svg")), ids=lambda path: path.stem)
def test_a_figure_has_a_title_and_fetches_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).findtext(f"{SVG}title")
    assert re.findall(r"(?:href=|@import|url\()[\"']?(?!#)[^\"')]*", text) == []


@pytest.mark.parametrize("name", ["order", "gate", "jumbo-tuple", "checkpoint", "run"])
def test_a_picture_of_how_it_works_is_described_and_has_colours_for_the_dark(name: str) -> None:
    text = (DOCS / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    drawn = ElementTree.fromstring(text)
    assert len(drawn.findtext(f"{SVG}desc") or "") > 80
    assert drawn.get("role") == "img"
    assert "prefers-color-scheme: dark" in text
