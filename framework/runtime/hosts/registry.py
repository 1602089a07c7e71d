"""Which host drives a component: ours, or that of a front end that has registered itself here.

A front end brings components of another kind, such as programs or the classes of another framework. It
registers a function that makes their hosts when its module is imported, and it is imported only where a
topology has such components.
"""

from __future__ import annotations

import enum
import importlib
from collections.abc import Sequence
from typing import Protocol

from framework.runtime.hosts.host import Host
from framework.topology import ComponentSpec, ShellImplementation
from framework.traits import class_of, is_ported


class Kind(enum.StrEnum):
    """Kinds of components that front ends host; the value is the module that registers a host for them."""

    PROGRAM = "framework.multilang.host"
    PORTED = "framework.adapters.ported_host"


class HostFactory(Protocol):
    """Makes the host of a component; a new one for each task."""

    def __call__(self, component: ComponentSpec, folders: Sequence[str]) -> Host:
        """Construct a component.

        Args:
            component: what it is.
            folders: the project's, in which programs are looked for.
        """


_factories: dict[Kind, HostFactory] = {}


def register(kind: Kind, factory: HostFactory) -> None:
    """Have a front end host the components of a kind."""
    _factories[kind] = factory


def host_factory(component: ComponentSpec) -> HostFactory | None:
    """What makes the host of a component; None for a component of ours.

    Raises:
        LoadError: its class cannot be imported.
    """
    if isinstance(component.implementation, ShellImplementation):
        kind = Kind.PROGRAM
    elif is_ported(class_of(component)):
        kind = Kind.PORTED
    else:
        return None
    if kind not in _factories:
        importlib.import_module(kind)
    return _factories[kind]
