"""The published packages: the sdist builds a wheel, and that works in an empty environment far from here."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.once import made_once
from tests.wheels import trying
from tests.wheels.building import build_sdist, build_wheel, repair
from tests.wheels.commands import FailedError, succeed

pytestmark = pytest.mark.slow(daily=True)

REPOSITORY = Path(__file__).parents[1]

TYPED = (
    "framework/py.typed",
    "spark_ingest/py.typed",
    "viper/_rows.pyi",
    "viper/py.typed",
    "viperstorm/py.typed",
    "viperstorm_pytest/py.typed",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `make wheels` builds it: from the sdist and not from the checkout.

    It is built once, as that takes half a minute of processor time, and two sdists at a time would get into
    each other's way in the checkout.
    """

    def build(folder: Path) -> None:
        sdist = build_sdist(REPOSITORY, folder)
        assert sdist.name.startswith("viperstorm-")
        repair(build_wheel(Path(sys.executable), sdist, folder / "raw"), folder / "repaired")

    (wheel,) = (made_once(tmp_path_factory, "wheel", build) / "repaired").iterdir()
    return wheel


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> trying.Empty:
    """An environment with nothing but the wheel, which tests leave as it is."""

    def build(folder: Path) -> None:
        trying.Empty.new(folder, sys.executable).install(wheel)

    return trying.Empty(made_once(tmp_path_factory, "installed", build))


@pytest.fixture
def installed(empty: trying.Empty) -> Path:
    """The folder with the programs of that environment."""
    return empty.bin


def test_it_works_where_nothing_can_be_compiled(wheel: Path, tmp_path: Path) -> None:
    trying.try_wheel(wheel, sys.executable, tmp_path)


def test_an_environment_with_a_compiler_is_none_to_try_a_wheel_in(
    empty: trying.Empty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "viper").symlink_to(empty.bin / "viper")
    (tmp_path / "cc").touch(mode=0o755)
    monkeypatch.setattr(empty, "bin", tmp_path)
    with pytest.raises(FailedError, match="was to have no compiler"):
        trying.try_installed(empty)


def test_a_wheel_of_another_version_is_told(empty: trying.Empty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "VERSION", "99.0")
    with pytest.raises(FailedError, match=r"version .*: expected version 99\.0"):
        trying.try_installed(empty)


def test_the_wheel_holds_the_packages_the_defaults_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "framework",
        "spark_ingest",
        "viper",
        "viperstorm",
        "viperstorm_pytest",
    }
    for name in ("framework/conf/defaults.yaml", *TYPED):
        assert name in names
    assert any(name.startswith("framework/cli/templates/") for name in names)
    assert not any(name.endswith((".c", ".h", ".pyc")) for name in names)


def test_the_wheel_holds_both_extensions(wheel: Path) -> None:
    backend, rows = sorted(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so"))
    assert rows == f"viper/_rows{sysconfig.get_config_var('EXT_SUFFIX')}"
    # Through cffi one binary serves every version, where there is a stable ABI.
    assert backend == "viper/_backend.abi3.so" or sysconfig.get_config_var("Py_GIL_DISABLED")


def test_a_ported_project_runs_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    succeed(installed / "viper", "init", "--template", "streamparse", "ported", cwd=tmp_path)
    succeed(installed / "viper", "run", "--max-tuples", "100", cwd=tmp_path / "ported")


def test_mypy_finds_the_types_of_what_is_installed(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(
        "import viper.position\n"
        "from framework import Bolt, Tuple, run\n"
        "from spark_ingest import Source\n"
        "class Say(Bolt):\n"
        "    def process(self, tup: Tuple) -> None:\n"
        "        print(tup.values.word, Source, run, viper.position.Position)\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "words.py"]
    succeed(*command, "--python-executable", installed / "python", cwd=tmp_path)


def test_the_shipped_defaults_are_found(installed: Path, tmp_path: Path) -> None:
    shown = succeed(installed / "viper", "config", "show", "viper.jumbo.size", cwd=tmp_path)
    assert "conf/defaults.yaml:" in shown


def test_the_commands_around_spark_are_there_without_spark(installed: Path, tmp_path: Path) -> None:
    listed = succeed(installed / "viper", "--help", cwd=tmp_path)
    assert all(f"\n  {name} " in listed for name in ("prepare", "dataset", "backfill"))
    command = [installed / "viper", "prepare", "rows.csv", "--read-option", "header=true"]
    command += ["--timestamp", "at", "-O", "out"]
    (tmp_path / "rows.csv").write_text("at\n")
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1
    assert re.search(r"pip install '/\S+\.whl\[spark\]'", ran.stderr)  # from where it was installed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]
