"""The needs of runs that a machine meets or lacks, one finding for each thing that is examined."""

from __future__ import annotations

import enum
import importlib
import os
import platform
import re
import resource
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from framework.cli.messages import counted
from framework.version import VERSION

MIB: Final = 1 << 20
LEAST_MEMORY: Final = 512 * MIB
"""Bytes below which a run with worker processes may not find what its channels need."""
LEAST_FILES: Final = 1024
"""Open files that a run with many worker processes and sinks may need."""
LEAST_JAVA: Final = 17
"""The oldest version of Java that Spark 4 runs on."""
TRIED_BYTES: Final = MIB
_COMPILED: Final = ("viper._backend", "viper._rows")
_NEEDED: Final = ("click", "cffi", "PyYAML", "simplejson", "streamparse")
_EXTRAS: Final = {
    **{"pyarrow": "columns", "numpy": "columns", "sqlalchemy": "sql", "pyspark": "spark"},
    **dict.fromkeys(("starlette", "uvicorn", "prometheus-client"), "ui"),
}
"""Packages that an extra installs, by name."""


class Health(enum.StrEnum):
    """The health of something that was examined."""

    OK = "ok"
    WARNING = "warning"
    """Runs work; some may not, or more slowly."""
    PROBLEM = "problem"
    """Runs do not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The health of one thing: what was found, and what to do."""

    what: str
    health: Health
    found: str
    advice: str = ""
    """Advice on what to do; empty if nothing is to be done."""


def examine(*, clean: bool = False) -> Sequence[Finding]:
    """Look at everything.

    Args:
        clean: remove what dead runs have left.
    """
    checks: Sequence[Callable[[], Finding]] = (
        versions,
        compiled_modules,
        packages,
        cores,
        memory,
        shared_memory,
        lambda: left_behind(clean=clean),
        open_files,
        locked_memory,
        temporary_files,
        compiler,
        java,
    )
    return [check() for check in checks]


def versions() -> Finding:
    """The versions of ViperStorm and of Python."""
    found = f"ViperStorm {VERSION}, {platform.python_implementation()} {platform.python_version()}"
    return Finding("versions", Health.OK, f"{found}, {platform.system()} {platform.machine()}")


def compiled_modules() -> Finding:
    """Examine the compiled modules: they exist, and fit this Python."""
    for name in _COMPILED:
        try:
            importlib.import_module(name)
        except ImportError as error:
            suffix = sysconfig.get_config_var("EXT_SUFFIX")
            advice = f"build them for this Python ({suffix}): pip install again, from a wheel or the sources"
            return Finding("compiled modules", Health.PROBLEM, f"{name}: {error}", advice)
    return Finding("compiled modules", Health.OK, ", ".join(_COMPILED))


def packages() -> Finding:
    """The packages that ViperStorm uses, with those of its extras."""
    missing = [name for name in _NEEDED if _version(name) is None]
    if missing:
        advice = f"pip install {' '.join(missing)}"
        return Finding("packages", Health.PROBLEM, f"missing: {', '.join(missing)}", advice)
    known = [f"{name} {found}" for name in (*_NEEDED, *_EXTRAS) if (found := _version(name)) is not None]
    extras = {extra for name, extra in _EXTRAS.items() if _version(name) is None}
    left_out = (
        f"; not installed, and only needed where it is used: {', '.join(sorted(extras))}" if extras else ""
    )
    return Finding("packages", Health.OK, ", ".join(known) + left_out)


def cores() -> Finding:
    """Count the cores that this process may use."""
    present = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else present
    found = f"{allowed} of {present}" if allowed < present else f"{allowed}"
    quota = _quota()
    if quota is not None and quota < allowed:
        found += f", of which a control group allows {quota:g}"
        allowed = max(int(quota), 1)
    if allowed == 1:
        return Finding(
            "cores", Health.WARNING, found, "several workers would take turns: use one (topology.workers: 1)"
        )
    return Finding("cores", Health.OK, found)


def memory() -> Finding:
    """Measure the free memory."""
    text = _read(Path("/proc/meminfo"))
    amount = re.search(r"^MemAvailable:\s+(\d+) kB", text, flags=re.MULTILINE)
    if amount is None:
        return Finding("memory", Health.OK, "not known on this system")
    free = int(amount[1]) * 1024
    if free < LEAST_MEMORY:
        advice = "end other programs, or lower viper.channel.bytes and viper.state.bytes"
        return Finding("memory", Health.WARNING, f"{_mib(free)} available", advice)
    return Finding("memory", Health.OK, f"{_mib(free)} available")


def shared_memory() -> Finding:
    """Examine the shared memory of worker processes, and its folder."""
    from viper.arena import Arena
    from viper.errors import ArenaError
    from viper.segments import ANONYMOUS

    try:
        Arena.shared(TRIED_BYTES)
    except ArenaError as error:
        advice = "allow the machine or container more (docker run --shm-size), or use viper.worker: thread"
        return Finding("shared memory", Health.PROBLEM, str(error), advice)
    where = "files without a name" if ANONYMOUS else "named segments"
    free = _free_of(Path("/dev/shm"))
    room = f"; /dev/shm has {_mib(free)} free" if free is not None else ""
    if not ANONYMOUS and free is not None and free < LEAST_MEMORY:
        return Finding(
            "shared memory",
            Health.WARNING,
            f"{where}{room}",
            "make /dev/shm larger (mount -o remount,size=2G)",
        )
    return Finding("shared memory", Health.OK, f"{where}{room}")


def left_behind(*, clean: bool = False) -> Finding:
    """Find the shared memory that killed runs have left.

    Args:
        clean: remove it.
    """
    from viper.segments import abandoned, remove_abandoned

    names = abandoned()
    if not names:
        return Finding("left by dead runs", Health.OK, "nothing")
    found = f"{counted(len(names), 'segment')} of shared memory: {', '.join(names)}"
    if not clean:
        return Finding("left by dead runs", Health.WARNING, found, "remove them: viper doctor --clean")
    remove_abandoned()
    kept = abandoned()
    if kept:
        advice = "remove them as the user who made them"
        return Finding("left by dead runs", Health.WARNING, f"could not remove {', '.join(kept)}", advice)
    return Finding("left by dead runs", Health.OK, f"removed {found}")


def open_files() -> Finding:
    """Read the number of files that a process may have open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = f"{_limit(soft)}, at most {_limit(hard)}"
    if soft != resource.RLIM_INFINITY and soft < LEAST_FILES:
        return Finding(
            "open files",
            Health.WARNING,
            found,
            f"ulimit -n {LEAST_FILES}, for runs with many workers or sinks",
        )
    return Finding("open files", Health.OK, found)


def locked_memory() -> Finding:
    """Read how much memory a process may lock; ViperStorm locks none."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    found = "unlimited" if soft == resource.RLIM_INFINITY else f"{soft // 1024:,} KiB"
    return Finding("locked memory", Health.OK, f"{found}; none is needed")


def temporary_files() -> Finding:
    """Examine the folder for temporary files, and its room."""
    try:
        folder = Path(tempfile.gettempdir())
    except OSError as error:
        return Finding(
            "temporary files", Health.PROBLEM, str(error), "set TMPDIR to a folder that can be written to"
        )
    free = shutil.disk_usage(folder).free
    if free < LEAST_MEMORY:
        return Finding(
            "temporary files", Health.WARNING, f"{folder} has {_mib(free)} free", "make room, or set TMPDIR"
        )
    return Finding("temporary files", Health.OK, f"{folder} has {_mib(free)} free")


def compiler() -> Finding:
    """Look for a C compiler, which installs ViperStorm from its sources."""
    names = [*(os.environ.get("CC", "").split() or ["cc"])[:1], "gcc", "clang"]
    found = next((path for name in names if (path := shutil.which(name)) is not None), None)
    if found is None:
        advice = "none is needed to run; to build from the sources, install gcc or clang"
        return Finding("compiler", Health.WARNING, "none on the PATH", advice)
    return Finding("compiler", Health.OK, found)


def java() -> Finding:
    """Look for a Java that Spark runs on, where Spark is installed."""
    if _version("pyspark") is None:
        return Finding("Java", Health.OK, "not needed: pyspark is not installed")
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    wanted = f"install Java {LEAST_JAVA} or newer, and set JAVA_HOME to it, for Spark"
    if program is None or not Path(program).exists():
        return Finding(
            "Java", Health.WARNING, f"none at {program}" if program else "none on the PATH", wanted
        )
    told = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    number = re.search(r'version "(?:1\.)?(\d+)', told)
    found = f"{program}, {told.splitlines()[0] if told else 'no version'}"
    if number is None or int(number[1]) < LEAST_JAVA:
        return Finding("Java", Health.WARNING, found, wanted)
    return Finding("Java", Health.OK, found)


# -- inside


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _quota() -> float | None:
    """Read how many cores the control group of this process may use; None for all."""
    quota, _, period = _read(Path("/sys/fs/cgroup/cpu.max")).partition(" ")
    return int(quota) / int(period) if quota.isdigit() and period.strip().isdigit() else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _free_of(folder: Path) -> int | None:
    return shutil.disk_usage(folder).free if folder.exists() else None


def _mib(size: int) -> str:
    return f"{size // MIB:,} MiB"


def _limit(count: int) -> str:
    return "unlimited" if count == resource.RLIM_INFINITY else f"{count:,}"
