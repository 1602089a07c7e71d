"""streamparse's components themselves, where a spec was meant."""

from __future__ import annotations

import sys
from typing import Any

_kept: list[object] = []


def is_component(value: object) -> bool:
    """Whether a value is an instance of a streamparse component."""
    pystorm = sys.modules.get("pystorm.component")
    return pystorm is not None and isinstance(value, pystorm.Component)


def is_component_class(cls: type) -> bool:
    """Whether a class is one of a streamparse component."""
    pystorm = sys.modules.get("pystorm.component")
    return pystorm is not None and issubclass(cls, pystorm.Component)


def keep_streams_open(component: Any) -> None:
    """Keep a component that was made by mistake from closing stdin and stdout.

    Its constructor wraps them for talking to Storm, and such a wrapper closes what it wraps
    when it is collected. So it never is.
    """
    _kept.append(component.serializer)
