"""The base class of topologies that are written as a class, as in streamparse."""

from __future__ import annotations

from typing import Any

from framework.frontends.declaration import ANY_ENVIRONMENT, Declaration, accepted, class_declaration, file_of
from framework.frontends.streamparse import not_inherited, refuse_classes, specs_in
from framework.model.specs import Spec, checked_config
from framework.model.topology import Loaded


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
