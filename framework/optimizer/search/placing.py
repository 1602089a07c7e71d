"""Placement by branch and bound over the collocation of producers and consumers, as RLAS does it.

A node of the search is a placement of some units. Its bound is the model's value with all others next to
everything that they receive from, wherever that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from framework.optimizer.costs import Deployment
from framework.optimizer.search.parts import NOWHERE, Parts


@dataclass(frozen=True, slots=True)
class Heuristics:
    """The heuristics that make the search smaller; each can be switched off."""

    collocation: bool = True
    """Decide for pairs of a producer and a consumer whether they stand together, not for each one where."""
    best_fit: bool = True
    """Try only the best place for a consumer whose producers all have theirs; this may miss the optimum."""
    redundancy: bool = True
    """Of empty places that are alike, try one. Places are alike if they have as many cores, and fetch from
    the places in use in the same time and with the same bandwidth."""


ALL = Heuristics()


@dataclass(frozen=True, slots=True)
class _Node:
    places: tuple[int, ...]
    """By unit."""
    loads: tuple[float, ...]
    """By place."""
    total: float
    tasks: tuple[float, ...]
    """Nanoseconds of each part's heaviest task."""
    period: float
    moved: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """Bytes, as `Machine.moving` has them."""
    next_pair: int = 0
    apart: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Placed:
    """The best placement that was found."""

    deployment: Deployment
    nodes: int
    """Placements, whole or in part, that were examined."""
    complete: bool
    """True if the search came to its end, rather than to its limit."""


class Placing:
    """The search.

    Args:
        parts: what is to be placed.
        heuristics: which it uses.
        limit: nodes after which it gives what it has; it continues until it has something.
    """

    def __init__(self, parts: Parts, heuristics: Heuristics = ALL, limit: int = 2_000) -> None:
        self._parts = parts
        self._heuristics = heuristics
        self._limit = limit
        self._machine = parts.problem.machine
        self._unit_of = {part: number for number, unit in enumerate(parts.units) for part in unit}
        self._pairs = self._all_pairs()
        self._producers = self._all_producers()

    def best(self) -> Placed:
        """The best placement within the limit."""
        best: _Node | None = None
        live = [self._root()]
        nodes = 0
        while live and (best is None or nodes < self._limit):
            node = live.pop()
            nodes += 1
            if best is not None and node.period >= best.period * (1 - 1e-12):
                continue
            if NOWHERE not in node.places:
                best = node
                continue
            # The last one is looked at next: depth first, and the child of the best bound first.
            live += sorted(self._children(node), key=_worth, reverse=True)
        assert best is not None, "the branch in which all stand together is never cut"
        places = [best.places[self._unit_of[part]] for part in range(len(self._parts.parts))]
        return Placed(self._parts.deployment(places), nodes, complete=not live)

    def _root(self) -> _Node:
        parts = self._parts.parts
        total = sum(part.ns for part in parts)
        tasks = tuple(part.heaviest for part in parts)
        loads = (0.0,) * len(self._machine.places)
        period = max(total / self._machine.cores, *tasks)
        return _Node((NOWHERE,) * len(self._parts.units), loads, total, tasks, period)

    def _children(self, node: _Node) -> Iterator[_Node]:
        if self._heuristics.best_fit:
            for unit, place in enumerate(node.places):
                producers = self._producers[unit]
                if place == NOWHERE and producers and all(node.places[i] != NOWHERE for i in producers):
                    yield from self._best_fit(node, unit)
                    return
        if self._heuristics.collocation:
            for number in range(node.next_pair, len(self._pairs)):
                pair = self._pairs[number]
                if NOWHERE in (node.places[pair[0]], node.places[pair[1]]):
                    yield from self._decided(replace(node, next_pair=number + 1), pair)
                    return
        unit = node.places.index(NOWHERE)
        for place in self._places(node):
            if self._may(node, unit, place):
                yield self._with(node, unit, place)

    def _decided(self, node: _Node, pair: tuple[int, int]) -> Iterator[_Node]:
        """Both branches of a collocation decision, of which at least one has no place yet."""
        yield replace(node, apart=node.apart | {pair})
        one, other = pair
        known = max(node.places[one], node.places[other])
        for place in [known] if known != NOWHERE else self._places(node):
            joined = node
            for unit in pair:
                if joined.places[unit] == NOWHERE and self._may(joined, unit, place):
                    joined = self._with(joined, unit, place)
            if NOWHERE not in (joined.places[one], joined.places[other]):
                yield joined

    def _best_fit(self, node: _Node, unit: int) -> list[_Node]:
        """At the place of the best bound; among equal ones where it costs least, then at the fullest one."""
        allowed = (place for place in self._places(node) if self._may(node, unit, place))
        fits = [(self._with(node, unit, place), place) for place in allowed]
        fits.sort(key=lambda fit: (fit[0].period, fit[0].total, -node.loads[fit[1]], fit[1]))
        return [fit for fit, _ in fits[:1]]

    def _may(self, node: _Node, unit: int, place: int) -> bool:
        """True if nothing is placed there that the unit has been decided to be apart from."""
        others = (one if other == unit else other for one, other in node.apart if unit in (one, other))
        return all(node.places[other] != place for other in others)

    def _places(self, node: _Node) -> Iterator[int]:
        used = sorted({place for place in node.places if place != NOWHERE})
        fetch = self._machine.fetch
        seen = set()
        for place, of in enumerate(self._machine.places):
            ways = tuple(
                (fetch(each, place, 1), fetch(place, each, 1), *self._bandwidths(each, place))
                for each in used
            )
            kind = of, self._bandwidths(place, place), ways
            if place not in used and self._heuristics.redundancy:
                if kind in seen:
                    continue
                seen.add(kind)
            yield place

    def _with(self, node: _Node, unit: int, place: int) -> _Node:
        """The node with one more unit that has a place."""
        places = [*node.places[:unit], place, *node.places[unit + 1 :]]
        loads, tasks = list(node.loads), list(node.tasks)
        moved = dict(node.moved)
        total = node.total
        for part in self._parts.units[unit]:
            loads[place] += self._parts.parts[part].ns
            moved[place, place] = moved.get((place, place), 0.0) + self._parts.parts[part].memory
            for way in self._parts.at[part]:
                source, target = places[self._unit_of[way.source]], places[self._unit_of[way.target]]
                if NOWHERE in (source, target) or source == target:
                    continue
                moved[source, target] = moved.get((source, target), 0.0) + way.number * way.size
                fetch = self._machine.fetch(source, target, way.size) + way.decode_ns
                for end, at, each in ((way.source, source, way.encode_ns), (way.target, target, fetch)):
                    loads[at] += way.number * each
                    total += way.number * each
                    tasks[end] += way.number * each / len(self._parts.parts[end].tasks)
        cores = (load / of.cores for load, of in zip(loads, self._machine.places, strict=True))
        moving = (ns for ns, _ in self._machine.moving(moved))
        period = max(total / self._machine.cores, *cores, *tasks, *moving)
        return _Node(
            tuple(places), tuple(loads), total, tuple(tasks), period, moved, node.next_pair, node.apart
        )

    def _bandwidths(self, one: int, other: int) -> tuple[float, ...]:
        of = self._machine.bandwidth
        return (of[one][other], of[other][one]) if of else ()

    def _all_pairs(self) -> tuple[tuple[int, int], ...]:
        pairs = ((self._unit_of[way.source], self._unit_of[way.target]) for way in self._parts.ways)
        return tuple(sorted({pair for pair in pairs if pair[0] != pair[1]}))

    def _all_producers(self) -> tuple[frozenset[int], ...]:
        found: list[set[int]] = [set() for _ in self._parts.units]
        for source, target in self._pairs:
            found[target].add(source)
        return tuple(map(frozenset, found))


def _worth(node: _Node) -> tuple[float, float, int]:
    return node.period, node.total, node.places.count(NOWHERE)
