"""Windows and joins that have no meaning, which are refused, and what they say without effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.model.errors import ConfigError
from framework.model.topology import ComponentSpec, GroupingKind, Problem, Role, Topology, about, unknown
from framework.model.topology.graph import SYSTEM_PREFIX
from framework.operators.windows import WindowSpec, spec_in
from framework.operators.windows.spec import (
    JOIN_HOW,
    LAG_MS,
    LATE_STREAM,
    LATENESS_MS,
    TIME_FIELD,
    WATERMARK_MS,
)
from framework.planning.time_mode import TimeMode
from framework.planning.traits import Traits

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""

ADMIT = "admit"
"""The value of ``viper.timestamp.late`` with which late tuples come to the bolts."""
_HOW_BY_KEY = "size and advance, or gap, as attributes or arguments of its class, or their keys in its config"
_HOW = "with_window(), with_tumbling_window() or with_session_window(), or their keys in its config"


def window_problems(
    topology: Topology, confs: Confs, traits: Mapping[str, Traits], time: TimeMode | None
) -> list[Problem]:
    """Windowed bolts whose windows are not configured, or cannot be had by the time of the topology.

    Args:
        topology: one without errors.
        confs: each component's resolved configuration, by id.
        traits: by id.
        time: the time that the topology runs by; None if that is not known.
    """
    return [
        about(topology, bolt, complaint, warning=is_warning)
        for bolt in topology.bolts
        if traits[bolt.id].windowed
        for complaint, is_warning in _complaints(topology, bolt, confs, traits, time)
    ]


def _complaints(
    topology: Topology, bolt: ComponentSpec, confs: Confs, traits: Mapping[str, Traits], time: TimeMode | None
) -> Iterator[tuple[str, bool]]:
    """Yield the faults of a bolt's windows, each with True if it is no more than a warning."""
    conf = confs[bolt.id]
    how = _HOW_BY_KEY if traits[bolt.id].key_windows else _HOW
    try:
        spec = spec_in(conf)
    except ConfigError as error:
        yield f"says of its windows what cannot be: {error}", False
        return
    if spec is None:
        yield f"processes windows, and nothing says which: expected {how}", False
        return
    if traits[bolt.id].key_windows:
        for complaint in _unfit_by_key(bolt, conf, spec, traits[bolt.id]):
            yield complaint, False
    if spec.has_durations and time is TimeMode.LOGICAL:
        yield (
            "has windows of a duration, but time is logical here, and counts tuples: give counts, such as "
            "Count(10); or give every spout a viper.timestamp.field, or set viper.time to ingest"
        ), False
    spouts = [topology.component(name) for name in _spouts_above(topology, bolt.id)]
    for complaint in (*_unfit_field(conf, spouts, confs, traits, time), *_unfit_late(bolt, conf, spec)):
        yield complaint, False
    for told in _without_effect(conf, spouts, confs):
        yield told, True


def _unfit_by_key(
    bolt: ComponentSpec, conf: Mapping[str, Any], spec: WindowSpec, traits: Traits
) -> Iterator[str]:
    if (spec.length_us is None) != (spec.slide_us is None):
        yield "has windows by key with a size and an advance, of which one is a count: expected both or none"
    streams = [found for found in bolt.inputs if not found.source.startswith(SYSTEM_PREFIX)]
    if traits.window_inputs == 2 and len(streams) != 2:
        yield f"has windows of two inputs, and subscribes to {len(streams)} streams: expected 2"


def _spouts_above(topology: Topology, bolt: str) -> list[str]:
    """The spouts whose tuples, or what becomes of them, come to a bolt, in the order of the topology."""
    known = {component.id: component for component in topology.components}
    seen, todo = set[str](), [bolt]
    while todo:
        name = todo.pop()
        if name in known and name not in seen:
            seen.add(name)
            todo += [found.source for found in known[name].inputs]
    return [name for name, found in known.items() if name in seen and found.role is Role.SPOUT]


def _unfit_field(
    conf: Mapping[str, Any],
    spouts: list[ComponentSpec],
    confs: Confs,
    traits: Mapping[str, Traits],
    time: TimeMode | None,
) -> Iterator[str]:
    field = conf[TIME_FIELD]
    if field is None:
        return
    if time not in (TimeMode.EVENT, None):
        given = ", ".join(repr(spout.id) for spout in spouts)
        yield (
            f"takes the time of tuples from field {field!r}, but time is {time} here: set "
            f"viper.timestamp.field to {field!r} for {given}, as time comes with the spouts' tuples"
        )
        return
    for spout in spouts:
        found = confs[spout.id]["viper.timestamp.field"]
        if found != field and not traits[spout.id].partitioned:
            yield (
                f"takes the time of tuples from field {field!r}, and spout {spout.id!r} from {found!r}: "
                "expected the same field, as time comes with the spouts' tuples"
            )
        unit, expected = conf["viper.timestamp.unit"], confs[spout.id]["viper.timestamp.unit"]
        if found == field and unit != expected:
            yield f"has viper.timestamp.unit {unit}, and spout {spout.id!r} {expected}: expected the same"


def _unfit_late(bolt: ComponentSpec, conf: Mapping[str, Any], spec: WindowSpec) -> Iterator[str]:
    name = conf[LATE_STREAM]
    if (name is not None or conf[LATENESS_MS]) and conf[TIME_FIELD] is None:
        key = LATE_STREAM if name is not None else LATENESS_MS
        yield f"has {key}, but nothing says which tuples are late: expected with_timestamp_field()"
    if conf[LATENESS_MS] and (spec.length_us is None or spec.slide_us is None):
        yield f"has {LATENESS_MS}, which is for windows whose length and interval are durations"
    if name is None or bolt.outputs is None:
        return
    streams = {stream.name: stream for stream in bolt.outputs}
    if name not in streams:
        yield f"emits late tuples on an {unknown('stream', name, streams)}"
    elif streams[name].direct or len(streams[name].fields) != 1:
        yield f"emits late tuples on stream {name!r}: expected one that is not direct and has one field"


def _without_effect(
    conf: Mapping[str, Any], spouts: list[ComponentSpec], confs: Confs
) -> Iterator[str]:
    lag_ms = conf[LAG_MS] or 0
    behind = [spout.id for spout in spouts if confs[spout.id]["viper.timestamp.slack"] < lag_ms]
    if behind:
        yield (
            f"allows for a lag of {lag_ms} ms, which spouts are to put in order: set viper.timestamp.slack "
            f"to {lag_ms} for {', '.join(map(repr, behind))}"
        )
    wants_late = conf[LATE_STREAM] is not None or conf[LATENESS_MS]
    if wants_late and not any(confs[spout.id]["viper.timestamp.late"] == ADMIT for spout in spouts):
        yield (
            "gets no late tuple, as the spouts let none pass: set viper.timestamp.late to admit for "
            f"{', '.join(repr(spout.id) for spout in spouts)}"
        )
    if conf.get(WATERMARK_MS) is not None:
        yield "has a watermark interval, without effect: windows fire when all their tuples have come"


def join_problems(
    topology: Topology,
    counts: Mapping[str, int],
    confs: Mapping[str, Mapping[str, Any]],
    traits: Mapping[str, Traits],
    time: TimeMode | None,
) -> list[Problem]:
    """Bolts that join streams, and cannot find what belongs together.

    Args:
        topology: one without errors.
        counts: the number of tasks of each component, by id.
        confs: each component's resolved configuration, by id.
        traits: by id.
        time: the time that the topology runs by; None if that is not known.
    """
    return [
        about(topology, bolt, complaint)
        for bolt in topology.bolts
        if traits[bolt.id].joins
        for complaint in (
            *_join_complaints(bolt, counts[bolt.id], time),
            *(_unfit_outer(bolt, counts[bolt.id], confs[bolt.id]) if traits[bolt.id].joins_outer else ()),
        )
    ]


def _join_complaints(bolt: ComponentSpec, tasks: int, time: TimeMode | None) -> Iterator[str]:
    if time is TimeMode.LOGICAL:
        yield (
            "joins tuples by their times, but time is logical here, and counts tuples: give every spout a "
            "viper.timestamp.field, or set viper.time to ingest"
        )
    kinds = {found.grouping.kind for found in bolt.inputs}
    if GroupingKind.ALL in kinds and len(kinds) > 1:
        yield "joins streams by an all grouping and another one: expected the same for all of them"
    elif tasks > 1 and not (kinds <= {GroupingKind.FIELDS} or kinds == {GroupingKind.ALL}):
        told = ", ".join(sorted(map(str, kinds - {GroupingKind.FIELDS})))
        yield (
            f"joins streams in {tasks} tasks, which a grouping ({told}) brings together at random: expected "
            "fields groupings by what must be equal, all groupings, or parallelism 1"
        )


def _unfit_outer(bolt: ComponentSpec, tasks: int, conf: Mapping[str, Any]) -> Iterator[str]:
    if tasks == 1:
        return
    if GroupingKind.ALL in {found.grouping.kind for found in bolt.inputs}:
        yield (
            f"is a {conf[JOIN_HOW]} join in {tasks} tasks behind an all grouping, where no task knows "
            "whether a tuple has a partner in another one: expected fields groupings by what must be equal, "
            "or parallelism 1"
        )
    elif conf["viper.grouping.hash"] == "storm":
        yield (
            f"is a {conf[JOIN_HOW]} join in {tasks} tasks, and viper.grouping.hash is storm: expected "
            "stable, as tuples without a partner are put out by key group"
        )
