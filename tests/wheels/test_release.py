"""`make wheels` as a whole: what it puts into the folder, what it tells, and when it fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.wheels import __main__ as release
from tests.wheels.commands import FailedError
from tests.wheels.pythons import Python, UnusableError

Release = Callable[..., int]


def find(program: str) -> Python:
    if program.endswith("missing"):
        raise UnusableError("not found on this machine")
    return Python(program, f"{program}.1")


def sdist(source: Path, folder: Path) -> Path:
    (path := folder / "viperstorm-1.tar.gz").touch()
    return path


def wheel(python: Python, sdist: Path, folder: Path) -> Path:
    assert sdist.name == "viperstorm-1.tar.gz"
    if python.program == "broken":
        raise FailedError("does not run")
    folder.mkdir()
    (path := folder / f"viperstorm-1-{python.program}.whl").touch()
    return path


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A folder with what an earlier release has left there, and something else."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / "viperstorm-0.tar.gz").touch()
    (folder / "notes").touch()
    return folder


@pytest.fixture
def run(dist: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    """Runs it with stand-ins for all that takes long; the supported versions are `old` and `missing`."""
    monkeypatch.setattr(release, "supported", lambda: ["old", "missing"])
    monkeypatch.setattr(release, "find", find)
    monkeypatch.setattr(release, "build_sdist", sdist)
    monkeypatch.setattr(release, "_wheel", wheel)
    return lambda *programs: release.main("--outdir", str(dist), *programs)


def names(dist: Path) -> list[str]:
    return sorted(path.name for path in dist.iterdir())


def test_what_is_found_is_built_and_the_others_are_named(
    run: Release, dist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 0
    assert names(dist) == ["notes", "viperstorm-1-old.whl", "viperstorm-1.tar.gz"]
    out, err = capsys.readouterr()
    assert "viperstorm-1-old.whl: works without a compiler, on old.1" in out
    assert "no wheel for missing: not found on this machine" in err


def test_what_is_asked_for_by_name_has_to_be_there(run: Release, dist: Path) -> None:
    assert run("old", "missing") == 1
    assert run("old") == 0


def test_a_wheel_that_does_not_work_is_not_kept(
    run: Release, dist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("broken", "old") == 1
    assert names(dist) == ["notes", "viperstorm-1-old.whl", "viperstorm-1.tar.gz"]
    assert "no wheel for broken: does not run" in capsys.readouterr().err


def test_without_any_python_it_fails_and_touches_nothing(run: Release, dist: Path) -> None:
    assert run("missing", "also-missing") == 1
    assert names(dist) == ["notes", "viperstorm-0.tar.gz"]


def test_without_an_sdist_there_are_no_wheels(
    run: Release, dist: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(source: Path, folder: Path) -> Path:
        raise FailedError("no metadata")

    monkeypatch.setattr(release, "build_sdist", fail)
    assert run() == 1
    assert names(dist) == ["notes"]
    assert "no sdist: no metadata" in capsys.readouterr().err
