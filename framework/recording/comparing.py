"""Two recordings side by side: the first tuple in which a stream differs, and how many do."""

from __future__ import annotations

import copyreg
import enum
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FunctionType
from typing import Any

from framework.model.errors import RecordingError
from framework.recording.ancestry import Hop, line_of_descent
from framework.recording.header import Header
from framework.recording.reading import Recorded, Recording
from viper.position import END, Position

NAMESAKES = 2
"""Tuples that are shown of those that share one position, as their paths had no room left."""


class Kind(enum.StrEnum):
    """The kind of a difference between two streams."""

    MISSING_IN_A = "missing in A"
    MISSING_IN_B = "missing in B"
    VALUES = "other values"
    POSITION = "other position"


@dataclass(frozen=True, slots=True)
class Difference:
    """A tuple in which a stream of A differs from that of B."""

    component: str
    stream: str
    kind: Kind
    a: Recorded | None
    """The tuple of A; where A lacks it, the one that comes next instead. None at the end."""
    b: Recorded | None

    @property
    def position(self) -> Position:
        """The position of the difference: the smaller one of the two tuples'."""
        return min(_position(self.a), _position(self.b))


@dataclass(slots=True)
class StreamComparison:
    """The comparison of one stream of A with that of B."""

    component: str
    stream: str
    both: int = 0
    """Positions that both have."""
    only_a: int = 0
    only_b: int = 0
    other_values: int = 0
    """Of those that both have, how many hold other values."""
    first: Difference | None = None


@dataclass(frozen=True, slots=True)
class Ancestor:
    """One hop of a line of descent, with the tuples that both recordings have there."""

    hop: Hop
    a: tuple[Recorded, ...]
    b: tuple[Recorded, ...]

    @property
    def same(self) -> bool:
        """True if both recordings have the same values there."""
        return same([one.values for one in self.a], [other.values for other in self.b])


def check_comparable(a: Header, b: Header) -> None:
    """Check that positions mean the same in two recordings.

    Raises:
        RecordingError: they do not.
    """
    if a.time != b.time:
        raise RecordingError(f"A was recorded by {a.time} time, B by {b.time} time: set viper.time for one")
    in_b = {component.id: component.level for component in b.components}
    for component in a.components:
        if in_b.get(component.id, component.level) != component.level:
            raise RecordingError(
                f"A and B are of topologies of different shape: component {component.id!r} marks positions "
                f"by {component.level} in A, by {in_b[component.id]} in B; compare runs of one topology"
            )


def compare(a: Recording, b: Recording, component: str, stream: str) -> StreamComparison:
    """Compare one stream, all of it, in constant memory."""
    return compare_tuples(component, stream, a.tuples(component, stream), b.tuples(component, stream))


def compare_tuples(
    component: str, stream: str, ours: Iterator[Recorded], theirs: Iterator[Recorded]
) -> StreamComparison:
    """Compare two sequences of tuples in the order of their positions."""
    found = StreamComparison(component, stream)
    one, other = next(ours, None), next(theirs, None)
    while one is not None or other is not None:
        before = one, other
        at, other_at = _position(one), _position(other)
        if at <= other_at:
            one = next(ours, None)
        if other_at <= at:
            other = next(theirs, None)
        if _counted(found, *before) and found.first is None:
            found.first = Difference(component, stream, _kind(before, (one, other)), *before)
    return found


def first_difference(comparisons: list[StreamComparison]) -> Difference | None:
    """The one that comes first in the order of positions, so that it is nearest to its cause."""
    found = [comparison.first for comparison in comparisons if comparison.first is not None]
    return min(found, key=lambda difference: difference.position, default=None)


def ancestors(a: Recording, b: Recording, difference: Difference) -> Iterator[Ancestor]:
    """The ancestors of the first of the differing tuples, the spout's first."""
    for hop in line_of_descent(difference.position, difference.component, a.header)[:-1]:
        yield Ancestor(hop, _at(a, hop), _at(b, hop))


def _at(recording: Recording, hop: Hop) -> tuple[Recorded, ...]:
    if hop.component is None or recording.header.component(hop.component) is None:
        return ()
    return tuple(islice(recording.at(hop.component, hop.position), NAMESAKES))


def _counted(found: StreamComparison, a: Recorded | None, b: Recorded | None) -> bool:
    """Count a pair of tuples that come next; whether it is a difference."""
    if _position(a) < _position(b):
        found.only_a += 1
    elif _position(b) < _position(a):
        found.only_b += 1
    else:
        assert a is not None and b is not None
        found.both += 1
        differ = not same(a.values, b.values)
        found.other_values += differ
        return differ
    return True


def _kind(
    pair: tuple[Recorded | None, Recorded | None], following: tuple[Recorded | None, Recorded | None]
) -> Kind:
    a, b = pair
    if _position(a) == _position(b):
        return Kind.VALUES
    if a is not None and b is not None and same(a.values, b.values):
        # The same tuple elsewhere; unless its like follows, and it is the one before that is missing.
        a_is_first = a.position < b.position
        next_of_first = following[0] if a_is_first else following[1]
        if _position(next_of_first) != (b if a_is_first else a).position:
            return Kind.POSITION
    return Kind.MISSING_IN_B if _position(a) < _position(b) else Kind.MISSING_IN_A


def _position(recorded: Recorded | None) -> Position:
    return END if recorded is None else recorded.position


_REDUCE_PROTOCOL = 4
"""The highest at which objects of every kind still say what they consist of."""


def same(a: object, b: object) -> bool:
    """True if two values are of the same type and hold the same.

    Stricter than ``==``, as what is written from them would differ: 1 is not 1.0, nor 0.0 the
    same as -0.0. But NaN is the same as NaN, and objects are the same if they would be pickled
    alike, whether they define ``__eq__`` or not. The order of dicts and sets does not count.
    """
    return _Comparison().same(a, b)


class _Comparison:
    """One comparison, which ends although objects may refer to themselves."""

    def __init__(self) -> None:
        self._begun: set[tuple[int, int]] = set()

    def same(self, a: Any, b: Any) -> bool:
        if a is b or type(a) is not type(b):
            return a is b
        kind = type(a)
        if kind in (str, bytes, int):
            return bool(a == b)
        if kind is float:
            return _same_float(a, b)
        if (id(a), id(b)) in self._begun:
            return True
        self._begun.add((id(a), id(b)))
        try:
            return self._same_parts(kind, a, b)
        finally:
            # Other objects may get their ids once they are gone.
            self._begun.discard((id(a), id(b)))

    def _same_parts(self, kind: type, a: Any, b: Any) -> bool:
        if kind in (tuple, list):
            return self._same_items(a, b)
        if kind is dict:
            return self._same_mapping(a, b)
        if kind in (set, frozenset):
            return self._same_mapping(dict.fromkeys(a), dict.fromkeys(b))
        if issubclass(kind, type | FunctionType):  # carried by name, so they would be identical
            return False
        return self._same_items(_reduced(a), _reduced(b))

    def _same_items(self, a: Sequence[Any], b: Sequence[Any]) -> bool:
        return len(a) == len(b) and all(map(self.same, a, b))

    def _same_mapping(self, a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
        keys = {key: key for key in b}  # 1 finds 1.0, which is another key
        return len(a) == len(b) and all(
            key in keys and self.same(key, keys[key]) and self.same(value, b[key]) for key, value in a.items()
        )


def _same_float(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def _reduced(value: Any) -> Sequence[Any]:
    """The plain values that pickle would make an object of."""
    reduce = copyreg.dispatch_table.get(type(value))
    reduced: Any = reduce(value) if reduce else value.__reduce_ex__(_REDUCE_PROTOCOL)
    if isinstance(reduced, str):  # the name of a global
        return (reduced,)
    parts = [*reduced, None, None, None][:5]
    parts[3], parts[4] = list(parts[3] or ()), dict(parts[4] or ())  # iterators over items, over pairs
    return parts
