"""Whether two recorded values are exactly the same."""

from __future__ import annotations

import copyreg
import math
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

_REDUCE_PROTOCOL = 4
"""The highest at which objects of every kind still say what they consist of."""


def same(a: object, b: object) -> bool:
    """Whether two values are of the same type and hold the same.

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
