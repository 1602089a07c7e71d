"""Finds everything in a topology that cannot be run shard by shard, before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from framework.model.errors import TopologyError
from framework.model.topology import (
    ComponentSpec,
    GroupingKind,
    Problem,
    PythonImplementation,
    Role,
    ShellImplementation,
    Topology,
    about,
    unknown,
)
from framework.model.topology.graph import SYSTEM_PREFIX, feedback_edges
from framework.planning import Plan, TimeMode
from framework.planning.traits import Batching, Traits
from framework.planning.validation.order import INTERVAL
from spark_ingest.backfill.shapes import Output, needed

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""

_BY_TUPLE = (
    GroupingKind.SHUFFLE,
    GroupingKind.NONE,
    GroupingKind.LOCAL_OR_SHUFFLE,
    GroupingKind.GLOBAL,
    GroupingKind.PARTIAL_KEY,
)
"""Groupings under which a tuple goes to one task, whichever it is: they do for bolts without state."""
_LOCALLY = "or run the topology on one machine (viper run)"


def check_outputs(topology: Topology, outputs: Sequence[Output]) -> None:
    """Every output is a stream that a component declares.

    Raises:
        TopologyError: it is none, or there are no outputs at all.
    """
    problems = list(_wrong_outputs(topology, outputs))
    if problems:
        raise TopologyError(Problem(topology.sources.at(), message) for message in problems)


def _wrong_outputs(topology: Topology, outputs: Sequence[Output]) -> Iterator[str]:
    components = {component.id: component for component in topology.components}
    if not outputs:
        yield "no outputs: name the streams that are wanted, as component or component/stream"
    for output in outputs:
        if output.component not in components:
            yield f"outputs: {unknown('component', output.component, components)}"
            continue
        names = [stream.name for stream in components[output.component].outputs or ()]
        if output.stream not in names:
            yield f"outputs: component {output.component!r}: {unknown('stream', output.stream, names)}"


def check_shardable(plan: Plan, outputs: Sequence[Output], given: Collection[str] = ()) -> None:
    """All that the outputs come from and through can be run shard by shard, with the same outputs.

    Args:
        plan: of a topology that can run here.
        outputs: what is wanted; components that only others need are not checked.
        given: ids of spouts whose rows are given as a DataFrame.

    Raises:
        TopologyError: something cannot; the error has all problems.
    """
    topology, confs, time = plan.topology, plan.confs, plan.time
    taking_part = needed(topology, outputs)
    problems = [
        about(topology, component, message)
        for component in topology.components
        if component.id in taking_part
        for rule in _RULES
        for message in rule(component, confs[component.id], plan.traits[component.id], given)
    ]
    problems += _of_cycles(topology, taking_part)
    if time is not TimeMode.EVENT:
        message = f"time is {time}, but a shard knows no time but that of its tuples: set viper.time to event"
        problems.append(Problem(topology.sources.at("config", "viper.time"), message))
    if any(confs[component_id]["viper.values"] == "json" for component_id in taking_part):
        message = "viper.values is json, which a backfill does not do: leave it out"
        problems.append(Problem(topology.sources.at("config", "viper.values"), message))
    if problems:
        raise TopologyError(problems)


Conf = Mapping[str, Any]
Given = Collection[str]
"""Ids of spouts whose rows are given as a DataFrame."""
Rule = Callable[[ComponentSpec, Conf, Traits, Given], Iterator[str]]


def _of_programs(
    component: ComponentSpec, conf: Conf, traits: Traits, given: Collection[str]
) -> Iterator[str]:
    if isinstance(component.implementation, ShellImplementation) and component.id not in given:
        yield f"is a program, which cannot be run in Spark's executors: write it in Python, {_LOCALLY}"


def _of_spouts(component: ComponentSpec, conf: Conf, traits: Traits, given: Given) -> Iterator[str]:
    if component.role is not Role.SPOUT or component.id in given:
        return
    implementation = component.implementation
    if isinstance(implementation, PythonImplementation) and not traits.partitioned:
        name = implementation.definition.class_name.replace(":", ".").rpartition(".")[2]
        yield (
            f"is a {name}, whose rows no executor can read on its own: "
            f"expected a SparkSpout or another PartitionedSpout, {_LOCALLY}"
        )
    if conf["viper.timestamp.slack"] or conf["viper.timestamp.late"] != "error":
        yield (
            "puts its rows in order (viper.timestamp.slack, viper.timestamp.late), and a shard takes them as "
            f"they come: prepare the data, which sorts them, and leave both out, {_LOCALLY}"
        )


def _of_batches(
    component: ComponentSpec, conf: Conf, traits: Traits, given: Collection[str]
) -> Iterator[str]:
    if traits.batching is not Batching.NONE:
        yield f"gathers batches over all its keys, which no shard has: process tuple by tuple, {_LOCALLY}"


def _of_ticks(component: ComponentSpec, conf: Conf, traits: Traits, given: Given) -> Iterator[str]:
    if component.role is not Role.BOLT or not isinstance(component.implementation, PythonImplementation):
        return
    if any(subscription.source.startswith(SYSTEM_PREFIX) for subscription in component.inputs):
        yield f"subscribes to the system's ticks, {_NO_TICKS}"
    elif traits.batching is not Batching.NONE:
        return  # which another rule reports
    elif conf.get(INTERVAL) and traits.hears_ticks:
        yield f"has ticks ({INTERVAL}) and a process_tick, {_NO_TICKS}"


_NO_TICKS = (
    "but what it emits at a tick stands at the tick, whatever the key, so that shards would share positions: "
    f"emit when a tuple shows that its time has come, {_LOCALLY}"
)


def _of_groupings(
    component: ComponentSpec, conf: Conf, traits: Traits, given: Collection[str]
) -> Iterator[str]:
    for subscription in component.inputs:
        kind = subscription.grouping.kind
        if kind is GroupingKind.FIELDS or (kind in _BY_TUPLE and traits.stateless):
            continue
        what = f"receives {subscription.source!r} by {kind} grouping"
        if kind in _BY_TUPLE:
            yield (
                f"{what} and may keep state over all keys: group by fields, "
                f"or declare that it keeps none (config viper.stateless: true), {_LOCALLY}"
            )
        else:
            yield f"{what}, which no division by keys can do: group by fields, {_LOCALLY}"


_RULES: Sequence[Rule] = (_of_programs, _of_spouts, _of_batches, _of_ticks, _of_groupings)


def _of_cycles(topology: Topology, taking_part: Collection[str]) -> list[Problem]:
    return [
        about(
            topology,
            topology.component(target),
            f"receives {source!r} back through a cycle, but a backfill passes each component once: "
            f"open the cycle, {_LOCALLY}",
        )
        for source, _, target in sorted(feedback_edges(topology))
        if target in taking_part
    ]
