"""Guarantees: the number of times that a spout's tuples count after a death, for each kind of spout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.model.config import Settings, component_conf, is_of_streamparse
from framework.model.importing import importable
from framework.model.topology import ComponentSpec, Problem, Topology, about
from framework.model.topology.graph import SYSTEM_PREFIX
from framework.planning.traits import Traits, held_class, is_ported, known_traits

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""

_ONCE = (
    "with viper.recovery exact the death of a worker process changes nothing; with checkpoints each tuple "
    "counts once, also where all processes are killed and another run goes on"
)
_PARTITIONED = f"brings partitions: {_ONCE}; with neither, what a worker process has in hand is lost with it"
_SEEKABLE = (
    f"says where it is (offset, seek): {_ONCE}, with as many tasks of the spout; with neither, it begins "
    "again when its worker process dies, and what another one has in hand is lost with that"
)
_NEITHER = (
    "does not say where it is: it is refused with viper.recovery exact and with checkpoints; it begins again "
    "when its worker process dies, and what another one has in hand is lost with that, but for tuples with "
    "an id, which fail; derive it from SeekableSpout, and define offset and seek"
)
_IDS = "; tuples with an id come at least once, as it may emit those that fail again"


def guarantees(topology: Topology, settings: Settings) -> list[str]:
    """For each spout of a topology without errors, in words, how often its tuples count.

    Args:
        topology: the topology.
        settings: its settings.
    """
    told = []
    with importable(topology.import_paths):
        for spout in topology.spouts:
            traits = known_traits(spout, component_conf(settings, topology, spout))
            told.append(f"spout {spout.id!r} {_guarantee(traits)}")
        told += _after_exceptions(topology, settings)
    return told


def _after_exceptions(topology: Topology, settings: Settings) -> Iterator[str]:
    """Describe the effect of an exception, if it depends on the library of a component's class."""
    ported: list[str] = []
    ours: list[str] = []
    for component in topology.components:
        cls = held_class(component)
        configured = component_conf(settings, topology, component)["viper.on.error"]
        if cls is not None and configured is None and getattr(cls, "exit_on_exception", True):
            (ported if is_ported(cls) else ours).append(repr(component.id))
    if ours and (ported or is_of_streamparse(topology)):
        restarted = f"restarts {', '.join(ported)} (of streamparse), as on Storm, and " if ported else ""
        yield (
            f"an exception {restarted}ends the run in {', '.join(ours)} (of viperstorm), where streamparse's "
            "class would be restarted: set viper.on.error to restart or stop to have the same of all"
        )


def _guarantee(traits: Traits) -> str:
    if traits.partitioned:
        return _PARTITIONED
    promised = _SEEKABLE if traits.seekable else _NEITHER
    return promised + _IDS if traits.hears_answers else promised


def check_answers(topology: Topology, confs: Confs, traits: Mapping[str, Traits]) -> Iterator[Problem]:
    """A warning for each spout whose tuples may come again to a bolt that remembers.

    Args:
        topology: one without errors.
        confs: each component's resolved configuration, by id.
        traits: from `known_traits`, by id.
    """
    for spout in topology.spouts:
        if not traits[spout.id].hears_answers or confs[spout.id]["topology.acker.executors"] == 0:
            continue
        remembering = [name for name in _behind(topology, spout) if traits[name].states]
        if remembering:
            message = (
                f"hears what becomes of its tuples (ack, fail), and {', '.join(map(repr, remembering))} "
                "behind it declares state: a tuple that fails and is emitted again counts there once more "
                "(at least once)"
            )
            yield about(topology, spout, message, warning=True)


def _behind(topology: Topology, spout: ComponentSpec) -> list[str]:
    """The bolts that tuples of a spout, or what comes of them, come to; in order of definition."""
    found = {spout.id}
    while True:
        more = {
            bolt.id
            for bolt in topology.bolts
            if bolt.id not in found
            and any(i.source in found and not i.source.startswith(SYSTEM_PREFIX) for i in bolt.inputs)
        }
        if not more:
            return [bolt.id for bolt in topology.bolts if bolt.id in found]
        found |= more
