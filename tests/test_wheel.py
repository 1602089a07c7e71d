"""What is published: the sdist builds a wheel, and the wheel works in an empty environment far from here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

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


def succeed(*command: object, cwd: Path) -> str:
    """Run a program without the checkout on its path; its stdout."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIPER_"))}
    ran = subprocess.run([str(c) for c in command], cwd=cwd, env=environ, capture_output=True, text=True)
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist and not from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    succeed(sys.executable, "-m", "build", "--outdir", folder, REPOSITORY, cwd=folder)
    (sdist,) = folder.glob("*.tar.gz")
    (built,) = folder.glob("*.whl")
    assert sdist.name.startswith("viperstorm-")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs of an environment with nothing but the wheel are."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    succeed(folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return folder / "bin"


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


def test_a_project_runs_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    succeed(installed / "viper", "init", "fresh", cwd=tmp_path)
    counts = succeed(installed / "viper", "run", cwd=tmp_path / "fresh").splitlines()
    assert len(counts) == len(set(counts)) == 26
    assert "the\t5" in counts


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
