"""What stands for a component in Python: its class, or an instance, which stands for its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping

from framework.components import Component
from framework.instantiate import Beans
from framework.topology import Argument, Bean, ObjectDef


def recipe_of(component: type | Component) -> tuple[type, tuple[Argument, ...], Mapping[str, Argument]]:
    """The class of a component, and what its constructor is given, by position and by name."""
    if isinstance(component, type):
        return component, (), {}
    return type(component), *component._arguments


def outputs_of(definition: ObjectDef, beans: Iterable[Bean] = ()) -> object:
    """What a component declares in ``outputs``; where that depends on its arguments, it is made for once.

    Args:
        definition: the component, with its class.
        beans: the objects that its arguments may refer to.

    Raises:
        LoadError: it cannot be made.
        ViperError: what it is given is refused.
    """
    declared = inspect.getattr_static(definition.cls, "outputs", None)
    if isinstance(declared, property):
        return Beans(beans).make(definition).outputs
    return getattr(definition.cls, "outputs", None)
