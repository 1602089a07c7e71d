"""Makes what arrives of a value that is emitted: the value itself if it is immutable, else a copy.

A consumer gets the same whether it is in this process or in another one. A mutable value is copied through
pickle as it is emitted. The emit of a value that could not reach another process is refused. A topology may
also ask for values as they arrive on a Storm cluster, where they travel as JSON. Scalars of
NumPy and pandas are no values of a stream: Python's number, text or time arrives (`viper.scalars`).
"""

from __future__ import annotations

import json
import re
from typing import Any

from framework.model.errors import EmitError
from viper.payload import copy_of
from viper.scalars import ScalarError

_SAME_IN_JSON = frozenset((bool, int, str, type(None)))


def shown(value: Any) -> str:
    """The text of a value for messages, also if the value raises when it is asked for its text."""
    try:
        return f"{value!r:.300}"
    except Exception as error:
        return f"a {type(value).__qualname__} whose text raises {type(error).__name__}"


def snapshot(value: Any) -> Any:
    """A value that nobody else can change: itself if it is immutable, else a copy.

    A scalar of NumPy or pandas, also within a value, arrives as the Python value that it stands for.

    Raises:
        EmitError: pickle cannot carry the value, or no value of Python is the same as a scalar.
    """
    try:
        return copy_of(value)
    except ScalarError as error:
        raise EmitError(f"cannot emit {shown(value)}: {error}") from None
    except Exception as error:
        raise EmitError(
            f"cannot carry {shown(value)}, a {type(value).__qualname__}, to another component: {error}; "
            f"{_advice(error)}"
        ) from error


_NOT_THE_ONE_OF_ITS_NAME = re.compile(
    r"Can't pickle <class '(?P<cls>(?:(?!<locals>).)+)'>: "
    r"(?:it's not (?:the same object|found) as|attribute lookup) "
)
"""The message of pickle about a class that its module has no more, or never had in a worker process."""


def _advice(error: Exception) -> str:
    """The advice for a value that pickle does not carry."""
    found = _NOT_THE_ONE_OF_ITS_NAME.match(str(error))
    if found is None:
        return "emit values that pickle can carry"
    return (
        f"the class {found['cls']} was redefined or deleted after the value was made, so its module has it "
        "no more: make the value again"
    )


def as_json(value: Any) -> Any:
    """A value as it arrives on a Storm cluster: tuples become lists, bytes and keys of dicts become texts.

    pystorm logs and drops a value that it cannot write as JSON. Here the emit of such a value is refused, and
    so is that of a number that JSON does not have, such as NaN.

    Raises:
        EmitError: JSON cannot carry the value.
    """
    if type(value) in _SAME_IN_JSON:
        return value
    import simplejson  # pystorm writes with it; few topologies ask for it

    try:
        return json.loads(simplejson.dumps(value, namedtuple_as_object=False, allow_nan=False))
    except Exception as error:
        raise EmitError(
            f"JSON cannot carry {shown(value)}, a {type(value).__qualname__}: {error}; "
            "viper.values is json, with python whatever pickle carries arrives as it was emitted"
        ) from error
