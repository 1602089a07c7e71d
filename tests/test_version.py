"""The version is the same wherever somebody reads it."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

from click.testing import CliRunner

from framework.cli import main
from framework.version import VERSION

REPOSITORY = Path(__file__).parents[1]
SECTION = re.compile(r"^## (\S+) - (unreleased|\d{4}-\d\d-\d\d)$", flags=re.MULTILINE)


def sections() -> list[tuple[str, str]]:
    """The changelog's versions, each with its date, from its beginning on."""
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    found = SECTION.findall(text)
    assert len(found) == text.count("\n## "), "a section has another form than `## 1.2.3 - date`"
    return found


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_the_version_has_three_numbers() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


def test_the_changelog_begins_with_it() -> None:
    assert sections()[0][0] == VERSION


def test_all_versions_before_are_older_and_have_a_date() -> None:
    versions = [numbers(version) for version, _ in sections()]
    assert versions == sorted(set(versions), reverse=True)
    assert "unreleased" not in [date for _, date in sections()[1:]]


def test_the_metadata_has_it() -> None:
    """If this fails after a change of the version, the package has to be installed again."""
    assert importlib.metadata.version("viperstorm") == VERSION


def test_the_command_line_says_it() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"viper, version {VERSION}\n"


def test_the_page_on_installing_names_files_of_it() -> None:
    page = (REPOSITORY / "docs" / "install.md").read_text(encoding="utf-8")
    named = re.findall(r"(?:viperstorm-|ViperStorm )(\d+\.\d+\.\d+)", page)
    assert len(named) >= 3
    assert set(named) == {VERSION}
