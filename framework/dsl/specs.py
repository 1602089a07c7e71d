"""Python components as parts of a topology."""

from __future__ import annotations

from framework.components import Component
from framework.declaration import Par, Spec, make_spec, python_implementation, recipe_of
from framework.topology import Role


def bolt_spec(
    component: type | Component,
    name: str | None = None,
    inputs: object = None,
    par: Par | None = None,
    config: object = None,
) -> Spec:
    """A bolt as a part of a topology; its ``outputs``, ``par`` and ``config`` are the defaults.

    Args:
        component: its class, or an instance, which stands for its constructor's arguments: plain values.
        name: its id; by default that of the attribute.
        inputs: the streams that it subscribes to.
        par: its parallelism, also per environment.
        config: its own configuration.

    Raises:
        TypeError: an argument or class attribute of the wrong type.
        KeyError: an input from a stream that its spec does not declare.
    """
    cls, args, kwargs = recipe_of(component)
    return make_spec(cls, Role.BOLT, python_implementation(cls, args, kwargs), name, inputs, par, config)


def spout_spec(
    component: type | Component, name: str | None = None, par: Par | None = None, config: object = None
) -> Spec:
    """A spout as a part of a topology; otherwise as `bolt_spec`."""
    cls, args, kwargs = recipe_of(component)
    return make_spec(cls, Role.SPOUT, python_implementation(cls, args, kwargs), name, None, par, config)
