"""Checks of configuration: whether a key is known, and whether it accepts a value."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from framework.model.config.keys import KEYS
from framework.model.config.settings import Entry, Layer
from framework.model.config.storm_keys import STORM_WITHOUT_EFFECT
from framework.model.topology.problems import Problem

KNOWN = (*KEYS, *sorted(STORM_WITHOUT_EFFECT))
"""The name of every known key."""

_OURS = ("viper", "pystorm")
"""The part before the first dot of keys that nobody else may define."""

_STORMS = "topology"
"""The part before the first dot of Storm's keys; some versions and plugins have keys of their own."""

_NEAR = 0.9
"""The least likeness of a user's own key to a known one that makes it look like a slip of the pen."""


def check_layer(layer: Layer) -> list[Problem]:
    """The problems of values that hold for the whole topology."""
    return _found(_check(key, entry) for key, entry in layer.items())


def check_component(component_id: str, layer: Layer) -> list[Problem]:
    """The problems of a component's own config."""
    return _found(_check_in_component(component_id, key, entry) for key, entry in layer.items())


def usable(key: str, value: Any) -> bool:
    """True if a value may be taken: the key is known and allows it, or it is Storm's or the user's."""
    return _complaint(key, value) is None


def _found(problems: Iterable[Problem | None]) -> list[Problem]:
    return [problem for problem in problems if problem is not None]


def _check(key: str, entry: Entry) -> Problem | None:
    complaint = _complaint(key, entry.value)
    if complaint is not None:
        return Problem(entry.place, complaint)
    doubt = _doubt(key)
    return Problem(entry.place, doubt, warning=True) if doubt is not None else None


def _check_in_component(component_id: str, key: str, entry: Entry) -> Problem | None:
    known = KEYS.get(key)
    if known is not None and not known.per_component:
        message = f"component {component_id!r}: {key} has no effect here: set it in the topology's config"
        return Problem(entry.place, message, warning=True)
    problem = _check(key, entry)
    if problem is None:
        return None
    return Problem(problem.place, f"component {component_id!r}: {problem.message}", problem.warning)


def _complaint(key: Any, value: Any) -> str | None:
    if not isinstance(key, str):
        return f"configuration key {key!r} is no text: expected a name such as 'topology.workers'"
    known = KEYS.get(key)
    if known is not None:
        complaint = known.rule.complaint(value)
        return f"{key} {complaint}" if complaint else None
    if key in (*_OURS, _STORMS) and isinstance(value, dict):
        return f"configuration keys are flat: write '{key}.{next(iter(value), '...')}: ...' without nesting"
    if key.partition(".")[0] in _OURS and "." in key:
        return f"unknown configuration key {key!r}{_nearest(key)}"
    return None


def _nearest(key: str) -> str:
    # What all names of a family have in common says nothing of how alike they are.
    family, _, rest = key.partition(".")
    names = {name.removeprefix(f"{family}."): name for name in KNOWN if name.startswith(f"{family}.")}
    near = difflib.get_close_matches(rest, names, n=1)
    return f"; did you mean {names[near[0]]!r}?" if near else ": `viper config show` lists all keys"


def _doubt(key: str) -> str | None:
    """A warning of a key that only components see: it may be a known one, mistyped."""
    if key in KNOWN:
        return None
    unseen = f"configuration key {key!r} is unknown here, only components see it"
    if key.startswith(f"{_STORMS}."):
        return unseen + _nearest(key)
    near = difflib.get_close_matches(key.lower().replace("_", "."), KNOWN, n=1, cutoff=_NEAR)
    return f"{unseen}; did you mean {near[0]!r}?" if near else None
