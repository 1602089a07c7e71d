"""What a program's messages have in them, checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from framework.multilang.conversation import Malformed, Message

LEVELS = {0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"}
"""Storm's numbers of log levels."""


@dataclass(frozen=True, slots=True)
class JsonId:
    """The id of a spout's tuple that is a list or an object; the runtime's ids must be hashable."""

    text: str

    @property
    def value(self) -> Any:
        """The id as the program gave it."""
        return json.loads(self.text)


def field(message: Message, name: str) -> Any:
    """What a message must have.

    Raises:
        Malformed: it has not.
    """
    if message.get(name) is None:
        raise Malformed(f"expected {name!r}")
    return message[name]


def text_field(message: Message, name: str) -> str:
    """A field as text, as an id may be a number."""
    return str(field(message, name))


def list_field(message: Message, name: str, default: list[Any] | None = None) -> list[Any]:
    """A field that is a list; the default where there is none, if there is a default."""
    found = default if default is not None and message.get(name) is None else field(message, name)
    if not isinstance(found, list):
        raise Malformed(f"expected a list as {name!r}")
    return found


def task_field(message: Message) -> int | None:
    """The task that an emit goes to; None, which Storm also writes as 0, for one that names none."""
    task = message.get("task")
    if task is not None and (not isinstance(task, int) or isinstance(task, bool)):
        raise Malformed("expected the id of a task as 'task'")
    return task or None


def hashable(tup_id: Any) -> Any:
    """The id of a spout's tuple, in a form that can be a key."""
    return JsonId(json.dumps(tup_id)) if isinstance(tup_id, list | dict) else tup_id


def plain(tup_id: Any) -> Any:
    """The id as the program gave it."""
    return tup_id.value if isinstance(tup_id, JsonId) else tup_id
