"""Implementations of components that are programs in other languages or Java classes."""

from __future__ import annotations

from collections.abc import Sequence

from framework.model.topology import (
    Argument,
    JavaImplementation,
    ObjectDef,
    PythonImplementation,
    ShellImplementation,
    deserialized,
)
from framework.operators.standins import STAND_INS


def shell_implementation(command: str | Sequence[str] | None, script: str | None) -> ShellImplementation:
    """A command and its argument, as streamparse splits them; an empty script means no argument.

    Raises:
        ValueError: no command.
        TypeError: ``script`` is None.
    """
    if not command:
        raise ValueError(f"command is required: the program to start, e.g. 'ruby'; found {command!r}")
    if script is None:
        raise TypeError("script is required: the argument of the command, or '' if it takes none")
    head = (command,) if isinstance(command, str) else tuple(command)
    return ShellImplementation((*head, script) if script else head)


def java_implementation(
    serialized_java: bytes | None, full_class_name: str | None, args_list: Sequence[Argument] | None
) -> JavaImplementation | PythonImplementation:
    """A Java class with its constructor's arguments, or a serialized Java object.

    Some of Storm's own classes have a stand-in in Python, which is taken.

    Raises:
        ValueError: there is neither.
        TypeError: an argument of the wrong type.
    """
    if serialized_java is not None:
        return JavaImplementation(deserialized(serialized_java))
    if not full_class_name:
        raise ValueError("full_class_name is required, or serialized_java")
    if args_list is None:
        raise TypeError("args_list is required: the constructor's arguments, [] if it takes none")
    for arg in args_list:
        if not isinstance(arg, bool | int | float | str | bytes):
            raise TypeError(f"a Java argument must be a bool, int, float, str or bytes, found {arg!r}")
    definition = ObjectDef(full_class_name, tuple(args_list), cls=STAND_INS.get(full_class_name))
    return JavaImplementation(definition) if definition.cls is None else PythonImplementation(definition)
