"""The machine of a published evaluation, for plans that are compared with its own."""

from __future__ import annotations

from framework.optimizer.costs import Machine, Place

CORES_OF_SOCKET = 18
SOCKETS = 8
TRAY = 4
"""Sockets that are linked to each other directly, in a ring."""
MEMORY, NEXT, OPPOSITE, OTHER_TRAY, FARTHEST = 55.5e9, 13.98e9, 13.17e9, 6.58e9, 5.93e9
"""Bytes a second, of a socket's memory and by distance."""
NEXT_NS, OPPOSITE_NS, OTHER_TRAY_NS, FARTHEST_NS = 119.0, 170.0, 404.0, 478.0


def server_a(sockets: int = SOCKETS) -> Machine:
    """BriskStream's Server A (Zhang et al., SIGMOD 2019): sockets of 18 cores of 1.2 GHz, in two trays.

    A fetch takes what its authors measured beyond a fetch from the own socket, in the mean over the pairs of
    sockets of one distance: neighbours in the ring of a tray, the two that stand opposite each other there,
    and two kinds of pairs from tray to tray. Bandwidths are means of the same pairs.

    Args:
        sockets: how many of the eight are used, from the first one on.

    Raises:
        ValueError: there are not so many.
    """
    if not 1 <= sockets <= SOCKETS:
        raise ValueError(f"Server A has 1 to {SOCKETS} sockets, not {sockets}")
    fetch = tuple(tuple(_fetch_ns(one, other) for other in range(sockets)) for one in range(sockets))
    moved = tuple(tuple(_bandwidth(one, other) for other in range(sockets)) for one in range(sockets))
    places = (Place(CORES_OF_SOCKET),) * sockets
    return Machine(places, CORES_OF_SOCKET * sockets, fetch, bandwidth=moved)


def _fetch_ns(one: int, other: int) -> float:
    return (0.0, NEXT_NS, OPPOSITE_NS, OTHER_TRAY_NS, FARTHEST_NS)[_distance(one, other)]


def _bandwidth(one: int, other: int) -> float:
    return (MEMORY, NEXT, OPPOSITE, OTHER_TRAY, FARTHEST)[_distance(one, other)]


def _distance(one: int, other: int) -> int:
    """From 0, the socket itself, to 4, the other kind of pairs from tray to tray."""
    if one == other:
        return 0
    if one // TRAY == other // TRAY:
        return 2 if abs(one - other) == TRAY // 2 else 1
    halves = one % TRAY // 2, other % TRAY // 2
    return 3 if halves[0] == halves[1] else 4
