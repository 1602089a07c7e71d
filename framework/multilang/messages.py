"""Messages of the multilang protocol: JSON texts, each followed by a line ``end``.

`encoded` writes one, a `Decoder` cuts a program's output into them, and the functions for fields check what
a program has put into one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import simplejson

from framework.errors import ProgramError

Message = dict[str, Any]

LONGEST = 1 << 28
"""Bytes of a message; a program that writes more without an ``end`` does not follow the protocol."""
LEVELS = {0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"}
"""Storm's numbers of log levels."""
ENDS_ARE_KNOWN = "viper.multilang.end"
"""Key that our handshake adds to the configuration: a spout may send ``end``, which Storm does not know."""

_END = re.compile(rb"\r?\nend\r?\n")
_END_LENGTH = len(b"\r\nend\r\n")


class InvalidMessage(Exception):
    """A program has written something that is no message.

    Attributes:
        line: what it wrote, or as much of it as is worth showing.
    """

    def __init__(self, line: str) -> None:
        self.line = line
        super().__init__(f"{line!r:.300}")


class InvalidField(Exception):
    """A message lacks a field, or the field has a wrong type; the text says what was expected."""


def encoded(message: Any) -> bytes:
    """A message as pystorm would write it: tuples become lists, bytes and the keys of dicts become texts.

    The result is ASCII, so that a program may read it with any encoding.

    Raises:
        ProgramError: JSON cannot carry some value; the error names the innermost one.
    """
    try:
        return _json(message)
    except Exception as error:
        raise ProgramError(f"JSON cannot carry {_culprit(message)}: {error}") from error


def is_json(value: Any) -> bool:
    """Whether JSON can carry a value."""
    try:
        _json(value)
    except Exception:
        return False
    return True


def _json(message: Any) -> bytes:
    text: str = simplejson.dumps(message, namedtuple_as_object=False, allow_nan=False)
    return f"{text}\nend\n".encode("ascii")


def _culprit(value: Any) -> str:
    """Describe the innermost value that JSON cannot carry."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for item in inner:
        if not is_json(item):
            return _culprit(item)
    return f"{value!r:.200}, a {type(value).__qualname__}"


class Decoder:
    """Cuts the output of a program into messages."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._searched = 0
        """Bytes at the beginning of the data that contain no end of a message."""
        self._is_message = False
        """Whether the first line of the data has been checked, and begins a message."""

    def feed(self, data: bytes) -> None:
        """Add output of the program."""
        self._data += data

    @property
    def rest(self) -> str:
        """The part of a message whose end has not come."""
        return self._data.decode("utf-8", "replace").strip()

    def next(self) -> Any:
        """The next message; None if its end has not come yet.

        Raises:
            InvalidMessage: the output is no message. A line that cannot begin one is reported at once,
                because a program that prints it and then waits would never send an ``end``.
        """
        end = _END.search(self._data, self._searched)
        if end is None:
            self._searched = max(len(self._data) - _END_LENGTH, 0)
            self._check_beginning()
            return None
        text = bytes(self._data[: end.start()])
        del self._data[: end.end()]
        self._searched, self._is_message = 0, False
        return _decoded(text)

    def _check_beginning(self) -> None:
        if len(self._data) > LONGEST:
            raise InvalidMessage(_text(self._data[:200]))
        if not self._is_message:
            first, newline, _ = self._data.lstrip().partition(b"\n")
            if newline and not first.startswith((b"{", b"[")):
                raise InvalidMessage(_text(first))
            self._is_message = bool(newline)


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise InvalidMessage(_stray_line(data)) from None


def _stray_line(data: bytes) -> str:
    """The line that makes a message unreadable, which is the first that is no JSON by itself."""
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


def field(message: Message, name: str) -> Any:
    """The value of a field that must be there.

    Raises:
        InvalidField: the message does not have it.
    """
    if message.get(name) is None:
        raise InvalidField(f"expected {name!r}")
    return message[name]


def text_field(message: Message, name: str) -> str:
    """The value of a field as text; an id, for example, may be sent as a number."""
    return str(field(message, name))


def list_field(message: Message, name: str, default: list[Any] | None = None) -> list[Any]:
    """The value of a field that must be a list; the default, if there is one, where the field is missing."""
    found = default if default is not None and message.get(name) is None else field(message, name)
    if not isinstance(found, list):
        raise InvalidField(f"expected a list as {name!r}")
    return found


def task_field(message: Message) -> int | None:
    """The task that an emit names; None if it names none, for which Storm also accepts 0."""
    task = message.get("task")
    if task is not None and (not isinstance(task, int) or isinstance(task, bool)):
        raise InvalidField("expected the id of a task as 'task'")
    return task or None


@dataclass(frozen=True, slots=True)
class JsonId:
    """The id of a spout's tuple that is a list or an object, which the runtime could not use as a key."""

    text: str

    @property
    def value(self) -> Any:
        """The id as the program wrote it."""
        return json.loads(self.text)


def hashable_id(tup_id: Any) -> Any:
    """The id of a spout's tuple in a form that can be a key."""
    return JsonId(json.dumps(tup_id)) if isinstance(tup_id, list | dict) else tup_id


def original_id(tup_id: Any) -> Any:
    """The id of a spout's tuple as the program wrote it."""
    return tup_id.value if isinstance(tup_id, JsonId) else tup_id
