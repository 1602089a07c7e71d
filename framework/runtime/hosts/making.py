"""Component instances from their definitions."""

from __future__ import annotations

from collections.abc import Sequence

from framework.errors import ComponentError, LoadError
from framework.instantiate import Beans
from framework.planning import TaskSpec
from framework.runtime.hosts.host import Host
from framework.runtime.hosts.registry import host_factory
from framework.topology import ComponentSpec, PythonImplementation


def make_host(component: ComponentSpec, task: TaskSpec, beans: Beans, folders: Sequence[str] = ()) -> Host:
    """Construct a component for one task, and the host that drives it.

    Args:
        component: what it is.
        task: which of its tasks.
        beans: the objects that its arguments refer to.
        folders: the project's, in which a program is looked for.

    Raises:
        ComponentError: its class cannot be found, or its constructor raised.
    """
    try:
        factory = host_factory(component)
        if factory is not None:
            return factory(component, folders)
        assert isinstance(component.implementation, PythonImplementation)
        return Host(beans.make(component.implementation.definition))
    except Exception as error:
        detail = str(error) if isinstance(error, LoadError) else f"{type(error).__name__}: {error}"
        raise ComponentError(component.id, task.id, "__init__", detail) from error
