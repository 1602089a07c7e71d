"""A plan on its way to a worker process: classes go by name, everything else by value."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framework.config import Settings
from framework.errors import TopologyError
from framework.planning import Plan
from framework.runtime.network import NetworkMap
from framework.runtime.tape import Tape
from framework.topology import PythonImplementation
from framework.validation.reporting import about


@dataclass(frozen=True, slots=True)
class Job:
    """All that a worker process needs to know."""

    plan: Plan
    settings: Settings
    place: NetworkMap
    process: int
    """Its index in the plan's placement."""
    tape: Tape
    levels: Mapping[str, int]
    """Of the loggers, by name."""
    environment: Mapping[str, str]


def pack(job: Job) -> bytes:
    """A job as bytes.

    Raises:
        TopologyError: a component's class cannot be imported by another process.
    """
    problems = [
        about(
            job.plan.topology,
            component,
            f"is the class {_name(cls)}, which another process cannot import: define it at the top level "
            "of a module, or run it with --worker inline (viper.worker)",
        )
        for component in job.plan.topology.components
        if isinstance(component.implementation, PythonImplementation)
        and (cls := component.implementation.definition.cls) is not None
        and not _is_importable(cls)
    ]
    if problems:
        raise TopologyError(problems)
    packed = io.BytesIO()
    pickle.Pickler(packed, pickle.HIGHEST_PROTOCOL).dump(job)
    return packed.getvalue()


def unpack(packed: bytes) -> Job:
    """The job that was packed; user code is imported on the way."""
    job: Job = pickle.loads(packed)
    return job


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _is_importable(cls: type) -> bool:
    found: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is cls
