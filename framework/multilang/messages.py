"""Messages of the multilang protocol: JSON texts, each with a line ``end`` after it."""

from __future__ import annotations

import json
import re
from typing import Any

import simplejson

from framework.multilang.errors import NoMessage, ProgramError

LONGEST = 1 << 28
"""Bytes of a message; who writes more without an ``end`` does not speak the protocol."""

_END = re.compile(rb"\r?\nend\r?\n")
_END_LENGTH = len(b"\r\nend\r\n")


def encoded(message: Any) -> bytes:
    """A message as pystorm would write it: tuples are lists, bytes and the keys of dicts are texts.

    All of it is ASCII, so that a program may read it by any encoding.

    Raises:
        ProgramError: JSON cannot carry some value.
    """
    try:
        return _json(message)
    except Exception as error:
        raise ProgramError(f"JSON cannot carry {_culprit(message)}: {error}") from error


def _json(message: Any) -> bytes:
    text: str = simplejson.dumps(message, namedtuple_as_object=False, allow_nan=False)
    return f"{text}\nend\n".encode("ascii")


def _culprit(value: Any) -> str:
    """The innermost value that JSON cannot carry."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for item in inner:
        if not is_json(item):
            return _culprit(item)
    return f"{value!r:.200}, a {type(value).__qualname__}"


def is_json(value: Any) -> bool:
    """Whether JSON can carry a value."""
    try:
        _json(value)
    except Exception:
        return False
    return True


class Decoder:
    """Cuts what a program writes into messages."""

    def __init__(self) -> None:
        self._read = bytearray()
        self._searched = 0
        """Bytes that hold no end of a message."""
        self._begun = False
        """Whether they begin like one."""

    def feed(self, data: bytes) -> None:
        """More of it has come."""
        self._read += data

    @property
    def rest(self) -> str:
        """What has come of a message that has not ended."""
        return self._read.decode("utf-8", "replace").strip()

    def next(self) -> Any:
        """The next message; None if it has not come yet.

        Raises:
            NoMessage: what came is none. A line that begins none is seen at once, so that a program
                which prints and then waits is not waited for.
        """
        end = _END.search(self._read, self._searched)
        if end is None:
            self._searched = max(len(self._read) - _END_LENGTH, 0)
            self._check_beginning()
            return None
        text = bytes(self._read[: end.start()])
        del self._read[: end.end()]
        self._searched, self._begun = 0, False
        return _decoded(text)

    def _check_beginning(self) -> None:
        if len(self._read) > LONGEST:
            raise NoMessage(_text(self._read[:200]))
        if not self._begun:
            first, newline, _ = self._read.lstrip().partition(b"\n")
            if newline and not _may_begin(first):
                raise NoMessage(_text(first))
            self._begun = bool(newline)


def _may_begin(line: bytes | bytearray) -> bool:
    return line[:1] in (b"{", b"[")


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise NoMessage(_stray_line(data)) from None


def _stray_line(data: bytes) -> str:
    """The line that makes a message unreadable: the first that is no JSON by itself."""
    lines = [_text(line) for line in data.strip().splitlines()]
    return next((line for line in lines if not _is_text_of_json(line)), " ".join(lines))


def _is_text_of_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _text(line: bytes | bytearray) -> str:
    return bytes(line).decode("utf-8", "replace").rstrip("\r\n")
