"""Topologies as classes: the declarative front end, with streamparse's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.frontends.declaration import (
    ANY_ENVIRONMENT,
    Declaration,
    accepted,
    class_declaration,
    file_of,
    java_implementation,
    shell_implementation,
)
from framework.frontends.streamparse import not_inherited, refuse_classes, specs_in
from framework.model.specs import GlobalStreamId as GlobalStreamId
from framework.model.specs import Par, Spec, checked_config, make_spec
from framework.model.topology import Argument, Loaded, Role


class TopologyType(type):
    """Gathers the specs in a class body, and names each after its attribute."""

    specs: list[Spec]
    """In order of definition; a subclass does not inherit those of its base."""
    config: dict[str, Any]

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls.config = checked_config(namespace.get("config"))
        cls.specs = list(specs_in(namespace).values())
        refuse_classes(namespace, cls.specs)
        if bases:
            accepted(_declaration(cls).topology(environment=ANY_ENVIRONMENT))


class Topology(metaclass=TopologyType):
    """A topology as a class whose attributes are the specs of its components.

    Raises:
        TypeError: an attribute is a component or a component's class instead of a spec, or ``config`` is
            no dict.
        TopologyError: components, streams, fields, groupings and parallelism do not fit together;
            the error has all problems, each with its place.
    """

    config: dict[str, Any]
    """The topology's configuration."""


def topology_of(cls: TopologyType, environment: str | None = None, name: str | None = None) -> Loaded:
    """The topology that a class declares.

    Args:
        environment: chooses from a ``par`` that is given per environment.
        name: name of the topology; by default that of the file, as for ``sparse``.
    """
    return _declaration(cls).topology(name, environment)


def _declaration(cls: TopologyType) -> Declaration:
    left_out = not_inherited(vars(cls), cls.__mro__[1:])
    return class_declaration(file_of(cls), cls.__qualname__, specs_in(vars(cls)), cls.config, left_out)


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
