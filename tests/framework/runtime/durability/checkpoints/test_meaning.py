"""Two versions of code that mean something else have other digests, whatever they keep their meaning in."""

from __future__ import annotations

import datetime
import functools
import re
import sys
import types
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from framework.runtime.durability.checkpoints.meaning import digest_of, plain


class Scale:
    """An object that code belongs to."""

    def __init__(self, by: int) -> None:
        self.by = by

    def go(self, value: int) -> int:
        return value * self.by


def reading(value: Any, name: str = "LIMITS") -> Callable[[], Any]:
    """A function that reads a global with a value."""
    module = types.ModuleType("project_of_a_user")
    sys.modules.setdefault(module.__name__, module)
    source = f"def read(): return {name}"
    names: dict[str, Any] = {"__name__": module.__name__, name: value}
    exec(source, names)
    found: Callable[[], Any] = names["read"]
    return found


def cached(factor: int) -> Any:
    return functools.cache(lambda value: value * factor)


def dispatched(factor: int) -> Any:
    @functools.singledispatch
    def choose(value: object) -> object:
        return value

    choose.register(int, lambda value: value * factor)
    return choose


def described(factor: int) -> type:
    return type("Described", (), {"price": functools.cached_property(lambda self: factor)})


LONG = "a|" * 200
PAIRS: dict[str, tuple[Any, Any]] = {
    "a method of an object": (Scale(2).go, Scale(9).go),
    "a method of a dictionary": ({"a": 1}.get, {"a": 2}.get),
    "a method of a pattern": (re.compile("a").match, re.compile("b").match),
    "a method of a text": (",".join, ";".join),
    "a pattern that differs at its end": (re.compile(LONG + "x"), re.compile(LONG + "y")),
    "a function of NumPy": (np.maximum, np.minimum),
    "a property that is computed once": (described(2), described(9)),
    "a cached function": (cached(2), cached(9)),
    "a function chosen by class": (dispatched(2), dispatched(9)),
    "any number of arguments": (lambda *values: values, lambda values: values),
    **{
        f"a constant that is a {type(one).__name__}": (reading(one), reading(other))
        for one, other in [
            ((10, 20), (10, 30)),
            ([10, 20], [10, 30]),
            ({"a": 1}, {"a": 2}),
            (frozenset("ab"), frozenset("ac")),
            (Decimal("1.1"), Decimal("1.2")),
            (datetime.timedelta(1), datetime.timedelta(2)),
            (re.compile("a"), re.compile("b")),
            (np.array([1, 2]), np.array([1, 3])),
            (functools.partial(max, 1), functools.partial(max, 2)),
            (Scale(2), Scale(9)),
            (cached(2), cached(9)),
            (np.maximum, np.minimum),
        ]
    },
}


@pytest.mark.parametrize("what", PAIRS)
def test_another_meaning_has_another_digest(what: str) -> None:
    one, other = PAIRS[what]
    assert digest_of(one) == digest_of(one) != ""
    assert digest_of(one) != digest_of(other)
    assert plain(one) == plain(one) != plain(other)


def test_what_a_program_may_change_is_no_constant() -> None:
    """A list that a program collects in would differ in each run, without a change of the code."""
    assert digest_of(reading([1], "seen")) == digest_of(reading([2], "seen"))
    assert digest_of(reading((1,), "seen")) != digest_of(reading((2,), "seen"))
