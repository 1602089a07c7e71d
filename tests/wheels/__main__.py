"""Build what is published, and try it: ``python -m tests.wheels [python3.11 ...]``.

There is an sdist and, for each Python, a wheel. A wheel that fails in an environment without a compiler is
not put into the folder. Without arguments all supported versions are built that are found on this machine,
and the others are named; a version that is an argument has to be there.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.wheels.building import build_sdist, build_wheel, repair
from tests.wheels.commands import FailedError, succeed
from tests.wheels.pythons import REPOSITORY, Python, UnusableError, find, supported
from tests.wheels.trying import try_wheel


def main(*arguments: str) -> int:
    """Exit code 1 if a step fails, no wheel is built, or a Python that was asked for cannot build one."""
    parser = argparse.ArgumentParser(prog="python -m tests.wheels", description=__doc__)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="programs; by default all supported")
    parser.add_argument("--outdir", type=Path, default=REPOSITORY / "dist")
    options = parser.parse_args(arguments)
    found, unusable = _sort_out(options.pythons or supported())
    failed: list[str] = []
    built: list[str] = []
    if found:
        with tempfile.TemporaryDirectory(prefix="wheels-") as folder:
            built, failed = _release(found, Path(folder), options.outdir)
    for lines, where in ((built, sys.stdout), (unusable, sys.stderr), (failed, sys.stderr)):
        for line in lines:
            print(line, file=where)
    return 1 if failed or not found or (options.pythons and unusable) else 0


def _sort_out(programs: list[str]) -> tuple[list[Python], list[str]]:
    """The interpreters that can build, and what is said of the others."""
    found: list[Python] = []
    unusable: list[str] = []
    for program in programs:
        try:
            found.append(find(program))
        except UnusableError as error:
            unusable.append(f"no wheel for {program}: {error}")
    return found, unusable


def _release(pythons: list[Python], folder: Path, outdir: Path) -> tuple[list[str], list[str]]:
    """Put the sdist and each wheel that works into `outdir`; what is said of those, and what failed."""
    built: list[str] = []
    failed: list[str] = []
    outdir.mkdir(parents=True, exist_ok=True)
    # What lies there afterwards is one release, and all of it has been tried.
    for old in outdir.glob("viperstorm-*"):
        old.unlink()
    try:
        sdist = build_sdist(REPOSITORY, folder)
    except FailedError as error:
        return [], [f"no sdist: {error}"]
    built.append(f"{shutil.copy(sdist, outdir)}: built")
    for number, python in enumerate(pythons):
        print(f"building and trying a wheel for Python {python.exact} ...", file=sys.stderr, flush=True)
        try:
            wheel = _wheel(python, sdist, folder / str(number))
        except FailedError as error:
            failed.append(f"no wheel for {python.program}: {error}")
        else:
            built.append(f"{shutil.copy(wheel, outdir)}: works without a compiler, on {python.exact}")
    return built, failed


def _wheel(python: Python, sdist: Path, folder: Path) -> Path:
    """A wheel that works."""
    builder, raw, repaired, empty = (folder / name for name in ("builder", "raw", "repaired", "empty"))
    empty.mkdir(parents=True)
    succeed(python.program, "-m", "venv", builder, cwd=folder)
    wheel = repair(build_wheel(builder / "bin" / "python", sdist, raw), repaired)
    try_wheel(wheel, python.program, empty)
    return wheel


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
