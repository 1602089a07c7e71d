"""The types of typed state: their names, as schemas have them, and the values that they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from framework.model.topology import unknown
from viper.scalars import python_of

CODES: Final[Mapping[str, str]] = {"int64": "q", "float64": "d", "bool": "?", "string": "s", "binary": "y"}
"""For each type the letter by which a table's column says what it holds."""
ZEROS: Final[Mapping[str, Any]] = {"int64": 0, "float64": 0.0, "bool": False, "string": "", "binary": b""}
"""For each type what a column holds that was given nothing."""
PICKLED: Final = "y"
"""The letter of a column whose values are pickled."""

_PYTHON: Final = {"int64": int, "float64": float, "bool": bool, "string": str, "binary": bytes}


def code_of(name: object) -> str:
    """The letter of a type.

    Raises:
        ValueError: there is none of that name.
    """
    if not isinstance(name, str) or name not in CODES:
        raise ValueError(unknown("type of state", name, CODES))
    return CODES[name]


def checked_default(name: str, value: Any) -> Any:
    """A value that a state of this type has before it is given one.

    Raises:
        ValueError: the type does not take it.
    """
    value = python_of(value)
    if name == "float64" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    fits = isinstance(value, _PYTHON[name]) and (name == "bool" or not isinstance(value, bool))
    if not fits or (name == "int64" and not -(2**63) <= value < 2**63):
        raise ValueError(f"default={value!r} is no {name}")
    return value
