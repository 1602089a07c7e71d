"""The component that a run has to wait for, and what helps; tables and the web view say it in these words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.observing.rates import ComponentRates
from framework.observing.snapshot import RunSnapshot

FROM_CAPACITY: Final = 0.9
"""The capacity from which on a component is named: it has hardly any time left."""
_MOSTLY: Final = 0.5
"""The share of its time in turns from which on a component is said to wait."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The component with the largest capacity, where that is near 1."""

    component: str
    role: str
    """``spout`` or ``bolt``."""
    capacity: float
    waits: bool
    """Whether it waits for most of that time, and does not compute."""

    @property
    def told(self) -> str:
        """What holds the run, and what to do, in words."""
        name = f"{self.role} {self.component}"
        limit = f"{name} is at its limit, in its code for {self.capacity:.0%} of the time"
        if self.waits:
            return f"{limit}, waiting, not computing: more tasks in more workers help, more cores do not"
        if self.role == "spout":
            return f"{limit}, computing: more tasks help, if they can share its input, on more cores"
        return f"{limit}, computing: more tasks help, in more workers on more cores"


def bottleneck(snapshot: RunSnapshot, rates: Mapping[str, ComponentRates]) -> Bottleneck | None:
    """The component that a run has to wait for; None if there is none.

    A spout that waits for its data is none, however long it does: its capacity is what it computes.

    Args:
        snapshot: of the run.
        rates: of its components, by id.
    """
    known = [(each, rates[each.id]) for each in snapshot.components if each.id in rates]
    component, found = max(known, key=lambda one: one[1].capacity, default=(None, None))
    if component is None or found is None or found.capacity < FROM_CAPACITY:
        return None
    in_turns = found.busy + found.waiting
    waits = component.role == "bolt" and found.waiting > _MOSTLY * in_turns
    return Bottleneck(component.id, component.role, found.capacity, waits)
