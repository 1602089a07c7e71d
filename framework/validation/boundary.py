"""The order guarantee: what can be seen, before a run, to lie outside of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from framework.config import Settings, task_count
from framework.errors import LoadError
from framework.planning.time_mode import TimeMode, choose_time
from framework.topology import ComponentSpec, GroupingKind, Problem, Topology, about
from framework.topology.graph import Edge, feedback_edges
from framework.traits import Batching, Traits

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""

_KEYLESS = (
    GroupingKind.SHUFFLE,
    GroupingKind.NONE,
    GroupingKind.LOCAL_OR_SHUFFLE,
    GroupingKind.PARTIAL_KEY,
    GroupingKind.CUSTOM,
)


def check_order(
    topology: Topology, settings: Settings, confs: Confs, traits: Mapping[str, Traits]
) -> Iterator[Problem]:
    """One warning for each component that is outside the guarantee; errors if ``viper.order`` is strict.

    Args:
        topology: one without errors.
        settings: its settings.
        confs: from `component_conf`, by id.
        traits: from `known_traits`, by id.
    """
    relaxed = settings["viper.order"] == "relaxed"
    time = _time(topology, confs, traits)
    feedback = feedback_edges(topology)
    if time is TimeMode.INGEST:
        message = "outside the order guarantee: timestamps are the wall clock's, as viper.time is ingest"
        yield Problem(topology.sources.at("config", "viper.time"), message, warning=relaxed)
    for bolt in topology.bolts:
        conf = confs[bolt.id]
        clocks = _clocks(traits[bolt.id], conf, time)
        reasons = [*_keyless(bolt, conf), *_cycles(feedback, bolt), *clocks]
        if reasons:
            message = f"is outside the order guarantee: {'; '.join(reasons)}"
            yield about(topology, bolt, message, warning=relaxed)


def _time(topology: Topology, confs: Confs, traits: Mapping[str, Traits]) -> TimeMode | None:
    partitions = sum(task_count(spout, confs[spout.id]) for spout in topology.spouts)
    try:
        return choose_time(topology, confs, traits, partitions)
    except LoadError:
        # A spout that is no Python class at hand: whether it ends cannot be known.
        return None


def _keyless(bolt: ComponentSpec, conf: Mapping[str, Any]) -> Iterator[str]:
    tasks = task_count(bolt, conf)
    if tasks == 1 or conf["viper.stateless"]:
        return
    kinds = sorted({str(i.grouping.kind) for i in bolt.inputs if i.grouping.kind in _KEYLESS})
    if kinds:
        yield f"{' and '.join(kinds)} grouping over {tasks} tasks, and viper.stateless is not true"


def _cycles(feedback: Collection[Edge], bolt: ComponentSpec) -> Iterator[str]:
    for source in sorted({source for source, _, target in feedback if target == bolt.id}):
        yield f"tuples from {source!r} come back through a cycle"


def _clocks(traits: Traits, conf: Mapping[str, Any], time: TimeMode | None) -> Iterator[str]:
    if time in (TimeMode.EVENT, None):
        return
    if traits.batching is Batching.TIMER:
        yield "its batches follow the wall clock"
    elif conf["topology.tick.tuple.freq.secs"] and traits.hears_ticks:
        yield f"its ticks follow the wall clock, as viper.time is {time}"
