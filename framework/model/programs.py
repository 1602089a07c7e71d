"""The folders in which a program is sought and runs, and the checks of its command before it starts.

Storm runs programs in the folder of the topology's resources. Here that is the first folder in which a word
of the command is a file.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from framework.model.topology.problems import did_you_mean

RESOURCES = ("resources", os.path.join("multilang", "resources"))
"""Folders in which projects keep their programs: Storm's own name, and where Storm's examples have it."""

_INSIDE_A_PROJECT = ("src", "topologies")
"""Names of folders whose parent, too, may have resources."""
_PYTHON = r"(python|pypy)[\d.]*"
_PYTHON_OPTION = re.compile(r"--\S+|-[a-zA-Z]*?(?P<what>[cmWX])(?P<value>.*)|-[a-zA-Z]+")
"""An option of Python's, with what asks for a value, and the value if it is attached."""
_CODE_OPTIONS = {
    _PYTHON: r"-\w*[cm]",
    r"(ruby|perl)[\d.]*": r"-\w*[eE]",
    r"node(js)?": r"-(e|p|pe)|--(eval|print)(=.*)?",
    r"php[\d.]*": r"-r",
    r"Rscript|lua(jit)?[\d.]*": r"-e",
    r"(ba|da|z)?sh": r"-\w*c",
}
"""Interpreters, and the options with which they take a piece of code or a module instead of a script."""
_SCRIPT = re.compile(r".+\.(py|rb|pl|js|mjs|cjs|php|r|lua|sh)", re.IGNORECASE)
_SERIALIZER = re.compile(r" (-s|--serializer)[ =](\S+)")
_RUNS_STREAMPARSE = re.compile(r"(^|/| )streamparse(_run| run|\.run)( |$)")


@dataclass(frozen=True, slots=True)
class CommandProblem:
    """Why a command cannot be run here."""

    message: str
    only_here: bool = True
    """True if the command may run on a machine that has other programs on its PATH."""

    def __str__(self) -> str:
        return self.message


def working_folder(command: Sequence[str], folders: Sequence[str], *, stays: bool = False) -> Path:
    """Return the folder that a program runs in.

    It is the first of the project's folders, or of their folders for resources, that has the script or the
    module which an interpreter gets. Failing that, it is the first in which any word of the command is a
    file. If there is none, it is the first of the project's folders, or the current folder.

    Args:
        command: the program and its arguments.
        folders: the project's.
        stays: whether it runs in the current folder all the same.
    """
    if stays:
        return Path.cwd()
    # streamparse's specs have a program's arguments in one text.
    words = [word for part in command for word in part.split()]
    script, module = script_of(command), module_of(words)
    for names in ([script] if script else [], _files_of(module) if module else [], [*command, *words]):
        relative = [name for name in names if not os.path.isabs(name)]
        for folder in searched(folders):
            if any(os.path.isfile(folder / name) for name in relative):
                return folder
    return Path(folders[0]) if folders else Path.cwd()


def module_of(words: Sequence[str]) -> str | None:
    """The module that Python is to run, as ``b.c`` of ``env A=1 python3 -um b.c``; None if there is none.

    Args:
        words: of the command.
    """
    places = [index for index, word in enumerate(words) if re.fullmatch(_PYTHON, os.path.basename(word))]
    rest = iter(words[places[0] + 1 :] if places else ())
    for word in rest:
        option = _PYTHON_OPTION.fullmatch(word)
        if option is None or option["what"] == "c":
            return None
        value = option["value"] or (next(rest, "") if option["what"] else "")
        if option["what"] == "m":
            return value or None
    return None


def _files_of(module: str) -> list[str]:
    """The files that Python may run for a module, in a folder of its path."""
    path = module.replace(".", os.sep)
    return [path + suffix for suffix in (".py", ".pyc", f"{os.sep}__main__.py", f"{os.sep}__main__.pyc")]


def searched(folders: Sequence[str]) -> Iterator[Path]:
    """The folders in which programs are looked for, first those of the project, then its resources."""
    known = [Path(folder) for folder in folders] or [Path.cwd()]
    for folder in known:
        yield folder
        yield from (folder / name for name in RESOURCES)
    for folder in known:
        if folder.name in _INSIDE_A_PROJECT:
            yield from (folder.parent / name for name in RESOURCES)


def problem_with(
    command: Sequence[str], folders: Sequence[str], *, stays: bool = False
) -> CommandProblem | None:
    """Why a command cannot be run here; None if nothing is known against it.

    Args:
        command: the program and its arguments.
        folders: the project's.
        stays: whether it runs in the current folder.
    """
    if not command or not command[0]:
        return CommandProblem("expected a command, found none", only_here=False)
    return (
        _problem_with_one_text(command[0], folders)
        or _problem_with_program(command[0], working_folder(command, folders, stays=stays))
        or (_problem_in_current_folder(command) if stays else _problem_with_script(command, folders))
        or _problem_with_serializer(command)
    )


def _problem_with_one_text(program: str, folders: Sequence[str]) -> CommandProblem | None:
    """The problem of a command that is one text, as a shell takes it; Storm takes that for a name."""
    words = program.split()
    places = [Path(), *searched(folders)]
    if len(words) < 2 or shutil.which(program) or any((place / program).is_file() for place in places):
        return None
    message = (
        f"it is one text, {program!r}, and so the name of a program with blanks in it, which there is not: "
        f"write each word by itself, as {words}"
    )
    return CommandProblem(message, only_here=False)


def _problem_with_program(program: str, folder: Path) -> CommandProblem | None:
    if not os.path.dirname(program):
        if shutil.which(program) is None:
            return CommandProblem(f"there is no {program!r} on the PATH, {os.environ.get('PATH', '')!r}")
    elif not (folder / program).is_file():
        message = f"there is no {program!r} in the folder {str(folder)!r}"
        return CommandProblem(message, only_here=os.path.isabs(program))
    elif not os.access(folder / program, os.X_OK):
        message = f"{str(folder / program)!r} is not executable: make it so, or put its interpreter in front"
        return CommandProblem(message, only_here=False)
    return None


def _problem_in_current_folder(command: Sequence[str]) -> CommandProblem | None:
    script = script_of(command)
    if script is None or Path(script).is_file():
        return None
    message = f"there is no {script!r} in {str(Path.cwd())!r}, where it runs, as changeChildCWD is false"
    return CommandProblem(message, only_here=False)


def _problem_with_script(command: Sequence[str], folders: Sequence[str]) -> CommandProblem | None:
    script = script_of(command)
    if script is None or (working_folder(command, folders) / script).is_file():
        return None
    if os.path.isabs(script):
        return CommandProblem(f"there is no file {script!r}")
    first, *others = script.split()
    if others and (working_folder([first], folders) / first).is_file():
        message = f"{script!r} is one argument, and no file: write {first!r} and what follows it separately"
        return CommandProblem(message, only_here=False)
    places = list(searched(folders))
    names = [path.name for place in places if place.is_dir() for path in place.iterdir() if path.is_file()]
    shown = ", ".join(repr(folder) for folder in folders or [str(Path.cwd())])
    message = (
        f"there is no {script!r} in {shown}, nor in {' or '.join(f'{name}/' for name in RESOURCES)} there"
        f"{did_you_mean(script, names)}"
    )
    return CommandProblem(message, only_here=False)


def script_of(command: Sequence[str]) -> str | None:
    """The script that a command gives to an interpreter; None if there is none, or if that is not certain."""
    interpreter, *arguments = (*command, "")
    name = os.path.basename(interpreter)
    codes = [code for pattern, code in _CODE_OPTIONS.items() if re.fullmatch(pattern, name)]
    after_option = False
    for argument in arguments[:-1] if codes else ():
        if argument == "-" or re.fullmatch(codes[0], argument):
            return None
        # What follows an option may be its value.
        if not argument.startswith("-") and (not after_option or _SCRIPT.fullmatch(argument)):
            return argument
        after_option = True
    return None


def _problem_with_serializer(command: Sequence[str]) -> CommandProblem | None:
    text = " ".join(command)
    chosen = _SERIALIZER.search(text) if _RUNS_STREAMPARSE.search(text) else None
    if chosen is None or chosen[2] == "json":
        return None
    return CommandProblem(f"it uses {chosen[2]}, and viper sends JSON to programs: leave out {chosen[1]}")


def environment(folders: Sequence[str], given: Mapping[str, str] = {}) -> dict[str, str]:
    """The environment of a program: that of this process, with the project's folders on Python's path.

    Args:
        folders: the project's.
        given: further variables; a ``PATH`` is put behind that of this process, as by Storm's `ShellProcess`.
    """
    found = {**os.environ, **given}
    if "PATH" in given and "PATH" in os.environ:
        found["PATH"] = os.pathsep.join([os.environ["PATH"], given["PATH"]])
    before = found.get("PYTHONPATH")
    return {**found, "PYTHONPATH": os.pathsep.join([*folders, *([before] if before else [])])}
