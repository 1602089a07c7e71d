"""Components that are no Python classes: programs in other languages, and Java classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.dsl.spec import Par, Spec
from framework.dsl.specs import make_spec
from framework.topology import Argument, JavaImplementation, ObjectDef, Role, ShellImplementation


class ForeignComponent:
    """Attributes that a subclass may set, as those of a Python component."""

    outputs: Sequence[Any] | None = None
    par: Par = 1
    config: Mapping[str, Any] | None = None


class ShellBolt(ForeignComponent):
    """A bolt in any language: a program that speaks Storm's multilang protocol."""

    @classmethod
    def spec(
        cls,
        name: str | None = None,
        command: str | Sequence[str] | None = None,
        script: str | None = None,
        inputs: object = None,
        par: Par | None = None,
        config: object = None,
        outputs: object = None,
    ) -> Spec:
        """This bolt as a part of a topology; arguments and errors as of `shell_implementation`."""
        shell = shell_implementation(command, script)
        return make_spec(cls, Role.BOLT, shell, name, inputs, par, config, outputs)


class ShellSpout(ForeignComponent):
    """A spout in any language: a program that speaks Storm's multilang protocol."""

    @classmethod
    def spec(
        cls,
        name: str | None = None,
        command: str | Sequence[str] | None = None,
        script: str | None = None,
        par: Par | None = None,
        config: object = None,
        outputs: object = None,
    ) -> Spec:
        """This spout as a part of a topology; arguments and errors as of `shell_implementation`."""
        shell = shell_implementation(command, script)
        return make_spec(cls, Role.SPOUT, shell, name, None, par, config, outputs)


class JavaBolt(ForeignComponent):
    """A bolt that is a Java class: it validates and draws, and is refused at run."""

    @classmethod
    def spec(
        cls,
        name: str | None = None,
        serialized_java: bytes | None = None,
        full_class_name: str | None = None,
        args_list: Sequence[Argument] | None = None,
        inputs: object = None,
        par: Par | None = None,
        config: object = None,
        outputs: object = None,
    ) -> Spec:
        """This bolt as a part of a topology; arguments and errors as of `java_implementation`."""
        java = java_implementation(serialized_java, full_class_name, args_list)
        return make_spec(cls, Role.BOLT, java, name, inputs, par, config, outputs)


class JavaSpout(ForeignComponent):
    """A spout that is a Java class: it validates and draws, and is refused at run."""

    @classmethod
    def spec(
        cls,
        name: str | None = None,
        serialized_java: bytes | None = None,
        full_class_name: str | None = None,
        args_list: Sequence[Argument] | None = None,
        par: Par | None = None,
        config: object = None,
        outputs: object = None,
    ) -> Spec:
        """This spout as a part of a topology; arguments and errors as of `java_implementation`."""
        java = java_implementation(serialized_java, full_class_name, args_list)
        return make_spec(cls, Role.SPOUT, java, name, None, par, config, outputs)


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
) -> JavaImplementation:
    """A Java class with its constructor's arguments, or a serialized Java object.

    Raises:
        ValueError: neither is given.
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
    return JavaImplementation(ObjectDef(full_class_name, tuple(args_list)))


def deserialized(serialized: bytes) -> ObjectDef:
    """A serialized Java object, as the call that would read it."""
    if not isinstance(serialized, bytes):
        raise TypeError(f"a serialized Java object must be bytes, found {serialized!r}")
    return ObjectDef("java.io.ObjectInputStream", factory="readObject", factory_args=(serialized,))
