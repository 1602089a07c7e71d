"""Python components as parts of a topology."""

from __future__ import annotations

from framework.declaration import Par, Spec, make_spec, python_implementation
from framework.topology import Role


def bolt_spec(
    cls: type, name: str | None = None, inputs: object = None, par: Par | None = None, config: object = None
) -> Spec:
    """A bolt class as a part of a topology; its ``outputs``, ``par`` and ``config`` are the defaults.

    Raises:
        TypeError: an argument or class attribute of the wrong type.
        KeyError: an input from a stream that its spec does not declare.
    """
    return make_spec(cls, Role.BOLT, python_implementation(cls), name, inputs, par, config)


def spout_spec(cls: type, name: str | None = None, par: Par | None = None, config: object = None) -> Spec:
    """A spout class as a part of a topology; otherwise as `bolt_spec`."""
    return make_spec(cls, Role.SPOUT, python_implementation(cls), name, None, par, config)
