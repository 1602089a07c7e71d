"""Errors that did not end a run, counted by the line of user code that has raised them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

MOST_SITES = 16
"""Lines that are counted one by one; what others raise is counted together."""
OTHERS = "elsewhere"
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class ErrorSite:
    """What one line has raised."""

    place: str
    """File, line and callback, as ``takings.py:31 in process``."""
    kind: str
    """The type of the exception that it raised last, as ``ValueError``."""
    message: str
    """Its message, shortened."""
    count: int
    last_s: float
    """When it did so last, in seconds since 1970."""

    def also(self, other: ErrorSite) -> ErrorSite:
        """Both together: the message is that of the later one."""
        later = max(self, other, key=lambda site: site.last_s)
        return replace(later, place=self.place, count=self.count + other.count)


Sites = Mapping[str, ErrorSite]
"""By place."""


def raised_once_more(sites: Sites, place: str, error: BaseException, now_s: float) -> Sites:
    """The same with one more error.

    Args:
        sites: those so far.
        place: where it was raised.
        error: what was raised.
        now_s: the seconds since 1970.
    """
    message = " ".join(str(error).split())[:_LONGEST_MESSAGE]
    return added_sites([sites, {place: ErrorSite(place, type(error).__name__, message, 1, now_s)}])


def added_sites(several: Iterable[Sites]) -> Sites:
    """All of several together; beyond `MOST_SITES`, further lines count as `OTHERS`."""
    total: dict[str, ErrorSite] = {}
    for sites in several:
        for place, site in sites.items():
            known = place if place in total or len(total) < MOST_SITES else OTHERS
            moved = replace(site, place=known)
            total[known] = total[known].also(moved) if known in total else moved
    return total
