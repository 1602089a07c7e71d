"""Values cross an edge by value: what a component emits is what arrives.

Exactly immutable values are handed over by reference. Anything else is copied as it is emitted, through
pickle, so that a value that could not reach another process is refused here too, at the emit that sent it.
"""

from __future__ import annotations

from typing import Any

from framework.errors import EmitError
from viper.values import copy_of


def snapshot(value: Any) -> Any:
    """A value that nobody else can change: itself if it is immutable, else a copy.

    Raises:
        EmitError: pickle cannot carry the value.
    """
    try:
        return copy_of(value)
    except Exception as error:
        raise EmitError(
            f"cannot carry {value!r:.200}, a {type(value).__qualname__}, to another component: {error}; "
            "emit values that pickle can carry"
        ) from error
