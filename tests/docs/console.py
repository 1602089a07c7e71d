"""Runs the commands and writes the files of a page, and compares what it shows.

A ``console`` block has commands after ``$ `` and what each prints, on both outputs. ``...`` stands for
anything within a line and, as a line of its own, for any lines. The last line tells an exit code that is not
0. A ``python`` block that begins with ``# path`` shows that file; one that begins with ``# path, changed``
is what the reader writes into it, as is one whose file is not there. A block that has a path after its
language, as in ``csv data/sales.csv``, is the content of that file.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)(?: ([\w/.-]+))?\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w/.-]+\.\w+)(, changed)?\n")
_END = "-- done --"


@dataclass(frozen=True)
class Command:
    """A command of a page."""

    text: str
    shown: str
    """The output that the page shows."""

    def matches(self, printed: str) -> bool:
        """True if it printed what the page shows."""
        lines = [
            r"(?:.*\n)*" if line == "..." else r".*".join(map(re.escape, line.split("..."))) + r"\n"
            for line in self.shown.splitlines()
        ]
        return re.fullmatch("".join(lines), printed) is not None


class Shell:
    """A shell that runs the commands of a page one after the other in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            ["bash"],
            cwd=folder,
            env=self._environment(),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, text: str) -> str:
        """Everything that a command prints, and its exit code if that is not 0."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{text}\ncode=$?; echo; echo '{_END}' $code $PWD\n")
        self._process.stdin.flush()
        printed = ""
        for line in self._process.stdout:
            if line.startswith(_END):
                code, folder = line.removeprefix(_END).split()
                self.folder = Path(folder)
                # The end has an empty line before it, as what a command prints may end amid a line.
                printed = printed.removesuffix("\n")
                return printed if code == "0" else f"{printed}[exit code {code}]\n"
            printed += line
        raise AssertionError(f"the shell ended in {text!r}: {printed}")

    def close(self) -> None:
        """End the shell, and what it may have left in the background."""
        self._process.communicate()

    def _environment(self) -> Mapping[str, str]:
        bin = self.folder.parent / f"{self.folder.name}.bin"
        bin.mkdir()
        _script(bin / "viper", f'exec {sys.executable} -m framework.cli "$@"')
        _script(bin / "python", f'exec {sys.executable} "$@"')
        if shutil.which("sqlite3") is None:
            _script(bin / "sqlite3", f'exec {sys.executable} {Path(__file__)} "$@"')
        path = f"{bin}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY), "NO_COLOR": "1"}


def differences(page: str, shell: Shell) -> Iterator[str]:
    """Do what a page says, and tell everything that is not as it shows."""
    for kind, named, block in _BLOCK.findall(page):
        if named:
            (shell.folder / named).parent.mkdir(parents=True, exist_ok=True)
            (shell.folder / named).write_text(block, encoding="utf-8")
        elif kind == "console":
            for command in _commands(block):
                printed = shell.run(command.text)
                if not command.matches(printed):
                    yield f"$ {command.text}\nshown:\n{command.shown}printed:\n{printed}"
        elif kind == "python" and (file := _FILE.match(block)):
            path, content = shell.folder / file[1], block[file.end() :]
            if file[2] or not path.exists():
                path.write_text(content, encoding="utf-8")
            elif path.read_text(encoding="utf-8") != content:
                yield f"{file[1]} is not as the page shows it"


def _commands(block: str) -> Iterator[Command]:
    for one in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
        yield Command(*one)


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


if __name__ == "__main__":  # stands in for the program sqlite3 where that is not installed
    database, query = sys.argv[1:]
    for row in sqlite3.connect(database).execute(query):
        print(*row, sep="|")
