"""Components for a builder that are no Python classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from framework.declaration import java_implementation
from framework.topology import Argument, Implementation, ShellImplementation, Stream, declared_streams


@dataclass(frozen=True, slots=True)
class Foreign:
    """A component in another language, and the streams that it emits."""

    implementation: Implementation
    outputs: tuple[Stream, ...]


def shell(*command: str, outputs: Sequence[Any] = ()) -> Foreign:
    """A program that speaks Storm's multilang protocol: ``shell("ruby", "split.rb", outputs=["word"])``.

    Raises:
        TypeError: no command, or a part of it that is no str.
    """
    if not command or not all(isinstance(part, str) for part in command):
        raise TypeError(f"shell() needs the program and its arguments as str, found {command!r}")
    return Foreign(ShellImplementation(command), declared_streams(outputs))


def java(full_class_name: str, *args: Argument, outputs: Sequence[Any] = ()) -> Foreign:
    """A Java class with its constructor's arguments; it validates and draws, and is refused at run.

    Raises:
        TypeError: an argument that no Java constructor can be given.
        ValueError: no class name.
    """
    return Foreign(java_implementation(None, full_class_name, args), declared_streams(outputs))
