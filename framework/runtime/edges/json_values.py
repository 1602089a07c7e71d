"""Values as Storm's JSON makes them, for a topology that is to do here what it does on a cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import simplejson

from framework.components.collector import EmitResult
from framework.errors import EmitError
from framework.runtime.edges.collector import TaskCollector

_SAME = frozenset((bool, int, str, type(None)))


def as_json(value: Any) -> Any:
    """What arrives of a value that pystorm writes and Storm hands on: tuples are lists, bytes and keys texts.

    It is written as pystorm writes it. What that cannot write pystorm drops, and says so in its log;
    here it is refused, as is what JSON has no number for.

    Raises:
        EmitError: JSON cannot carry the value.
    """
    if type(value) in _SAME:
        return value
    try:
        return json.loads(simplejson.dumps(value, namedtuple_as_object=False, allow_nan=False))
    except Exception as error:
        raise EmitError(
            f"JSON cannot carry {value!r:.200}, a {type(value).__qualname__}: {error}; "
            "viper.values is json, with python whatever pickle carries arrives as it was emitted"
        ) from error


def emit_as_json(collector: TaskCollector) -> None:
    """Have a collector take all values as JSON makes them.

    Args:
        collector: a guarded one, as what goes the fast way in C does not come by here.
    """
    emit = collector.emit

    def emit_values(tup: Sequence[Any], *args: Any, **options: Any) -> EmitResult:
        # What is neither list nor tuple is refused where all emits are checked.
        values = [as_json(value) for value in tup] if isinstance(tup, list | tuple) else tup
        return emit(values, *args, **options)

    collector.emit = emit_values  # type: ignore[method-assign]
