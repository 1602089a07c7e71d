"""Values as Storm's JSON makes them, for a topology that is to do here what it does on a cluster.

Only where ``viper.values`` is json is this imported, and with it what writes JSON as pystorm does.
"""

from __future__ import annotations

import json
from typing import Any

import simplejson

from framework.errors import EmitError

_SAME = frozenset((bool, int, str, type(None)))


def as_json(value: Any) -> Any:
    """What arrives of a value that pystorm writes and Storm hands on: tuples are lists, bytes and keys texts.

    pystorm drops a value that it cannot write, and says so in its log; here it is refused, as is one that
    JSON has no number for.

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
