"""The specs in the body of a topology class: ours, streamparse's, or some of both."""

from __future__ import annotations

from collections.abc import Mapping

from framework.adapters.streamparse.components import is_component, keep_streams_open
from framework.adapters.streamparse.specs import is_spec, spec_of
from framework.components.component import Component
from framework.declaration import Spec


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
            raise TypeError(
                f"{attribute!r} is a {type(value).__name__}, expected a spec: "
                f"did you mean {attribute} = {type(value).__name__}.spec(...)?"
            )
        if isinstance(value, Spec):
            value.name = value.name or attribute
            specs[attribute] = value
        elif is_spec(value):
            specs[attribute] = spec_of(attribute, value)
    return specs
