"""Shares of a plan for a period: places are filled, one component after the other, where it costs least."""

from __future__ import annotations

from collections.abc import Mapping

from framework.optimizer.search.shares import Share, Shares

ROUND = 1e-12


def filled(model: Shares, period: float, first: int, order: tuple[str, ...]) -> dict[str, Share] | None:
    """Shares with which no place has more than its cores can do in a period, or None where it finds none.

    Args:
        model: of the topology.
        period: nanoseconds for each tuple of a spout.
        first: index of the place that is filled first.
        order: of the components, each after those that it receives from.
    """
    machine = model.problem.machine
    room = [place.cores * period for place in machine.places]
    shares: dict[str, Share] = {}
    homes: dict[frozenset[str], int] = {}
    for name in order:
        costs = model.cost(name, shares)
        together = next((names for names in model.problem.together if name in names), None)
        near = sorted(range(len(room)), key=lambda place: (costs[place], (place - first) % len(room)))
        if together is not None:
            near = [homes.setdefault(together, near[0])]
        share = _into(costs, near, room)
        if share is None:
            return None
        shares[name] = share
    return shares


def _into(costs: list[float], near: list[int], room: list[float]) -> list[float] | None:
    share = [0.0] * len(room)
    left = 1.0
    for place in near:
        part = left if costs[place] <= 0 else min(left, max(room[place], 0.0) / costs[place])
        share[place] = part
        room[place] -= part * costs[place]
        left -= part
        if left <= ROUND:
            return share
    return None


def rounded(shares: Mapping[str, Share], counts: Mapping[str, int]) -> dict[str, list[int]]:
    """Round the shares of each component to whole numbers of tasks by place, as near as can be.

    Args:
        shares: of each component.
        counts: how many tasks each has.
    """
    found = {}
    for name, share in shares.items():
        exact = [part * counts[name] for part in share]
        whole = [int(part + ROUND) for part in exact]
        order = sorted(range(len(exact)), key=lambda place: whole[place] - exact[place])
        for place in order[: counts[name] - sum(whole)]:
            whole[place] += 1
        found[name] = whole
    return found
