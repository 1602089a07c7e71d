"""The order guarantee: what can be seen, before a run, to lie outside of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from framework.config import Settings, task_count
from framework.errors import LoadError
from framework.hosting import base_classes, batches_by_timer
from framework.importing import importable
from framework.planning.time_mode import TimeMode, choose_time
from framework.topology import ComponentSpec, GroupingKind, Problem, Topology
from framework.topology.graph import feedback_edges
from framework.validation.classes import held_class, overrides
from framework.validation.reporting import about

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""

_KEYLESS = (
    GroupingKind.SHUFFLE,
    GroupingKind.NONE,
    GroupingKind.LOCAL_OR_SHUFFLE,
    GroupingKind.PARTIAL_KEY,
    GroupingKind.CUSTOM,
)


def check_order(topology: Topology, settings: Settings, confs: Confs) -> Iterator[Problem]:
    """One warning for each component that is outside the guarantee; errors if ``viper.order`` is strict.

    Args:
        topology: one without errors.
        settings: its settings.
        confs: from `component_conf`, by id.
    """
    relaxed = settings["viper.order"] == "relaxed"
    time = _time(topology, confs)
    if time is TimeMode.INGEST:
        message = "outside the order guarantee: timestamps are the wall clock's, as viper.time is ingest"
        yield Problem(topology.sources.at("config", "viper.time"), message, warning=relaxed)
    going_back = _sources_going_back(topology)
    for bolt in topology.bolts:
        conf = confs[bolt.id]
        reasons = [*_keyless(bolt, conf), *_cycles(going_back[bolt.id]), *_clocks(bolt, conf, time)]
        if reasons:
            message = f"is outside the order guarantee: {'; '.join(reasons)}"
            yield about(topology, bolt, message, warning=relaxed)


def _time(topology: Topology, confs: Confs) -> TimeMode | None:
    partitions = sum(task_count(spout, confs[spout.id]) for spout in topology.spouts)
    try:
        with importable(topology.import_paths):
            return choose_time(topology, confs, partitions)
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


def _sources_going_back(topology: Topology) -> defaultdict[str, set[str]]:
    """The sources of edges that close a cycle, by the bolt that each leads to: one search for all bolts."""
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for source, _, target in feedback_edges(topology):
        sources[target].add(source)
    return sources


def _cycles(sources: set[str]) -> Iterator[str]:
    for source in sorted(sources):
        yield f"tuples from {source!r} come back through a cycle"


def _clocks(bolt: ComponentSpec, conf: Mapping[str, Any], time: TimeMode | None) -> Iterator[str]:
    cls = held_class(bolt)
    if cls is None or time in (TimeMode.EVENT, None):
        return
    if batches_by_timer(cls):
        yield "its batches follow the wall clock"
    elif conf["topology.tick.tuple.freq.secs"] and overrides(cls, "process_tick", base_classes("Bolt")):
        yield f"its ticks follow the wall clock, as viper.time is {time}"
