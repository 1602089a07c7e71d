"""Components that expect a process of their own, and do not get one."""

from __future__ import annotations

from framework.config import Settings
from framework.topology import ComponentSpec, Problem, PythonImplementation, Topology
from framework.traits import is_ported


def check_isolation(topology: Topology, settings: Settings) -> list[Problem]:
    """A warning if components of streamparse's will share one interpreter; empty otherwise."""
    if settings["viper.worker"] not in ("inline", "thread"):
        return []  # each of their tasks gets a process, unless the component allows sharing
    ported = [component for component in topology.components if _is_ported(component)]
    if not ported:
        return []
    names = ", ".join(component.id for component in ported)
    message = (
        "components of streamparse's expect a process for each task, but here they share one interpreter, "
        f"and so the attributes of their classes and the globals of their modules: {names}"
    )
    return [Problem(topology.sources.at(), message, warning=True)]


def _is_ported(component: ComponentSpec) -> bool:
    implementation = component.implementation
    # A class that no front end holds was given by name, and is not imported for a warning.
    held = implementation.definition.cls if isinstance(implementation, PythonImplementation) else None
    return held is not None and is_ported(held)
