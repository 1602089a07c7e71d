"""How a spec is made of what a user says, and what a user may say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.declaration.given import outputs_of
from framework.declaration.inputs import subscriptions
from framework.declaration.spec import Par, Spec
from framework.topology import Implementation, PythonImplementation, Role, declared_streams


def make_spec(
    cls: type,
    role: Role,
    implementation: Implementation,
    name: str | None,
    inputs: object,
    par: Par | None,
    config: object,
    outputs: object = None,
) -> Spec:
    """A spec of any kind, its arguments checked; None stands for the attribute of the class."""
    return Spec(
        cls,
        role,
        implementation,
        name,
        subscriptions(inputs),
        checked_par(getattr(cls, "par", 1) if par is None else par),
        checked_config(getattr(cls, "config", None) if config is None else config),
        declared_streams(_declared(cls, implementation) if outputs is None else outputs),
    )


def _declared(cls: type, implementation: Implementation) -> object:
    if isinstance(implementation, PythonImplementation):
        return outputs_of(implementation.definition)
    return getattr(cls, "outputs", None)


def checked_par(par: object) -> Par:
    """An int or a mapping of environment to int; its range is left to validation.

    Raises:
        TypeError: anything else.
    """
    entries = par.items() if isinstance(par, Mapping) else [("", par)]
    if not entries or not all(isinstance(key, str) and isinstance(value, int) for key, value in entries):
        raise TypeError(f"par must be an int >= 1, or a dict of environment name to int, found {par!r}")
    return par  # type: ignore[return-value]


def checked_config(config: object) -> dict[str, Any]:
    """A component's or topology's configuration, copied.

    Raises:
        TypeError: neither None nor a mapping with str keys.
    """
    if config is None:
        return {}
    if not isinstance(config, Mapping) or not all(isinstance(key, str) for key in config):
        raise TypeError(f"config must be a dict with str keys, or None, found {config!r}")
    return dict(config)
