"""What all parts of one load share: where code is imported from, and what has been found so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from framework.topology import Bean, Path, Place, Problem


@dataclass(frozen=True, slots=True)
class Reference:
    """A ``ref`` to a bean, or a member of a ``reflist``."""

    bean_id: str
    place: Place


@dataclass(slots=True)
class Reading:
    """One load of a file with its includes."""

    import_paths: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    places: dict[Path, Place] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    """Every reference to a bean, in the order of reading."""
    beans: tuple[Bean, ...] = ()
    """The shared objects, which are read before the components."""

    def report(self, place: Place, message: str, warning: bool = False) -> None:
        """Add a problem; reading goes on."""
        self.problems.append(Problem(place, message, warning))
