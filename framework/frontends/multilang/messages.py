"""Messages of the multilang protocol: JSON texts, each followed by a line ``end``.

`encoded` writes one, a `Decoder` cuts a program's output into them, and the functions for fields check what
a program has put into one.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import simplejson

from framework.model.errors import ProgramError

Message = dict[str, Any]

LONGEST = 1 << 28
"""Bytes of a message; a program that writes more without an ``end`` does not follow the protocol."""
DEEPEST = 400
"""Levels of lists and objects within each other that a message may have, as in Storm's JSON (json-smart)."""
LEVELS = {0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"}
"""Storm's numbers of log levels."""
ENDS_ARE_KNOWN = "viper.multilang.end"
"""Key that our handshake adds to the configuration: a spout may send ``end``, which Storm does not know."""

_END = re.compile(rb"(?:\r\n|\n|\r)end(?:\r\n|\n|\r)")
"""Java's `readLine`, by which Storm reads, knows three ends of a line."""
_END_LENGTH = len(b"\r\nend\r\n")
_STRAY_END = re.compile(rb"[ \t]*end[ \t]*\r?\n\Z")
"""Bytes at the end of the output that look like an end; where they are one, the message was cut off."""
_NO_END = ": expected a line behind each message that is 'end' and nothing else"
_LOST = re.compile(r"\A\s*end\s*$|^\s*\{", re.MULTILINE)
"""Text behind a message that is not stray: another message, or an end with blanks around it."""
_LONGEST_LINE = 1 << 16
"""Bytes of a first line that is looked at without its end."""
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_JSON = json.JSONDecoder(strict=False)
"""Takes line ends and tabs in texts, as Storm's does."""
_BLANK = re.compile(rb"(?:\xef\xbb\xbf|\s)*")
_PART_OF_DEPTH = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)


class InvalidMessage(Exception):
    """A program has written something that is no message.

    Attributes:
        line: what it wrote, or as much of it as is worth showing.
    """

    def __init__(self, line: str, why: str = "") -> None:
        self.line = line
        super().__init__(f"{line!r:.300}{why}")


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
    except RecursionError:  # to which each level has added a note
        found = _culprit(message, levels=2)
        raise ProgramError(f"JSON cannot carry {found}: it has too many levels") from None
    except Exception as error:
        raise ProgramError(f"JSON cannot carry {_culprit(message)}: {error}") from error


def is_json(value: Any) -> bool:
    """True if JSON can carry a value."""
    try:
        _json(value)
    except Exception:
        return False
    return True


def _json(message: Any) -> bytes:
    text: str = simplejson.dumps(message, namedtuple_as_object=False, allow_nan=False)
    return f"{text}\nend\n".encode("ascii")


def _culprit(value: Any, levels: int = DEEPEST) -> str:
    """Describe the innermost value that JSON cannot carry, at most so many levels further in.

    Each level is encoded once more: of a list of 100,000 levels the innermost took 37 s to find.
    """
    found = value
    while found is not None and levels >= 0:
        value, levels = found, levels - 1
        inner = (
            value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        )
        found = next((item for item in inner if not is_json(item)), None)
    kind = type(value).__qualname__
    try:
        return f"{value!r:.200}, a {kind}"
    except RecursionError:
        return f"a {kind} of so many levels"


class Decoder:
    """Cuts the output of a program into messages.

    Args:
        note: called for output that is not JSON in UTF-8, and that Storm takes, with its kind and the way it
            is taken.
    """

    def __init__(self, note: Callable[[str, str], None] = lambda kind, told: None) -> None:
        self._note = note
        self._data = bytearray()
        self._searched = 0
        """Bytes at the beginning of the data that contain no end of a message."""
        self._is_message = False
        """True if the data is known to begin a message."""

    def feed(self, data: bytes) -> None:
        """Add output of the program."""
        self._data += data

    def close(self) -> bool:
        """The output has ended; whether an ``end`` is the last of it, which is then taken for a line."""
        is_end = self._data.endswith((b"\nend", b"\rend"))
        self._data += b"\n" if is_end else b""
        return is_end

    @property
    def rest(self) -> str:
        """The part of a message whose end has not come."""
        return self._data.decode("utf-8", "replace").strip()

    def next(self) -> Any:
        """Return the next message; None if its end has not come yet.

        Raises:
            InvalidMessage: the output is no message. A line that cannot begin a message, or that looks like
                an end and is none, is reported at once. A program that writes it and then waits would never
                send an ``end``.
        """
        end = _END.search(self._data, self._searched)
        if end is None:
            self._searched = max(len(self._data) - _END_LENGTH, 0)
            self._check_beginning()
            self._check_last_line()
            return None
        text = bytes(self._data[: end.start()])
        del self._data[: end.end()]
        self._searched, self._is_message = 0, False
        return self._decoded(text)

    def _check_beginning(self) -> None:
        if len(self._data) > LONGEST:
            raise InvalidMessage(_text(self._data[:200]), f": {LONGEST:,} bytes without a line 'end'")
        blank = _BLANK.match(self._data)
        if self._is_message or blank is None or blank.end() == len(self._data):
            return
        self._is_message = self._data[blank.end()] in b"{["
        first, newline, _ = self._data[blank.end() : blank.end() + _LONGEST_LINE].partition(b"\n")
        if not self._is_message and (newline or len(first) == _LONGEST_LINE):
            raise InvalidMessage(_text(first))

    def _check_last_line(self) -> None:
        last = _STRAY_END.search(self._data[-_LONGEST_LINE:])
        if last is None:
            return
        with contextlib.suppress(ValueError):
            json.loads(self._data[: -len(last[0])].decode("utf-8", "replace"), strict=False)
            raise InvalidMessage(_text(last[0]), _NO_END)

    def _decoded(self, data: bytes) -> Any:
        text = self._text_of(data)
        _check_depth(text)
        try:
            message, end = _JSON.raw_decode(text)
        except json.JSONDecodeError as error:
            why = f": {error.msg}, at character {error.pos}" if text.startswith(("{", "[")) else ""
            raise InvalidMessage(_stray_line(text), why) from None
        except ValueError as error:  # a number of too many digits
            raise InvalidMessage(text, f": {error}") from None
        rest = text[end:].strip()
        if message is None or (rest and not isinstance(message, dict)):
            raise InvalidMessage(_stray_line(text))
        if _LOST.search(rest):
            raise InvalidMessage(_stray_line(text), _NO_END)
        if rest:
            told = f"has written {rest!r:.300} behind a message, which is passed over, as on Storm"
            self._note("messages with more behind them", told)
        return message

    def _text_of(self, data: bytes) -> str:
        """The text of a message, with the line ends of Java's `readLine`."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            wrong = data[error.start : error.end]
            text = data.decode("utf-8", _AS_JAVA)
            told = f"has written bytes that are no UTF-8, such as {wrong!r}, which are taken for U+FFFD"
            self._note(
                "messages that are no UTF-8", f"{told}, as on Storm; write UTF-8, or ASCII with escapes"
            )
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.lstrip("\ufeff \t\n")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """One U+FFFD for what cannot be decoded, as in Java: for a whole surrogate, and not for each byte."""
    assert isinstance(error, UnicodeDecodeError)
    surrogate = _SURROGATE.match(error.object, error.start)
    return "\ufffd", surrogate.end() if surrogate else error.end


_AS_JAVA = "viper.multilang.java"
codecs.register_error(_AS_JAVA, _replaced)


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for part in _PART_OF_DEPTH.finditer(text):
        depth += 1 if part[0] in "[{" else -1 if part[0] in "]}" else 0
        if depth > DEEPEST:
            raise InvalidMessage(text, f": more than {DEEPEST} levels of lists and objects, as on Storm")


def _stray_line(text: str) -> str:
    """The line that makes a message unreadable, which is the first that is no JSON by itself."""
    lines = text.strip().splitlines()
    return next((line for line in lines if not _is_text_of_json(line)), " ".join(lines)) or "end"


def _is_text_of_json(line: str) -> bool:
    try:
        json.loads(line, strict=False)
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


def shown(value: Any) -> str:
    """A field that should be a text as one."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_field(message: Message, name: str) -> str:
    """The value of a field as text; an id, for example, may be sent as a number."""
    return str(field(message, name))


def list_field(message: Message, name: str, default: list[Any] | None = None) -> list[Any]:
    """The value of a field that must be a list; the default, if there is one, where the field is missing."""
    found = default if default is not None and message.get(name) is None else field(message, name)
    if not isinstance(found, list):
        raise InvalidField(f"expected a list as {name!r}")
    return found


def anchors_field(message: Message) -> list[str]:
    """The ids of the tuples that an emit is anchored to; one id need not be in a list, as on Storm."""
    found = message.get("anchors")
    return (
        [found] if isinstance(found, str) else [str(anchor) for anchor in list_field(message, "anchors", [])]
    )


def wants_task_ids(message: Message) -> bool:
    """True if an emit is answered with the ids of its receivers; a direct one never is.

    Raises:
        InvalidField: the field that says so is neither true nor false.
    """
    wanted = message.get("need_task_ids")
    if not (wanted is None or isinstance(wanted, bool)):
        raise InvalidField("expected true or false as 'need_task_ids'")
    return wanted is not False and not message.get("task")


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
