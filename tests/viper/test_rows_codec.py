"""Rows as bytes and back: exactly the same, or not at all."""

from __future__ import annotations

import datetime
import enum
import math
import struct
from array import array
from collections import namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.codec import decode, encode
from viper.errors import CodecError
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.rows import Decoder, encode_rows

atoms = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text(st.characters())
    | st.text("abc", max_size=40)
    | st.binary(max_size=300)
)
values = st.recursive(atoms, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)
rows = st.lists(st.lists(values, max_size=4).map(tuple), max_size=30)
even_rows = st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[values] * n), max_size=30))


def alike(a: Any, b: Any) -> bool:
    """True if two values are the same, with their types, signs and not-a-numbers."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


DECODER = Decoder()
"""One for all examples: what it remembers of one must not show in the next."""


@given(rows | even_rows)
def test_rows_come_back_exactly(given_rows: list[tuple[Any, ...]]) -> None:
    encoded = encode_rows(given_rows)
    assert encoded is not None
    assert alike(DECODER.decode(encoded), given_rows)
    assert alike(DECODER.decode(memoryview(encoded)), given_rows)


class Word(str):
    pass


class Colour(enum.IntEnum):
    RED = 1


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "value",
    [
        *([1], {"a": 1}, {1}, bytearray(b"a"), array("H"), memoryview(b"a"), 2**63, 1j, frozenset(), ...),
        *(Word("a"), Colour.RED, Pair(1, 2), datetime.date(2020, 1, 1), ("deep", ([],)), object()),
    ],
)
def test_what_is_not_plain_has_no_form(value: Any) -> None:
    assert encode_rows([("a",), (value,)]) is None


def test_rows_must_be_exact_tuples_in_a_list() -> None:
    assert encode_rows([Pair(1, 2)]) is None
    assert encode_rows([["a"]]) is None  # type: ignore[list-item]
    with pytest.raises(TypeError, match="takes a list of rows"):
        encode_rows((("a",),))  # type: ignore[arg-type]


def test_nesting_beyond_bounds_has_no_form() -> None:
    value: Any = ()
    for _ in range(10_000):
        value = (value,)
    assert encode_rows([(value,)]) is None


def test_texts_that_come_again_are_the_same_objects() -> None:
    decoder = Decoder()
    first, second = (decoder.decode(encode_rows([("word", n)]) or b"")[0][0] for n in range(2))
    assert first is second


@pytest.mark.parametrize("text", ["", "a", "é", "word"])
def test_short_texts_are_there_once(text: str) -> None:
    decoder = Decoder()
    first, second = (decoder.decode(encode_rows([(text, n)]) or b"")[0][0] for n in range(2))
    assert first == text and first is second


def test_texts_of_any_length_come_back() -> None:
    alphabet = "abcdefghijklmnopqrstuvwxyz" * 11
    given_rows = [(alphabet[:n], n) for n in range(len(alphabet))]
    assert Decoder().decode(encode_rows(given_rows) or b"") == given_rows


@pytest.mark.parametrize("character", ["a", "é", "ж", "😀"])
def test_texts_may_lie_anywhere(character: str) -> None:
    """The texts before it may have any length, and its characters any width."""
    for before in range(9):
        for length in (1, 2, 7, 64, 300):
            given_rows = [("x" * before, character * length)]
            assert DECODER.decode(encode_rows(given_rows) or b"") == given_rows


def test_many_texts_do_not_confuse_the_decoder() -> None:
    words = [(f"word{n % 9973}",) for n in range(60_000)]
    assert DECODER.decode(encode_rows(words) or b"") == words


@given(even_rows, st.data())
def test_bytes_that_end_early_are_refused(given_rows: list[tuple[Any, ...]], data: Any) -> None:
    encoded = encode_rows(given_rows)
    assert encoded is not None
    cut = data.draw(st.integers(0, len(encoded) - 1))
    with pytest.raises(ValueError, match="encoded"):
        DECODER.decode(encoded[:cut])


def test_an_unknown_tag_is_refused() -> None:
    with pytest.raises(ValueError, match="no encoded value begins with 99"):
        DECODER.decode(struct.pack("=IIB", 1, 1, 99))


def test_tuples_too_deep_to_have_been_encoded_are_refused() -> None:
    def nested(levels: int) -> bytes:
        holding_one, empty = (struct.pack("=BI", 10, arity) for arity in (1, 0))
        return struct.pack("=II", 1, 1) + holding_one * (levels - 1) + empty

    ((value,),) = DECODER.decode(nested(32))
    assert encode_rows([(value,)]) == nested(32)
    with pytest.raises(ValueError, match="deeper than 32"):
        DECODER.decode(nested(33))


@pytest.mark.parametrize("width", [0, 3, 5, 255])
def test_characters_of_no_width_that_there_is_are_refused(width: int) -> None:
    buffer = struct.pack("=IIBBQ", 1, 1, 8, width, 2) + bytes(2 * width)
    with pytest.raises(ValueError, match=f"has {width} bytes per character, expected 1, 2 or 4"):
        DECODER.decode(buffer)


# -- whole jumbo tuples


@given(rows, st.booleans())
def test_jumbo_tuples_come_back(given_rows: list[tuple[Any, ...]], tagged: bool) -> None:
    tags = array("H", range(len(given_rows))) if tagged and given_rows else None
    found = decode(memoryview(encode(Jumbo(Rows(given_rows), tags))), DECODER)
    assert alike(found.payload.rows, given_rows)
    assert found.tags == tags


@pytest.mark.parametrize("value", [[1, {"a": (2,)}], datetime.date(2020, 1, 1), 2**70, bytearray(b"a")])
def test_what_has_no_form_is_pickled(value: Any) -> None:
    found = decode(memoryview(encode(Jumbo(Rows([("a", value)], mutable=True)))), DECODER)
    assert alike(found.payload.rows, [("a", value)])
    assert not found.payload.mutable, "nobody else has these values"


def test_the_row_that_cannot_be_carried_is_named() -> None:
    with pytest.raises(CodecError, match=r"cannot carry the tuple \('bad', <function"):
        encode(Jumbo(Rows([("good", 1), ("bad", lambda: None)])))


def test_an_encoding_that_was_spoilt_is_refused() -> None:
    spoilt = bytearray(encode(Jumbo(Rows([("a",)]))))
    spoilt[-2] = 77
    with pytest.raises(CodecError, match="cannot read a payload of"):
        decode(memoryview(spoilt), DECODER)
