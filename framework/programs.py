"""Where programs are looked for and run, as Storm runs them in the folder of the project's resources."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

RESOURCES = "resources"
"""What Storm calls the folder that programs run in."""

_SERIALIZER = re.compile(r" (-s|--serializer)[ =](\S+)")
_RUNS_STREAMPARSE = re.compile(r"(^|/| )streamparse(_run| run|\.run)( |$)")


def working_folder(command: Sequence[str], folders: Sequence[str]) -> Path:
    """The folder that a program runs in.

    It is the first of the project's folders, or of the folders ``resources`` in them, in which a word of
    the command is a file; else the first of them, or the current one if there are none.

    Args:
        command: the program and its arguments.
        folders: the project's.
    """
    found = [Path(folder) for folder in folders] or [Path.cwd()]
    # streamparse's specs have a program's arguments in one text.
    words = [word for part in command for word in part.split()]
    for folder in [place for known in found for place in (known, known / RESOURCES)]:
        if any(os.path.isfile(folder / word) for word in words if not os.path.isabs(word)):
            return folder
    return found[0]


def complaint_about(command: Sequence[str], folders: Sequence[str]) -> str | None:
    """Why a command cannot be run here; None if nothing is known against it."""
    program, folder = command[0] if command else "", working_folder(command, folders)
    if not program:
        return "expected a command, found none"
    if not os.path.dirname(program):
        if shutil.which(program) is None:
            return f"there is no {program!r} on the PATH, {os.environ.get('PATH', '')!r}"
    elif not (folder / program).is_file():
        return f"there is no {program!r} in the folder {str(folder)!r}"
    elif not os.access(folder / program, os.X_OK):
        return f"{str(folder / program)!r} is not executable: make it so, or put its interpreter in front"
    return _complaint_about_serializer(command)


def _complaint_about_serializer(command: Sequence[str]) -> str | None:
    text = " ".join(command)
    said = _SERIALIZER.search(text) if _RUNS_STREAMPARSE.search(text) else None
    if said is None or said[2] == "json":
        return None
    return f"it is to speak {said[2]}, and viper speaks json with programs: leave out {said[1]}"


def environment(folders: Sequence[str]) -> dict[str, str]:
    """The environment of a program: ours, with the project's folders on Python's path."""
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, *([before] if before else [])])}
