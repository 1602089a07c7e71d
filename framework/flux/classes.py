"""Class names: Python classes, the stand-ins for some of Storm's, Java classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework.errors import LoadError
from framework.flux.reading import Reading
from framework.importing import import_class, looks_like_java
from framework.specs import Par, checked_config, checked_par, outputs_of
from framework.standins import STAND_INS
from framework.topology import Bean, ObjectDef, Place, Stream, declared_streams


def is_java(class_name: str) -> bool:
    """Whether a name is that of a Java class which has no stand-in."""
    return class_name not in STAND_INS and looks_like_java(class_name)


def class_or_problem(class_name: str, place: Place, reading: Reading) -> type | None:
    """The class of that name; None for a Java class, and for one that is not found, which is reported."""
    if not class_name or is_java(class_name):
        return None
    if class_name in STAND_INS:
        return STAND_INS[class_name]
    try:
        return import_class(class_name)
    except LoadError as error:
        reading.report(place, str(error))
    except SystemExit as error:
        reading.report(place, f"{class_name!r}: importing it ended the process, with status {error.code!r}")
    return None


@dataclass(frozen=True, slots=True)
class Declared:
    """What a component's class says, for where the file says nothing."""

    outputs: tuple[Stream, ...] | None = None
    """None where they cannot be known."""
    par: Par = 1
    config: Mapping[str, Any] = field(default_factory=dict)


def declared_by(definition: ObjectDef, beans: Sequence[Bean]) -> Declared:
    """The attributes ``outputs``, ``par`` and ``config`` of a component, as in Python's front ends.

    Raises:
        TypeError: one of them is of the wrong type.
        ValueError: two streams have one name.
        ViperError: the outputs depend on the arguments, and these are refused.
    """
    cls = definition.cls
    if cls is None or not hasattr(cls, "outputs"):
        return Declared()
    return Declared(
        declared_streams(outputs_of(definition, beans)),
        checked_par(getattr(cls, "par", 1)),
        checked_config(getattr(cls, "config", None)),
    )
