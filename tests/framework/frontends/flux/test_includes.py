"""Files that include others."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.frontends.flux import load_flux
from framework.model.topology import Loaded

SPOUT = "spouts: [{id: words, className: flux_parts.Words}]\n"
BOLT = "bolts: [{id: sink, className: flux_parts.Sink}]\n"
STREAM = "streams: [{from: words, to: sink, grouping: {type: SHUFFLE}}]\n"


def load(folder: Path, **files: str) -> Loaded:
    """Write files, and load ``main``."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return load_flux(folder / "main.yaml")


def test_a_name_may_come_from_an_included_file(tmp_path: Path) -> None:
    loaded = load(tmp_path, main="includes: [file: other.yaml]\n" + SPOUT, other="name: other\n")
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert loaded.topology.name == "other"


def test_problems_and_places_name_the_included_file(tmp_path: Path) -> None:
    loaded = load(
        tmp_path, main="name: x\nincludes: [file: other.yaml]\n", other="\nbolts: [{id: a, idd: b}]\n"
    )
    files = {(Path(problem.place.file).name, problem.place.line) for problem in loaded.problems}
    assert files == {("other.yaml", 2)}


@pytest.mark.parametrize("where", ["main", "other"])
def test_a_file_that_includes_itself_is_refused(where: str, tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        main="name: x\nincludes: [file: other.yaml]\n",
        other=f"config: {{}}\nincludes: [file: {where}.yaml]\n",
    )
    [problem] = loaded.problems
    assert problem.place == type(problem.place)(str(tmp_path / "other.yaml"), 2)
    assert problem.message == f"'{where}.yaml' includes itself"


def test_a_file_that_two_others_include_is_read_once(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        main="name: x\nincludes: [{file: left.yaml}, {file: right.yaml}]\n" + SPOUT + BOLT,
        left="includes: [file: streams.yaml]\n",
        right="includes: [file: streams.yaml]\n",
        streams=STREAM,
    )
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert len(loaded.topology.component("sink").inputs) == 1


def test_a_missing_file_is_told_with_all_places_that_were_tried(tmp_path: Path) -> None:
    [problem] = load(tmp_path, main="name: x\nincludes: [file: no.yaml]\n").problems
    assert problem.message == f"no such file to include: {str(tmp_path / 'no.yaml')!r} or 'no.yaml'"


def test_included_beans_may_stand_before_or_after_their_use(tmp_path: Path) -> None:
    own = "{id: own, className: flux_parts.Table, constructorArgs: [ref: theirs]}"
    theirs = "{id: theirs, className: flux_parts.Table}"
    loaded = load(
        tmp_path,
        main=f"name: x\nincludes: [file: beans.yaml]\ncomponents: [{own}]\n",
        beans=f"components: [{theirs}]\n",
    )
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert [bean.id for bean in loaded.topology.beans] == ["theirs", "own"]


def test_beans_of_two_files_that_need_each_other_are_refused(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        main="name: x\nincludes: [file: b.yaml]\n"
        "components: [{id: a, className: flux_parts.Table, constructorArgs: [ref: b]}]\n",
        b="components: [{id: b, className: flux_parts.Table, constructorArgs: [ref: a]}]\n",
    )
    [problem] = loaded.problems
    assert problem.message.startswith("components need each other in a circle: ")
