"""The backend with its named points, and a process that is armed to die or to stop at one of them.

The ordinary backend has no points. A run that is to pass them is a program of its own, in which another
package `viper` comes first: links to the modules of the ordinary one, beside a backend that was built here.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import viper._backend

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
BUILD = REPOSITORY / "cbackend" / "build" / "pointed"


def built(folder: Path, plant: str = "ordinary") -> Path:
    """Make a folder that comes first on the path of a program.

    Args:
        folder: where to make it.
        plant: the name of a bug of ``cbackend/tests/planted``, or "ordinary" for none.

    Returns:
        The folder.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [
            "make",
            "-s",
            "-C",
            str(HERE / "points"),
            f"-j{os.cpu_count()}",
            f"PYTHON={sys.executable}",
        ]
        # What is built is the same for a make that has started the tests with options of its own.
        environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        subprocess.run([*command, f"{plant}.so"], check=True, env=environ)
        package = folder / "viper"
        package.mkdir(parents=True)
        for path in (REPOSITORY / "viper").iterdir():
            if not path.name.startswith(("_backend.", "__pycache__")):
                (package / path.name).symlink_to(path)
        (package / "_backend.abi3.so").write_bytes((BUILD / f"{plant}.so").read_bytes())
    return folder


def arm(name: str, passes: int, number: int, mark: Path) -> None:
    """Have this process get a signal when it passes a point.

    Args:
        name: of the point.
        passes: the number of the pass at which the signal comes, from 1; 0 disarms.
        number: the signal.
        mark: a file that is made before, with the number of the process; nothing happens if it is there.
    """
    call = ctypes.CDLL(viper._backend.__file__).vp_crash_arm
    call.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p]
    call(name.encode(), passes, number, os.fsencode(mark))
