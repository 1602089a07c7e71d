"""Time and order: ticks, timestamps, and what lies outside the order guarantee."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from framework.components.tuple import TICK_COMPONENT, TICK_STREAM
from framework.config import Settings, task_count
from framework.errors import LoadError
from framework.planning.time_mode import TimeMode, choose_time, time_problems
from framework.planning.windows import ADMIT
from framework.topology import (
    ComponentSpec,
    GroupingKind,
    JavaImplementation,
    Problem,
    Stream,
    Topology,
    about,
    unknown,
)
from framework.topology.graph import feedback_edges
from framework.traits import Batching, Traits
from framework.validation.subscriptions import subscriptions

INTERVAL = "topology.tick.tuple.freq.secs"
"""The key that says how often there are ticks."""

_SET = f"set {INTERVAL}, in the bolt's config or in the topology's"

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""

_KEYLESS = (
    GroupingKind.SHUFFLE,
    GroupingKind.NONE,
    GroupingKind.LOCAL_OR_SHUFFLE,
    GroupingKind.PARTIAL_KEY,
    GroupingKind.CUSTOM,
)


def check_ticks(topology: Topology, confs: Confs, traits: Mapping[str, Traits]) -> Iterator[Problem]:
    """Every bolt that subscribes to the system's ticks, or that batches by ticks, has a tick interval.

    Args:
        topology: one without errors.
        confs: from `component_conf`, by id.
        traits: from `known_traits`, by id.
    """
    without = {bolt.id for bolt in topology.bolts if confs[bolt.id][INTERVAL] is None}
    for found in subscriptions(topology):
        asked = (found.input.source, found.input.stream) == (TICK_COMPONENT, TICK_STREAM)
        if asked and found.bolt.id in without and not _is_java(found.bolt):
            yield found.problem(f"there are no ticks: {_SET}")
    for bolt in topology.bolts:
        if bolt.id in without and traits[bolt.id].batching is Batching.TICKS:
            message = f"gathers batches, but has no ticks at which to process them before the end: {_SET}"
            yield about(topology, bolt, message, warning=True)


def _is_java(bolt: ComponentSpec) -> bool:
    """Whether a bolt is a Java class, which may set its interval itself, where nothing here can see it."""
    return isinstance(bolt.implementation, JavaImplementation)


def check_timestamps(topology: Topology, confs: Confs, traits: Mapping[str, Traits]) -> Iterator[Problem]:
    """A spout's ``viper.timestamp.field`` is one of its fields, and one spout's calls for every spout's.

    Args:
        topology: one without errors.
        confs: from `component_conf`, by id.
        traits: from `known_traits`, by id.
    """
    yield from time_problems(topology, confs, traits)
    for spout in topology.spouts:
        name = confs[spout.id]["viper.timestamp.field"]
        fields = {field for stream in spout.outputs or () for field in stream.fields}
        if name is not None and spout.outputs is not None and name not in fields:
            message = f"takes its timestamps from an {unknown('field', name, fields)}"
            yield about(topology, spout, message, part="config")


def check_slack(topology: Topology, confs: Confs, traits: Mapping[str, Traits]) -> Iterator[Problem]:
    """A spout's ``viper.timestamp.late`` names a stream that can take its tuples; its slack has an effect.

    Args:
        topology: one without errors.
        confs: from `component_conf`, by id.
        traits: from `known_traits`, by id.
    """
    time = time_of(topology, confs, traits)
    for spout in topology.spouts:
        conf = confs[spout.id]
        late, slack = conf["viper.timestamp.late"], conf["viper.timestamp.slack"]
        if not slack and late == "error":
            continue
        message = _without_slack(traits[spout.id], time)
        if message is not None:
            about_slack = f"viper.timestamp.slack and viper.timestamp.late have no effect: {message}"
            yield about(topology, spout, about_slack, part="config", warning=True)
        elif late not in ("error", "drop", ADMIT):
            for found in _unfit_for_late(spout.outputs or (), late):
                yield about(topology, spout, f"viper.timestamp.late is {late!r}: {found}", part="config")


def _without_slack(traits: Traits, time: TimeMode | None) -> str | None:
    if traits.partitioned:
        return "each partition brings its rows in the order of time"
    return None if time in (TimeMode.EVENT, None) else f"viper.time is {time}"


def _unfit_for_late(outputs: Sequence[Stream], late: str) -> Iterator[str]:
    streams = {stream.name: stream for stream in outputs}
    taken = streams.get(late)
    if taken is None:
        found = unknown("stream", late, streams)
        yield f"expected error, drop, admit or a stream of the spout, found an {found}"
    elif taken.direct:
        yield "expected a stream that is not direct, as nobody names a task for a late tuple"
    else:
        for stream in outputs:
            if stream.fields != taken.fields:
                yield (
                    f"its fields are {list(taken.fields)}, expected those of stream {stream.name!r}, "
                    f"whose late tuples go there, too: {list(stream.fields)}"
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
    time = time_of(topology, confs, traits)
    if time is TimeMode.INGEST:
        message = "outside the order guarantee: timestamps are the wall clock's, as viper.time is ingest"
        yield Problem(topology.sources.at("config", "viper.time"), message, warning=relaxed)
    going_back = _sources_going_back(topology)
    for bolt in topology.bolts:
        conf = confs[bolt.id]
        clocks, windows = _clocks(traits[bolt.id], conf, time), _windows(traits[bolt.id], bolt, conf)
        keyless, cycles = _keyless(bolt, conf, traits[bolt.id]), _cycles(going_back[bolt.id])
        reasons = [*keyless, *cycles, *clocks, *windows, *_repeats(topology, bolt, traits)]
        if reasons:
            message = f"is outside the order guarantee: {'; '.join(reasons)}"
            yield about(topology, bolt, message, warning=relaxed)


def time_of(topology: Topology, confs: Confs, traits: Mapping[str, Traits]) -> TimeMode | None:
    """The time that a topology runs by; None if that depends on a spout that is no Python class at hand."""
    partitions = sum(task_count(spout, confs[spout.id]) for spout in topology.spouts)
    try:
        return choose_time(topology, confs, traits, partitions)
    except LoadError:
        # A spout that is no Python class at hand: whether it ends cannot be known.
        return None


def _keyless(bolt: ComponentSpec, conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    tasks = task_count(bolt, conf)
    if tasks == 1 or conf["viper.stateless"] or traits.tables:  # which all tasks share
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


def _repeats(topology: Topology, bolt: ComponentSpec, traits: Mapping[str, Traits]) -> Iterator[str]:
    """Spouts that emit a tuple once more which has failed, where a bolt has done its transactions before."""
    if not traits[bolt.id].tables:
        return
    before, todo = set[str](), [bolt.id]
    while todo:
        inputs = topology.component(todo.pop()).inputs
        found = {given.source for given in inputs if given.source in traits} - before
        before |= found
        todo += found
    for spout in topology.spouts:
        if spout.id in before and traits[spout.id].hears_answers:
            yield (
                f"a tuple of {spout.id!r} that fails further on comes again, and so do its transactions: emit "
                "it without an id"
            )


def _windows(traits: Traits, bolt: ComponentSpec, conf: Mapping[str, Any]) -> Iterator[str]:
    tasks = task_count(bolt, conf)
    if traits.windowed and not traits.key_windows and tasks > 1:
        yield f"each of its {tasks} tasks has windows of what it receives: set parallelism to 1"


def _clocks(traits: Traits, conf: Mapping[str, Any], time: TimeMode | None) -> Iterator[str]:
    if time in (TimeMode.EVENT, None):
        return
    if traits.batching is Batching.TIMER:
        yield "its batches follow the wall clock"
    elif conf[INTERVAL] and traits.hears_ticks:
        yield f"its ticks follow the wall clock, as viper.time is {time}"
