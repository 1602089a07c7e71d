"""Attributes of an instance itself, and where an instance keeps them."""

from __future__ import annotations

import gc
import sys
from functools import cached_property
from typing import Any

import pytest

from framework.runtime.tasks.hosts.host import own_attribute


class Plain:
    shared = 1

    def __init__(self) -> None:
        self.own = 2

    def method(self) -> int:
        return 3

    @property
    def raising(self) -> int:
        raise AssertionError("nobody asks a property")

    @cached_property
    def cached(self) -> int:
        return 4

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("nobody asks the class")


class Sub(Plain):
    pass


class Slotted:
    __slots__ = ("own",)


def test_an_attribute_of_the_instance_is_found() -> None:
    assert own_attribute(Sub(), "own") == 2


@pytest.mark.parametrize("name", ["shared", "method", "raising", "cached", "nowhere"])
def test_what_the_class_has_is_not(name: str) -> None:
    assert own_attribute(Sub(), name, "none") == "none"


def test_an_attribute_in_the_place_of_the_classes_is_found() -> None:
    one = Sub()
    one.method = one.shared = len  # type: ignore[assignment, method-assign]
    assert (own_attribute(one, "method"), own_attribute(one, "shared")) == (len, len)


def test_a_value_that_the_class_has_computed_for_the_instance_is_found() -> None:
    one = Sub()
    assert (one.cached, own_attribute(one, "cached")) == (4, 4)


def test_an_instance_without_attributes_has_none() -> None:
    assert own_attribute(Slotted(), "own") is None


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="vars leaves attributes where they are")
def test_asking_makes_no_dictionary() -> None:
    one = Sub()
    for name in ("own", "method", "shared", "nowhere"):
        own_attribute(one, name)
    assert not any(isinstance(found, dict) for found in gc.get_referents(one))
    vars(one)
    assert any(isinstance(found, dict) for found in gc.get_referents(one))
