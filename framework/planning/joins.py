"""What leaves joins without a meaning, and is refused: by logical time, or dealt to tasks at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.model.topology import ComponentSpec, GroupingKind, Problem, Topology, about
from framework.operators.windows.spec import JOIN_HOW
from framework.planning.time_mode import TimeMode
from framework.planning.traits import Traits


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
            *_complaints(bolt, counts[bolt.id], time),
            *(_unfit_outer(bolt, counts[bolt.id], confs[bolt.id]) if traits[bolt.id].joins_outer else ()),
        )
    ]


def _complaints(bolt: ComponentSpec, tasks: int, time: TimeMode | None) -> Iterator[str]:
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
