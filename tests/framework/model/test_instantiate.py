"""Objects are made of their definitions; what cannot be made is named."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from framework.model.errors import LoadError
from framework.model.instantiate import Beans
from framework.model.topology import Bean, ConfigMethod, ObjectDef, Property, Ref, RefList, class_path


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Thing:
    size: int

    def __init__(self, *parts: Any, colour: Colour | None = None, label: Colour | str = "") -> None:
        self.parts = parts
        self.colour = colour
        self.label = label
        self.calls: list[Any] = []

    @classmethod
    def doubled(cls, part: Any) -> Thing:
        return cls(part, part)

    def setName(self, name: str) -> None:
        self.calls.append(("name", name))

    def set_colour(self, colour: Colour) -> None:
        self.colour = colour

    def call(self, value: Any, colour: Colour = Colour.RED) -> None:
        self.calls.append((value, colour))

    @property
    def unready(self) -> str:
        raise RuntimeError("not before initialize")

    def explode(self) -> None:
        raise ValueError("boom")


def thing(*args: Any, **options: Any) -> ObjectDef:
    return ObjectDef(class_path(Thing), args, cls=Thing, **options)


def test_arguments_properties_and_methods_are_applied_in_order() -> None:
    made = Beans(()).make(
        thing(
            1,
            "two",
            kwargs={"colour": "GREEN"},
            properties=(Property("name", "n"), Property("size", 3)),
            config_methods=(ConfigMethod("call", ("x", "GREEN")), ConfigMethod("call", ("y",))),
        )
    )
    assert (made.parts, made.colour, made.size) == ((1, "two"), Colour.GREEN, 3)
    assert made.calls == [("name", "n"), ("x", Colour.GREEN), ("y", Colour.RED)]


def test_a_factory_makes_the_object_and_properties_follow() -> None:
    definition = thing(factory="doubled", factory_args=("a",), properties=(Property("colour", "RED"),))
    made = Beans(()).make(definition)
    assert (made.parts, made.colour) == (("a", "a"), Colour.RED)


def test_text_stays_text_where_the_parameter_takes_text_as_well() -> None:
    assert Beans(()).make(thing(kwargs={"label": "RED"})).label == "RED"


def test_a_class_is_imported_by_its_name_where_it_is_not_held() -> None:
    assert Beans(()).make(ObjectDef("fractions.Fraction", (1, 3))) * 3 == 1


def test_beans_are_made_once_and_only_if_needed() -> None:
    beans = Beans(
        [
            Bean("shared", thing("s")),
            Bean("user", thing(Ref("shared"), RefList(("shared", "shared")))),
            Bean("never", thing(config_methods=(ConfigMethod("explode"),))),
        ]
    )
    user = beans.bean("user")
    assert user.parts[0] is user.parts[1][0] is user.parts[1][1] is beans.bean("shared")
    assert beans.make(thing(Ref("user"))).parts == (user,)


def test_arguments_are_copied_for_each_object() -> None:
    beans, definition = Beans(()), thing([1])
    first, second = beans.make(definition), beans.make(definition)
    first.parts[0].append(2)
    assert second.parts == ([1],)
    assert definition.args == ([1],)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (ObjectDef("no.such.Thing"), "'no.such.Thing': no module 'no' in "),
        (
            thing(kwargs={"color": "RED"}),
            "got an unexpected keyword argument 'color'; expected (*parts, colour=None",
        ),
        (
            thing(kwargs={"colour": "REDD"}),
            "argument 'colour' is 'REDD', expected 'RED' or 'GREEN'; did you mean",
        ),
        (thing(factory="doubledd"), "Thing has no method 'doubledd'; did you mean 'doubled'?"),
        (thing(factory="doubled"), "Thing.doubled: missing a required argument: 'part'; expected (part)"),
        (thing(properties=(Property("sise", 1),)), "unknown property of Thing 'sise': expected "),
        (thing(properties=(Property("sise", 1),)), "did you mean 'size'?"),
        (
            thing(properties=(Property("colour", "RE"),)),
            "Thing.set_colour: argument 'colour' is 'RE', expected",
        ),
        (thing(config_methods=(ConfigMethod("cal"),)), "Thing has no method 'cal'; did you mean 'call'?"),
        (thing(config_methods=(ConfigMethod("explode"),)), "Thing.explode raised ValueError: boom"),
        (thing(Ref("nobody")), "unknown component 'nobody': expected 'a' or 'b'"),
        (
            thing(Ref("a")),
            "component 'a': component 'b': components need each other in a circle: a -> b -> a",
        ),
    ],
)
def test_what_cannot_be_made_is_named(definition: ObjectDef, expected: str) -> None:
    beans = Beans([Bean("a", thing(Ref("b"))), Bean("b", thing(Ref("a")))])
    with pytest.raises(LoadError) as raised:
        beans.make(definition)
    assert expected in str(raised.value)
