"""The component that a run has to wait for, and what helps; tables and the web view say it in these words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from framework.runtime.observation.rates import ComponentRates
from framework.runtime.observation.snapshot import ComponentSnapshot, RunSnapshot

FROM_CAPACITY: Final = 0.9
"""The capacity from which on a component is named: it has hardly any time left."""
_MOSTLY: Final = 0.5
"""The share of its time in turns from which on a component is said to wait."""
_FROM_BLOCKED: Final = 0.9
"""The share of its time from which on a spout is said to be held by what comes behind it."""
_FULL: Final = 0.9
"""The fill of an input from which on it is taken for full: it is seen at one moment, when a slice may just
have been taken from it."""
_FROM_HOLDING: Final = 0.5
"""The capacity from which on a bolt with a full input is named, if it holds a spout."""
_HARDLY: Final = 0.1
"""The share of its time for which the bolt that holds the others may be blocked itself."""

_Known = tuple[ComponentSnapshot, ComponentRates]


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The component with the largest capacity, where that is near 1, or where a spout is blocked by it."""

    component: str
    role: str
    """``spout`` or ``bolt``."""
    capacity: float
    waits: bool
    """Whether it waits for most of that time, and does not compute."""
    blocked: str = ""
    """A spout that is blocked nearly all the time, where the capacity alone would not name the component."""

    @property
    def told(self) -> str:
        """What holds the run, and what to do, in words."""
        name = f"{self.role} {self.component}"
        limit = f"{name} is at its limit, in its code for {self.capacity:.0%} of the time"
        if self.blocked:
            held = f"its input is full, and spout {self.blocked} is blocked"
            limit = f"{name} holds the run: {held}; it is in its code for {self.capacity:.0%} of the time"
        if self.waits:
            return f"{limit}, waiting, not computing: more tasks in more workers help, more cores do not"
        if self.role == "spout":
            return f"{limit}, computing: more tasks help, if they can share its input, on more cores"
        return f"{limit}, computing: more tasks help, in more workers on more cores"


def bottleneck(snapshot: RunSnapshot, rates: Mapping[str, ComponentRates]) -> Bottleneck | None:
    """The component that a run has to wait for; None if there is none.

    A spout that waits for its data is none, however long it does: its capacity is what it computes. Where no
    capacity is near 1, and a spout is blocked nearly all the time, it is the bolt with the largest capacity,
    if its input is full, it is hardly blocked, and it is in its code for half of the time at least.

    Args:
        snapshot: of the run.
        rates: of its components, by id.
    """
    known = [(each, rates[each.id]) for each in snapshot.components if each.id in rates]
    component, found = max(known, key=lambda one: one[1].capacity, default=(None, None))
    blocked = ""
    if found is not None and found.capacity < FROM_CAPACITY:
        component, found, blocked = _holding(known)
    if component is None or found is None:
        return None
    in_turns = found.busy + found.waiting
    waits = component.role == "bolt" and found.waiting > _MOSTLY * in_turns
    return Bottleneck(component.id, component.role, found.capacity, waits, blocked)


def _holding(known: Sequence[_Known]) -> tuple[ComponentSnapshot | None, ComponentRates | None, str]:
    """The bolt before which all others wait, and the spout that is blocked the most; None without one.

    Its input is full, it has room for what it emits, and no other bolt has less time left.
    """
    spouts = [one for one in known if one[0].role == "spout" and one[1].blocked >= _FROM_BLOCKED]
    bolts = [one for one in known if one[0].role == "bolt"]
    if not spouts or not bolts:
        return None, None, ""
    component, found = max(bolts, key=lambda one: one[1].capacity)
    if component.fill < _FULL or found.capacity < _FROM_HOLDING or found.blocked > _HARDLY:
        return None, None, ""
    return component, found, max(spouts, key=lambda one: one[1].blocked)[0].id
