"""An environment with nothing but a wheel and what that depends on, for which nothing can be compiled."""

from __future__ import annotations

from pathlib import Path

from framework.version import VERSION
from tests.wheels.commands import FailedError, succeed


class Empty:
    """An environment far from the sources. Its programs find no others, and so no compiler."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "environment" / "bin"
        self._folder = folder

    @classmethod
    def new(cls, folder: Path, python: str) -> Empty:
        """Make one for a version of Python."""
        succeed(python, "-m", "venv", folder / "environment", cwd=folder)
        return cls(folder)

    def install(self, *requirements: object) -> None:
        """Install wheels, and never a source that would have to be compiled."""
        command = ["-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        self.run("python", *command, *requirements)

    def run(self, program: str, *arguments: object, within: str = ".") -> str:
        """Run one of its programs in a folder beside the environment, and return its output."""
        command = [self.bin / program, *arguments]
        return succeed(*command, cwd=self._folder / within, PATH=str(self.bin), CC="")


def try_wheel(wheel: Path, python: str, folder: Path) -> None:
    """Install a wheel in an empty folder, make a project with it and run that; raises `FailedError`."""
    empty = Empty.new(folder, python)
    empty.install(wheel)
    try_installed(empty)


def try_installed(empty: Empty) -> None:
    """Make a project with what is installed, run it and its tests; raises `FailedError`."""
    if (said := empty.run("viper", "--version")) != f"viper, version {VERSION}\n":
        raise FailedError(f"viper --version says {said!r}: expected version {VERSION}")
    if "none on the PATH" not in (said := empty.run("viper", "doctor")):
        raise FailedError(f"the environment was to have no compiler, but viper doctor says\n{said}")
    empty.run("viper", "init", "fresh")
    alone = empty.run("viper", "run", within="fresh")
    counts = alone.splitlines()
    if not len(counts) == len(set(counts)) == 26 or "the\t5" not in counts:
        raise FailedError(f"the fresh project prints other counts than those of its 26 words:\n{alone}")
    # Processes share memory with each other, which a run of one does without.
    if (among := empty.run("viper", "run", "--workers", "2", within="fresh")) != alone:
        raise FailedError(f"two workers print\n{among}and one printed\n{alone}")
    empty.install("pytest")
    empty.run("python", "-m", "pytest", "-q", within="fresh")
