"""The reasons for which a topology cannot have checkpoints, or cannot do without, found before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.model.topology import ComponentSpec, Problem, Topology
from framework.model.topology.graph import feedback_edges
from framework.operators.state import BatchState
from framework.planning.recovery import offset_problems
from framework.planning.traits import Batching, Traits

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


def checkpoint_problems(
    topology: Topology, confs: Confs, traits: Mapping[str, Traits], *, warning: bool = False
) -> list[Problem]:
    """Everything in a topology of which no checkpoint can be made.

    Args:
        topology: one without errors.
        confs: each component's resolved configuration, by id.
        traits: of the components, by id; a spout whose class is not known is taken to be fit.
        warning: whether it is not known as yet if checkpoints are wanted.
    """
    problems: list[Problem] = []

    def found(component: ComponentSpec, message: str) -> None:
        problems.append(Problem(topology.sources.at("components", component.id), message, warning))

    for spout in topology.spouts:
        for message in _unfit_spout(spout, confs[spout.id], traits[spout.id]):
            found(spout, message)
    for source, _, target in feedback_edges(topology):
        message = (
            f"what goes back from {source!r} to {target!r} has no place in event time: a topology with a "
            "cycle cannot be gone on with"
        )
        found(topology.component(target), message)
    for bolt in topology.bolts:
        for message in _unfit_bolt(bolt, traits[bolt.id]):
            found(bolt, message)
    return problems


def _unfit_spout(spout: ComponentSpec, conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    if traits.is_class_known and not (traits.partitioned or traits.seekable):
        yield (
            f"spout {spout.id!r} cannot say where it is: define offset and seek (SeekableSpout), or let it "
            "bring partitions (PartitionedSpout), as those of framework.operators.sources do"
        )
    elif traits.seekable:
        yield from (f"spout {spout.id!r}: {found}" for found in offset_problems(conf, traits))
        if conf["viper.blocking"]:
            yield f"spout {spout.id!r} says not where it is while it blocks: set viper.blocking to false"
    if waits_for_checkpoints(conf, "checkpoint", tracked=False):
        yield (
            f"acks of spout {spout.id!r} cannot wait for checkpoints (viper.ack.after) where nothing is "
            "tracked: leave topology.acker.executors out"
        )


def _unfit_bolt(bolt: ComponentSpec, traits: Traits) -> Iterator[str]:
    if traits.batching is Batching.TIMER:
        yield f"a timer processes the batches of bolt {bolt.id!r}: derive it from BatchingBolt"
    elif traits.batching is Batching.TICKS and not any(s.kind == BatchState.kind for s in traits.states):
        yield (
            f"bolt {bolt.id!r} gathers batches, which no checkpoint holds: set viper.recovery to exact, with "
            "which they are declared state"
        )


def missing_checkpoints(
    topology: Topology, confs: Confs, traits: Mapping[str, Traits], *, warning: bool = False
) -> list[Problem]:
    """Everything in a topology that waits for checkpoints or goes back to them, for a run without a folder.

    Args:
        topology: as of `checkpoint_problems`, like the next two.
        confs: likewise.
        traits: likewise.
        warning: whether it is not known as yet if the run has a folder for them.
    """
    problems = []
    waiting = [spout.id for spout in topology.spouts if waits_for_checkpoints(confs[spout.id], "checkpoint")]
    if waiting:
        message = (
            f"acks of {', '.join(map(repr, waiting))} wait for checkpoints (viper.ack.after), and the run "
            "has no folder for them: give it one (--checkpoints), or set viper.ack.after to commit"
        )
        problems.append(Problem(topology.sources.at("components", waiting[0]), message, warning))
    if living := living_values(traits):
        message = (
            f"{', '.join(living)}: durable='checkpoint' in a run without checkpoints: give it a folder for "
            "them (--checkpoints FOLDER)"
        )
        component, _, _ = living[0].rpartition(".")
        problems.append(Problem(topology.sources.at("components", component), message, warning))
    return problems


def waits_for_checkpoints(conf: Mapping[str, Any], *configured: str | None, tracked: bool = True) -> bool:
    """True if a spout's acks wait for checkpoints by one of these values of ``viper.ack.after``.

    Args:
        conf: its resolved configuration.
        configured: the values.
        tracked: whether its tuples are tracked.
    """
    return conf["viper.ack.after"] in configured and (conf["topology.acker.executors"] != 0) is tracked


def living_values(traits: Mapping[str, Traits]) -> list[str]:
    """The states that live in their process until a checkpoint, as ``component.state``, sorted."""
    return sorted(
        f"{name}.{spec.name}"
        for name, found in traits.items()
        for spec in found.states
        if spec.durable == "checkpoint"
    )
