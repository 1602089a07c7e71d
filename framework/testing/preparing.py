"""From what a test names to a plan of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from framework.frontends.loading import load_any
from framework.model.config import Settings, resolve
from framework.model.errors import TopologyError
from framework.model.topology import Loaded, Problem, Topology
from framework.operators.components import Component
from framework.planning import Plan, TimeMode, WorkerKind, make_plan
from framework.planning.validation import check_runnable, validate

Conf = Mapping[str, Any]


def loaded(topology: object, environment: str | None = None) -> Topology:
    """The topology that a target, a class, a builder, a function or a topology stands for.

    Raises:
        LoadError: it stands for none.
        TopologyError: it cannot be made; the error has all problems.
    """
    return _without_errors(load_any(topology, environment=environment))


def settled(topology: Topology, conf: Conf) -> Settings:
    """The settings of a topology that can run here.

    Raises:
        TopologyError: it cannot, or the configuration is wrong; the error has all problems.
    """
    settings, problems = _resolved(topology, conf)
    problems += [*validate(topology, settings), *check_runnable(topology)]
    errors = [problem for problem in dict.fromkeys(problems) if not problem.warning]
    if errors:
        raise TopologyError(errors)
    return settings


def planned(topology: Topology, conf: Conf) -> tuple[Plan, Settings]:
    """The plan of a topology, for this process unless the configuration given here says otherwise.

    Time is logical where it would follow the wall clock by default.
    """
    options = {"viper.worker": str(WorkerKind.INLINE), **conf}
    settings, _ = _resolved(topology, options)
    plan = make_plan(topology, settings)
    if plan.time is TimeMode.INGEST and settings["viper.time"] is None:
        settings, _ = _resolved(topology, {**options, "viper.time": str(TimeMode.LOGICAL)})
        plan = make_plan(topology, settings)
    return plan, settings


def by_the_clock(topology: Topology, conf: Conf) -> tuple[Plan, Settings]:
    """The plan of a topology for this thread, by a clock that passes when a test says so.

    Time is that of the clock, unless the configuration or the tuples themselves say another one.
    """
    options = {"viper.worker": str(WorkerKind.INLINE), **conf}
    settings, _ = _resolved(topology, options)
    plan = make_plan(topology, settings)
    if plan.time is TimeMode.LOGICAL and settings["viper.time"] is None:
        settings, _ = _resolved(topology, {**options, "viper.time": str(TimeMode.INGEST)})
        plan = make_plan(topology, settings)
    return plan, settings


def names_of(argument: str, names: Collection[str]) -> Collection[str]:
    """The names, where they are not by mistake one text, whose letters would be taken for names.

    Raises:
        TypeError: they are.
    """
    if isinstance(names, str):
        raise TypeError(f"{argument} is {names!r}: expected a list of ids, such as [{names!r}]")
    return names


def _resolved(topology: Topology, conf: Conf) -> tuple[Settings, list[Problem]]:
    return resolve(topology, options=conf, options_from="argument conf")


def _without_errors(found: Loaded) -> Topology:
    errors = [problem for problem in found.problems if not problem.warning]
    if found.topology is None or errors:
        raise TopologyError(errors)
    return found.topology


def own_config(component: type | Component, conf: Conf | None) -> dict[str, Any]:
    """A component's own configuration, with what a test says of it on top."""
    return {**(getattr(component, "config", None) or {}), **(conf or {})}
