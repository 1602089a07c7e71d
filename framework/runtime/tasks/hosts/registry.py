"""Makes components with the hosts that drive them: our own host, or that of a front end.

A front end brings components of another kind, such as programs or the classes of another framework. When its
module is imported, it registers a function here that makes their hosts. It is imported only for a topology
that has such components.
"""

from __future__ import annotations

import enum
import importlib
from collections.abc import Sequence
from typing import Any, Protocol

from framework.model.errors import ComponentError, LoadError
from framework.model.instantiate import Beans
from framework.model.topology import ComponentSpec, PythonImplementation, ShellImplementation
from framework.planning import TaskSpec
from framework.planning.coroutines import has_coroutines
from framework.planning.traits import class_of, is_ported
from framework.runtime.tasks.hosts.host import Host


class Kind(enum.StrEnum):
    """Kinds of components that front ends host; the value is the module that registers a host for them."""

    PROGRAM = "framework.frontends.multilang.host"
    PORTED = "framework.frontends.streamparse.ported_host"


class HostFactory(Protocol):
    """Makes a component with its host, a new one for each task."""

    def __call__(self, component: ComponentSpec, folders: Sequence[str]) -> Host:
        """Construct a component and its host.

        Args:
            component: the definition of the component.
            folders: the folders of the project, in which programs are looked for.
        """


_factories: dict[Kind, HostFactory] = {}


def register(kind: Kind, factory: HostFactory) -> None:
    """Have a front end host the components of a kind."""
    _factories[kind] = factory


def host_factory(component: ComponentSpec) -> HostFactory | None:
    """The factory for a component that a front end hosts; None for a component of ours.

    Raises:
        LoadError: the class of the component cannot be imported.
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


def host_of(component: Any) -> Host:
    """The host that drives a component of ours."""
    if not has_coroutines(type(component)):
        return Host(component)
    from framework.runtime.tasks.hosts.async_host import AsyncHost  # with asyncio, which few topologies need

    return AsyncHost(component)


def make_host(component: ComponentSpec, task: TaskSpec, beans: Beans, folders: Sequence[str] = ()) -> Host:
    """Construct a component for one task, and the host that drives it.

    Args:
        component: the definition of the component.
        task: the task that it is made for.
        beans: the objects that its arguments refer to.
        folders: the folders of the project, in which a program is looked for.

    Raises:
        ComponentError: the class of the component cannot be found, or its constructor raised.
    """
    try:
        factory = host_factory(component)
        if factory is not None:
            return factory(component, folders)
        assert isinstance(component.implementation, PythonImplementation)
        return host_of(beans.make(component.implementation.definition))
    except Exception as error:
        detail = str(error) if isinstance(error, LoadError) else f"{type(error).__name__}: {error}"
        raise ComponentError(component.id, task.id, "__init__", detail) from error
