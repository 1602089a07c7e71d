"""The hash of a Storm cluster, against values that Java computed.

``storm_hashes.json`` holds pairs of a key's values and the result of Java 17's
``Arrays.deepHashCode`` over them, made of Integer, Long, BigInteger, Double, BigDecimal,
String, Boolean, null, ArrayList and HashMap as Storm's JSON reader would have made them.
"""

from __future__ import annotations

import json
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from framework.planning.routing import storm_hash

TABLE = json.loads(Path(__file__).with_name("storm_hashes.json").read_text())


@pytest.mark.parametrize(("values", "expected"), TABLE)
def test_it_is_javas(values: list[Any], expected: int) -> None:
    assert storm_hash(values) == expected
    assert storm_hash(tuple(values)) == expected


def test_the_table_has_every_kind_of_value() -> None:
    kinds = {type(value) for values, _ in TABLE for value in values}
    assert kinds == {str, int, float, bool, type(None), list, dict}
    assert any(isinstance(value, int) and abs(value) >= 2**64 for values, _ in TABLE for value in values)
    assert any(isinstance(value, float) and len(repr(value)) > 18 for values, _ in TABLE for value in values)


class Small(IntEnum):
    SEVEN = 7


@pytest.mark.parametrize(
    ("value", "carried_as"),
    [
        (b"word", "word"),
        ((1, 2), [1, 2]),
        (Decimal("1.50"), 1.5),
        (Decimal("12"), 12),
        (Small.SEVEN, 7),
        ({2: "a", None: "b", True: "c", 1.5: "d"}, {"2": "a", "null": "b", "true": "c", "1.5": "d"}),
    ],
    ids=repr,
)
def test_what_json_carries_as_something_else(value: object, carried_as: object) -> None:
    assert storm_hash([value]) == storm_hash([carried_as])


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("NaN"), {1}, 1j, object(), b"\xff", [{"a": {2}}]]
)
def test_what_json_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="is no key for a Storm cluster"):
        storm_hash([value])
