"""From what a test names to a plan of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framework.components import Component
from framework.config import Settings, resolve
from framework.errors import TopologyError
from framework.loading import load
from framework.loading.topologies import topology_from
from framework.planning import Plan, TimeMode, WorkerKind, make_plan
from framework.topology import Loaded, Topology
from framework.validation import check_runnable, validate

Conf = Mapping[str, Any]


def loaded(topology: object, environment: str | None = None) -> Topology:
    """The topology that a target, a class, a builder, a function or a topology stands for.

    Raises:
        TopologyError: it cannot be made; the error has all problems.
    """
    if isinstance(topology, str | Path):
        found = load(os.fspath(topology), environment=environment)
    else:
        found = topology_from(topology, getattr(topology, "__name__", "test"), environment)
    return _without_errors(found)


def settled(topology: Topology, conf: Conf) -> Settings:
    """The settings of a topology that can run here.

    Raises:
        TopologyError: it cannot, or the configuration is wrong; the error has all problems.
    """
    settings, problems = resolve(topology, options=conf)
    problems += [*validate(topology, settings), *check_runnable(topology)]
    errors = [problem for problem in dict.fromkeys(problems) if not problem.warning]
    if errors:
        raise TopologyError(errors)
    return settings


def planned(topology: Topology, conf: Conf) -> tuple[Plan, Settings]:
    """The plan of a topology, for this process unless the configuration given here says otherwise.

    Time is logical where it would follow the wall clock without being told so.
    """
    options = {"viper.worker": str(WorkerKind.INLINE), **conf}
    settings, _ = resolve(topology, options=options)
    plan = make_plan(topology, settings)
    if plan.time is TimeMode.INGEST and settings["viper.time"] is None:
        settings, _ = resolve(topology, options={**options, "viper.time": str(TimeMode.LOGICAL)})
        plan = make_plan(topology, settings)
    return plan, settings


def _without_errors(found: Loaded) -> Topology:
    errors = [problem for problem in found.problems if not problem.warning]
    if found.topology is None or errors:
        raise TopologyError(errors)
    return found.topology


def own_config(component: type | Component, conf: Conf | None) -> dict[str, Any]:
    """A component's own configuration, with what a test says of it on top."""
    return {**(getattr(component, "config", None) or {}), **(conf or {})}
