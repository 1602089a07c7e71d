"""Problems of a topology as values, and the sentences that they are reported in."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from framework.model.topology.model import ComponentSpec, Topology
from framework.model.topology.places import Place


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it is, and what would be right."""

    place: Place
    message: str
    """It names what was found, what was expected and the nearest valid name."""
    warning: bool = False
    """True if the topology can run all the same."""

    @property
    def sort_key(self) -> tuple[str, int, str, str]:
        """Problems are shown in the order of the file."""
        return (self.place.file, self.place.line, self.place.attribute, self.message)

    def __str__(self) -> str:
        severity = "warning: " if self.warning else ""
        return f"{self.place}: {severity}{self.message}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """As much of a topology as could be made of its source, and what is wrong with the source."""

    topology: Topology | None
    problems: tuple[Problem, ...]


def about(
    topology: Topology,
    component: ComponentSpec,
    message: str,
    *,
    part: str | None = None,
    warning: bool = False,
) -> Problem:
    """``bolt 'count' has no inputs``, at the place of the component or of a part of it.

    Args:
        topology: knows the places.
        component: what the problem is about.
        message: follows ``bolt 'count'``.
        part: ``"inputs"``, ``"parallelism"`` and so on.
        warning: whether the topology runs all the same.
    """
    place = topology.sources.at("components", component.id, *([part] if part else []))
    return Problem(place, f"{component.role} {component.id!r} {message}", warning)


def unknown(what: str, found: object, allowed: Iterable[str]) -> str:
    """``unknown stream 'wrods': expected 'words' or 'lines'; did you mean 'words'?``"""
    names = sorted(set(allowed))
    return f"unknown {what} {found!r}: expected {one_of(names)}{did_you_mean(found, names)}"


def one_of(names: Iterable[str], limit: int = 12) -> str:
    """``'a', 'b' or 'c'``; a long list is shortened, an empty one is ``nothing``."""
    quoted = [repr(name) for name in names]
    if not quoted:
        return "nothing (there are none)"
    if len(quoted) > limit:
        return ", ".join(quoted[:limit]) + f" or {len(quoted) - limit} others"
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def did_you_mean(found: object, names: Iterable[str]) -> str:
    """``; did you mean 'words'?`` where a valid name is near, else nothing."""
    near = difflib.get_close_matches(str(found), list(names), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
