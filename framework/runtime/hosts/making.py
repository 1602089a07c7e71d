"""Component instances from their definitions."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from framework.errors import ComponentError, LoadError
from framework.instantiate import Beans
from framework.planning import Task
from framework.runtime.hosts.host import Host
from framework.topology import ComponentSpec, PythonImplementation, ShellImplementation
from framework.traits import class_of, is_ported


def make_host(component: ComponentSpec, task: Task, beans: Beans, folders: Sequence[str] = ()) -> Host:
    """Construct a component for one task, and the host that drives it.

    Args:
        component: what it is.
        task: which of its tasks.
        beans: the objects that its arguments refer to.
        folders: the project's, in which a program is looked for.

    Raises:
        ComponentError: its class cannot be found, or its constructor raised.
    """
    if isinstance(component.implementation, ShellImplementation):
        return _program(component, component.implementation.command, folders)
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


def _program(component: ComponentSpec, command: Sequence[str], folders: Sequence[str]) -> Host:
    # What speaks with programs is imported only where a topology has any.
    programs = importlib.import_module("framework.multilang.host")
    host: Host = programs.host_program(command, component.role, folders)
    return host


def _ported(cls: type[Any]) -> Host:
    # streamparse is imported only where a topology uses it.
    adapter = importlib.import_module("framework.adapters.ported_host")
    host: Host = adapter.PortedHost(adapter.construct(cls))
    return host
