"""Whether bolts may emit beside their input, at a time of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.planning.plan import Subscription
from framework.planning.time_mode import TimeMode
from framework.topology import ComponentSpec, PythonImplementation, Topology
from framework.traits import batches_by_timer, class_of


def emits_beside_input(
    topology: Topology,
    confs: Mapping[str, Mapping[str, Any]],
    time: TimeMode,
    subscriptions: Sequence[Subscription],
) -> bool:
    """Whether a bolt may emit when the wall clock says so, or what comes back to it through a cycle.

    What it emits then stands behind all that has come, where the sources have not got to yet. So whoever
    merges the two waits for the sources, even if these wait for the answer to just that
    (``topology.max.spout.pending``).
    """
    if any(subscription.cyclic for subscription in subscriptions):
        return True
    by_clock = time is not TimeMode.EVENT
    return any(
        (by_clock and confs[bolt.id]["topology.tick.tuple.freq.secs"]) or _has_timer(bolt)
        for bolt in topology.bolts
    )


def _has_timer(bolt: ComponentSpec) -> bool:
    return isinstance(bolt.implementation, PythonImplementation) and batches_by_timer(class_of(bolt))
