"""JSON is what pystorm writes, and what it reads of that."""

from __future__ import annotations

import math
import threading
from collections import namedtuple
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.model.errors import EmitError
from framework.runtime.exchange.values import as_json

Pair = namedtuple("Pair", "a b")

KEYS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
LEAVES = KEYS | st.binary()
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.builds(Pair, inner, inner)
        | st.dictionaries(KEYS, inner)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def serializer(streamparse: Any) -> Any:
    from pystorm.serializers.json_serializer import JSONSerializer

    class Serializer(JSONSerializer):
        def _wrap_stream(self, stream: Any) -> Any:
            return stream

    return Serializer(StringIO(), StringIO(), threading.RLock(), threading.RLock())


@given(value=VALUES)
def test_a_value_is_what_pystorm_would_read_of_what_it_writes(serializer: Any, value: Any) -> None:
    try:
        written = serializer.serialize_dict({"tuple": [value]})
    except ValueError:  # infinite, or bytes that are no text
        with pytest.raises(EmitError):
            as_json(value)
        return
    serializer.input_stream = StringIO(written)
    (expected,) = serializer.read_message()["tuple"]
    assert repr(as_json(value)) == repr(expected)


@pytest.mark.parametrize("value", [math.nan, {1}, object(), {(1,): 2}, iter(())])
def test_what_it_cannot_write_is_refused(serializer: Any, value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        serializer.serialize_dict({"tuple": [value]})
    with pytest.raises(EmitError, match=rf"JSON cannot carry .*, a {type(value).__qualname__}: "):
        as_json(value)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(EmitError, match="JSON cannot carry"):
        as_json(value)
