"""Java's ``.properties`` files, which hold the values for ``${...}``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from framework.errors import LoadError

_ENTRY = re.compile(r"(?P<key>(?:\\.|[^\\=:\s])*)\s*[=:]?\s*(?P<value>.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<char>.))", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}


def read_properties(path: str | os.PathLike[str]) -> dict[str, str]:
    """The entries of a ``.properties`` file in UTF-8, for `load_flux`.

    Raises:
        LoadError: the file cannot be read.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LoadError(f"properties file {os.fspath(path)!r} cannot be read: {reason}") from error
    return dict(map(_entry, _logical_lines(text)))


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments; one that ends in an odd number of backslashes goes on in the next."""
    lines = iter(text.splitlines())
    for line in lines:
        line = line.lstrip()
        if not line or line[0] in "#!":
            continue
        while (len(line) - len(line.rstrip("\\"))) % 2:
            line = line[:-1] + next(lines, "").lstrip()
        yield line


def _entry(line: str) -> tuple[str, str]:
    match = _ENTRY.fullmatch(line)
    assert match is not None  # it matches anything
    return _unescaped(match["key"]), _unescaped(match["value"])


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match["code"]:
        return chr(int(match["code"], 16))
    return _CONTROLS.get(match["char"], match["char"])
