"""Columns that Arrow reads of messages are those of the rows that Python reads, or none are read."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from framework.operators.kafka.decoding import JsonColumns, JsonDecoder

pytest.importorskip("pyarrow")
TYPES = {"a": "int64", "b": "float64 not null", "c": "string", "d": "bool"}
OTHERS: list[Any] = [
    *(1, -5, 2**62, 2**63, 2**64, 10**29, 1.0, 1.5, 1e400, -0.0, 1e22, 5e-324, 0.1, float("nan")),
    *("x", "é\u2028", "\U0001f600", "1", "", True, False, None, [1], {"x": 1}),
]


def message(chance: random.Random) -> bytes:
    """A message that is mostly as it should be."""
    found: dict[str, Any] = {
        "a": chance.randrange(-(10**6), 10**18),
        "b": chance.choice([chance.random(), chance.randrange(100), 1e15, 1e300, -0.0]),
        "c": chance.choice(["a", "é", '"q"', "\n", "\\u", "x" * 50]),
        "d": chance.random() < 0.5,
    }
    if chance.random() < 0.05:
        found[chance.choice("abcd")] = chance.choice(OTHERS)
    if chance.random() < 0.02:
        del found[chance.choice(list(found))]
    if chance.random() < 0.05:
        found["z"] = chance.choice([1, [1, {"y": 2}], {"q": [{}]}])
    text = json.dumps(found, ensure_ascii=chance.random() < 0.5)
    changes = [
        *(lambda: text[:-1] + ',"a":7}', lambda: text + text, lambda: f" {text} "),
        *(lambda: text.replace(":", " :\n"), lambda: text[: chance.randrange(len(text))], lambda: ""),
        *(lambda: "{}{}", lambda: text.replace("{", "[", 1), lambda: '{"a":' + "[" * 300 + "]" * 300 + "}"),
    ]
    return (chance.choice(changes)() if chance.random() < 0.02 else text).encode()


@pytest.mark.parametrize("seed", range(4))
def test_arrow_reads_what_rows_have(seed: int) -> None:
    chance = random.Random(seed)
    columns, rows = JsonColumns(TYPES), JsonDecoder(list(TYPES), None, types=TYPES)
    read = 0
    for _ in range(400):
        values = [message(chance) for _ in range(chance.choice([1, 1, 2, 3, 10, 30]))]
        batch = columns.read(values)
        if batch is not None:
            read += 1
            found = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            expected = [rows.one(value).row for value in values]
            assert repr(list(found)) == repr([(a, float(b), c, d) for a, b, c, d in expected])
    assert 100 < read < 400


def test_types_that_arrow_reads_otherwise_are_left_to_rows() -> None:
    assert not JsonColumns({"a": "timestamp[us]"}).is_usable
    assert not JsonColumns({"a": "decimal128(10, 2)", "b": "int64"}).is_usable
