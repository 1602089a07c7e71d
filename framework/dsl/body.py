"""The specs in the body of a topology class."""

from __future__ import annotations

from collections.abc import Mapping

from framework.adapters import streamparse
from framework.components.component import Component
from framework.declaration import Spec


def specs_in(namespace: Mapping[str, object]) -> dict[str, Spec]:
    """The specs among the attributes of a class, each named.

    Raises:
        TypeError: a component itself is among them.
    """
    specs: dict[str, Spec] = {}
    for attribute, value in namespace.items():
        if streamparse.is_component(value):
            streamparse.keep_streams_open(value)
        if isinstance(value, Component) or streamparse.is_component(value):
            raise TypeError(
                f"{attribute!r} is a {type(value).__name__}, expected a spec: "
                f"did you mean {attribute} = {type(value).__name__}.spec(...)?"
            )
        if isinstance(value, Spec):
            value.name = value.name or attribute
            specs[attribute] = value
        elif streamparse.is_spec(value):
            specs[attribute] = streamparse.spec_of(attribute, value)
    return specs
