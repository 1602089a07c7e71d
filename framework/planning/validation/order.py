"""Time and order: ticks, timestamps, and what lies outside the order guarantee."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from framework.model.config import Settings, task_count
from framework.model.errors import LoadError
from framework.model.importing import importable
from framework.model.instantiate import Beans
from framework.model.specs import NO_STREAM
from framework.model.topology import (
    ComponentSpec,
    JavaImplementation,
    Problem,
    PythonImplementation,
    Stream,
    Topology,
    about,
    unknown,
)
from framework.model.topology.graph import feedback_edges
from framework.model.topology.grouping import KEYLESS
from framework.operators.components import PartitionedSpout
from framework.operators.components.tuple import TICK_COMPONENT, TICK_STREAM
from framework.planning.time_mode import TimeMode, choose_time, holds_back, time_problems
from framework.planning.traits import Batching, Traits
from framework.planning.validation.subscriptions import subscriptions

INTERVAL = "topology.tick.tuple.freq.secs"
"""The key that says how often there are ticks."""

_SET = f"set {INTERVAL}, in the bolt's config or in the topology's"

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


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
    """True if a bolt is a Java class, which may set its interval itself, where nothing here can see it."""
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
        late = conf["viper.timestamp.late"]
        is_asked_for = holds_back(conf)
        has_field = traits[spout.id].partitioned and conf["viper.timestamp.field"] is not None
        if not (is_asked_for or has_field):
            continue
        source = _made(topology, spout) if traits[spout.id].partitioned else None
        message = _without_slack(source, time)
        if message is not None:
            keys = "viper.timestamp.field has"
            if is_asked_for:
                keys = "viper.timestamp.slack and viper.timestamp.late have"
            about_slack = f"{keys} no effect: {message}"
            yield about(topology, spout, about_slack, part="config", warning=True)
        elif late not in NO_STREAM:
            never_late = () if source is None else source.never_late
            for found in _unfit_for_late(spout.outputs or (), late, never_late):
                yield about(topology, spout, f"viper.timestamp.late is {late!r}: {found}", part="config")
            if traits[spout.id].partitioned and not _is_read(topology, spout, late):
                found = (
                    f"no bolt subscribes to stream {late!r}, so late rows would be lost: subscribe to it, or "
                    "set drop, which counts them"
                )
                yield about(topology, spout, f"viper.timestamp.late is {late!r}: {found}", part="config")


def _made(topology: Topology, spout: ComponentSpec) -> PartitionedSpout | None:
    """A partitioned spout, not initialized; None where it cannot be made here."""
    if not isinstance(spout.implementation, PythonImplementation):
        return None
    try:
        with importable(topology.import_paths):
            made: PartitionedSpout = Beans(topology.beans).make(spout.implementation.definition)
    except Exception:  # of the user's constructor: the run says so
        return None
    return made


def _is_read(topology: Topology, spout: ComponentSpec, stream: str) -> bool:
    subscribed = (one for bolt in topology.bolts for one in bolt.inputs)
    return any((one.source, one.stream) == (spout.id, stream) for one in subscribed)


def _without_slack(source: PartitionedSpout | None, time: TimeMode | None) -> str | None:
    if source is not None and not source.has_times:
        return (
            "the rows of the source have no time of their own, so the number of a row stands for it: name "
            "the field that holds the time to the source itself (timestamp=...); text has no fields, so read "
            "lines with a time as CSV or JSON lines (CsvSource, JsonLinesSource)"
        )
    return None if time in (TimeMode.EVENT, None) else f"viper.time is {time}"


def _unfit_for_late(outputs: Sequence[Stream], late: str, never_late: Collection[str]) -> Iterator[str]:
    streams = {stream.name: stream for stream in outputs}
    taken = streams.get(late)
    if taken is None:
        found = unknown("stream", late, streams)
        yield f"expected error, drop, admit or a stream of the spout, found an {found}"
    elif taken.direct:
        yield "expected a stream that is not direct, as nobody names a task for a late tuple"
    else:
        for stream in outputs:
            if stream.name in never_late:
                if stream is taken:
                    yield "expected a stream that is not for other rows already"
            elif stream.fields != taken.fields:
                yield (
                    f"its fields are {list(taken.fields)}, expected those of stream {stream.name!r}, "
                    f"whose late tuples go there, too: {list(stream.fields)}"
                )
            elif stream.schema != taken.schema:
                yield (
                    f"its schema is {taken.schema}, expected that of stream {stream.name!r}, whose late "
                    f"tuples go there, too: {stream.schema}"
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
    kinds = sorted({str(i.grouping.kind) for i in bolt.inputs if i.grouping.kind in KEYLESS})
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
    """Spouts that emit a failed tuple again, after a bolt has done its transactions."""
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
                f"a tuple of {spout.id!r} that fails further on comes again, and so do its transactions: "
                "emit it without an id"
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
