"""Components that are no Python classes: programs in other languages, and Java classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.frontends.declaration import java_implementation, shell_implementation
from framework.model.specs import Par, Spec, make_spec
from framework.model.topology import Argument, Role


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
