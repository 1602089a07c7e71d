"""Component instances from their definitions."""

from __future__ import annotations

import importlib
from typing import Any

from framework.errors import ComponentError, LoadError
from framework.hosting import class_of, is_ported
from framework.instantiate import Beans
from framework.planning import Task
from framework.runtime.hosts import Host
from framework.topology import ComponentSpec, PythonImplementation


def make_host(component: ComponentSpec, task: Task, beans: Beans) -> Host:
    """Construct a component for one task, and the host that drives it.

    Raises:
        ComponentError: its class cannot be found, or its constructor raised.
    """
    assert isinstance(component.implementation, PythonImplementation)
    definition = component.implementation.definition
    try:
        cls = class_of(component)
        if is_ported(cls):
            return _ported(cls)
        return Host(beans.make(definition))
    except Exception as error:
        detail = str(error) if isinstance(error, LoadError) else f"{type(error).__name__}: {error}"
        raise ComponentError(component.id, task.id, "__init__", detail) from error


def _ported(cls: type[Any]) -> Host:
    # streamparse is imported only where a topology uses it.
    adapter = importlib.import_module("framework.adapters.ported_host")
    host: Host = adapter.PortedHost(adapter.construct(cls))
    return host
