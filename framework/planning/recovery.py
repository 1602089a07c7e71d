"""Obstacles to exact repetition, which are refused if the death of a worker process must change nothing.

A successor repeats the uncommitted work of its task. The result is the same only if a component does the same
for the same input. Besides, its state must go back to the commit, and a spout must be able to report its
offset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.model.config import Settings
from framework.model.errors import LoadError
from framework.model.importing import import_class
from framework.model.topology import (
    ComponentSpec,
    GroupingKind,
    ObjectDef,
    Problem,
    PythonImplementation,
    Role,
    Topology,
    about,
)
from framework.model.topology.graph import feedback_edges
from framework.planning.placement import WorkerKind
from framework.planning.plan import Plan
from framework.planning.time_mode import TimeMode
from framework.planning.traits import Batching, Traits

_EXACT = "exact"
"""The value of ``viper.recovery`` with which the death of a worker process changes nothing."""
_INSTEAD = "or set viper.recovery to best"

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


def is_exact(plan: Plan, settings: Settings) -> bool:
    """True if a run recovers from the death of a worker process without a difference.

    If all workers are in one process, none outlives it, and there is nothing to recover.
    """
    return settings["viper.recovery"] == _EXACT and plan.placement.kind is WorkerKind.PROCESS


def recovery_problems(
    topology: Topology,
    settings: Settings,
    confs: Confs,
    traits: Mapping[str, Traits],
    time: TimeMode | None,
) -> list[Problem]:
    """Everything in a topology that ``viper.recovery: exact`` refuses; empty where that is not set.

    Args:
        topology: one without errors.
        settings: its settings.
        confs: each component's resolved configuration, by id.
        traits: of the components, by id; a component whose class is not known is taken to be fit.
        time: the time that it runs by; None if that is not known.
    """
    if settings["viper.recovery"] != _EXACT:
        return []
    going_back = {target: source for source, _, target in feedback_edges(topology)}
    problems = []
    for component in topology.components:
        conf, found = confs[component.id], traits[component.id]
        reasons = [*_unfit(component, conf, found), *_unfit_groupings(component)]
        if component.role is Role.SPOUT:
            reasons += _unfit_spout(conf, found)
        else:
            reasons += _unfit_bolt(component, conf, found, time)
            if component.id in going_back:
                reasons.append(f"tuples from {going_back[component.id]!r} come back through a cycle")
        if reasons:
            told = "; ".join([*reasons, _INSTEAD])
            message = f"cannot be repeated exactly, as viper.recovery asks for: {told}"
            problems.append(about(topology, component, message))
    return problems


def _unfit(component: ComponentSpec, conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    if not isinstance(component.implementation, PythonImplementation):
        yield "nobody knows what a program remembers: put a Python class in its place"
    elif traits.ported:
        yield "its class is streamparse's, whose attributes nobody knows: derive it from framework's"
    if conf["viper.blocking"]:
        yield "others act for it while it blocks: set viper.blocking to false"


def _unfit_spout(conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    if traits.is_class_known and not (traits.partitioned or traits.seekable):
        yield "it does not say where it is: derive it from SeekableSpout or PartitionedSpout"
    yield from offset_problems(conf, traits)


def offset_problems(conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    """Find the reasons for which the offset of a spout says less than a successor, or another run, must know.

    Args:
        conf: the spout's resolved configuration.
        traits: the spout's.
    """
    if not traits.partitioned and conf["viper.on.error"] == "restart":
        yield "a new one would begin again after an exception: set viper.on.error to stop or skip"


def _unfit_bolt(
    component: ComponentSpec, conf: Mapping[str, Any], traits: Traits, time: TimeMode | None
) -> Iterator[str]:
    if traits.batching is Batching.TIMER:
        yield "a timer processes its batches, by the wall clock: derive it from BatchingBolt"
    elif traits.is_class_known and not (
        traits.stateless or traits.states or traits.tables or traits.goes_back
    ):
        yield (
            "it neither declares state nor is stateless: declare what it remembers, or set viper.stateless "
            "to true if that is nothing"
        )
    by_clock = time not in (TimeMode.EVENT, None) and conf["topology.tick.tuple.freq.secs"]
    if by_clock and traits.hears_ticks:
        yield f"its ticks follow the wall clock, as viper.time is {time}"


def _unfit_groupings(component: ComponentSpec) -> Iterator[str]:
    for found in component.inputs:
        grouping = found.grouping
        is_custom = grouping.kind is GroupingKind.CUSTOM and grouping.definition is not None
        if is_custom and not _is_stateless(grouping.definition):
            yield (
                f"nobody knows what its custom grouping of {found.source!r} remembers: say stateless = True "
                "in the grouping's class if that is nothing"
            )


def _is_stateless(definition: ObjectDef | None) -> bool:
    """True if the class of a custom grouping says `stateless`, or cannot be imported."""
    if definition is None or definition.factory is not None:
        return False
    try:
        cls = definition.cls or import_class(definition.class_name)
    except LoadError:
        return True
    return bool(getattr(cls, "stateless", False))
