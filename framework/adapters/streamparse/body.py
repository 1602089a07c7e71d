"""The specs in the body of a topology class: ours, streamparse's, or some of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from framework.adapters.streamparse.components import is_component, is_component_class, keep_streams_open
from framework.adapters.streamparse.specs import is_spec, spec_of
from framework.components.component import Component
from framework.declaration import written
from framework.specs import Spec


def specs_in(namespace: Mapping[str, object]) -> dict[str, Spec]:
    """The specs among the attributes of a class, each named.

    Raises:
        TypeError: a component itself is among them.
    """
    specs: dict[str, Spec] = {}
    for attribute, value in namespace.items():
        if is_component(value):
            keep_streams_open(value)
        if is_component(value) or isinstance(value, Component):
            raise TypeError(_instead(namespace, attribute, f"a {type(value).__name__}", type(value)))
        if isinstance(value, Spec):
            value.name = value.name or attribute
            specs[attribute] = value
        elif is_spec(value):
            specs[attribute] = spec_of(attribute, value)
    return specs


def refuse_classes(namespace: Mapping[str, object], specs: Iterable[Spec]) -> None:
    """Refuse a component's class that was meant to be a component.

    A class that a spec is made of may stand there too, as the variable of a loop does, and so may
    one that is defined there.

    Raises:
        TypeError: there is one.
    """
    used = {spec.component_cls for spec in specs}
    inside = f"{namespace.get('__qualname__')}."
    for attribute, value in namespace.items():
        if not isinstance(value, type) or value in used or value.__qualname__.startswith(inside):
            continue
        if issubclass(value, Component) or is_component_class(value):
            raise TypeError(_instead(namespace, attribute, f"the class {value.__name__}", value))


def _instead(namespace: Mapping[str, object], attribute: str, found: str, cls: type) -> str:
    name = written(attribute, str(namespace.get("__qualname__", "")).rpartition(".")[2])
    return f"{name!r} is {found}, expected a spec: did you mean {name} = {cls.__name__}.spec(...)?"
