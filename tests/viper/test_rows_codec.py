"""Rows as bytes and back: exactly the same, or not at all."""

from __future__ import annotations

import datetime
import enum
import math
import pickle
import random
import struct
import sys
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


VARIES = 2**32 - 1
"""In the place of an arity: each row says its own, and its values have tags."""
VALUES = 7
"""The form of a column of any values, with their tags."""


def test_more_rows_than_bytes_are_refused() -> None:
    """Also rows of no values, of which a few spoilt bytes would make thousands of millions."""
    for arity in (0, 1, VARIES):
        with pytest.raises(ValueError, match="more encoded rows than bytes"):
            DECODER.decode(struct.pack("=III", 5, arity, 0))
    assert DECODER.decode(encode_rows([()] * 5) or b"") == [()] * 5


def test_an_unknown_tag_is_refused() -> None:
    with pytest.raises(ValueError, match="no encoded value begins with 99"):
        DECODER.decode(struct.pack("=IIIB", 1, VARIES, 1, 99))


@pytest.mark.parametrize("form", [8, 15, 3 << 4, 1 << 6, 255])
def test_an_unknown_form_of_a_column_is_refused(form: int) -> None:
    with pytest.raises(ValueError, match=f"no encoded column begins with {form}"):
        DECODER.decode(struct.pack("=IIB", 1, 1, form) + bytes(64))


def test_tuples_too_deep_to_have_been_encoded_are_refused() -> None:
    def nested(levels: int) -> bytes:
        holding_one, empty = (struct.pack("=BI", 10, arity) for arity in (1, 0))
        value = holding_one * (levels - 1) + empty
        return struct.pack("=IIBQ", 1, 1, VALUES, len(value)) + value

    ((value,),) = DECODER.decode(nested(32))
    assert encode_rows([(value,)]) == nested(32)
    with pytest.raises(ValueError, match="deeper than 32"):
        DECODER.decode(nested(33))


@pytest.mark.parametrize("width", [0, 3, 5, 255])
def test_characters_of_no_width_that_there_is_are_refused(width: int) -> None:
    buffer = struct.pack("=IIIBBQ", 1, VARIES, 1, 8, width, 2) + bytes(2 * width)
    with pytest.raises(ValueError, match=f"has {width} bytes per character, expected 1, 2 or 4"):
        DECODER.decode(buffer)


def test_in_columns_characters_of_no_width_that_there_is_are_refused() -> None:
    text, width, length = 5, 3, 6
    with pytest.raises(ValueError, match="has 3 bytes per character, expected 1, 2 or 4"):
        DECODER.decode(struct.pack("=IIBBB", 1, 1, text, width, length) + bytes(length))


@pytest.mark.parametrize(
    "kind, head", [("=IIBB", (1, 1, 4, 2)), ("=IIBBB", (1, 1, 5, 0, 2)), ("=IIIBB", (1, VARIES, 1, 7, 2))]
)
def test_ascii_with_other_characters_is_refused(kind: str, head: tuple[int, ...]) -> None:
    assert DECODER.decode(struct.pack(kind, *head) + b"ab") == [("ab",)]
    with pytest.raises(ValueError, match="ASCII has other characters"):
        DECODER.decode(struct.pack(kind, *head) + b"a\xe9")


def test_lengths_beyond_what_is_there_are_refused() -> None:
    """Also where their sum, as a number of 64 bits, is small."""
    ascii_of_width_8 = 4 | 2 << 4
    head = struct.pack("=IIB", 2, 1, ascii_of_width_8)
    for lengths in ((2**63, 2**63 + 2), (2**64 - 1, 3), (3, 0)):
        with pytest.raises(ValueError, match="end before their last value"):
            DECODER.decode(head + struct.pack("=QQ", *lengths) + b"ab")
    assert DECODER.decode(head + struct.pack("=QQ", 2, 0) + b"ab") == [("ab",), ("",)]


# -- columns: blocks of rows whose values have the same type in each column

BLOCK = 128
"""Rows that lie in columns together."""
TEXTS = ("", "a", "word", "x" * 14, "x" * 15, "x" * 32, "x" * 33, "x" * 255, "x" * 256, "\0", "a\0b")
WIDE = ("é", "naïve", "ж", "слово" * 3, "😀", "\ud800", "a\udfff", "é" * 255, "ж" * 127, "ж" * 128, "😀" * 9)
NOT_A_NUMBER = struct.unpack("=d", struct.pack("=Q", 0x7FF8_0000_0000_BEEF))[0]
FLOATS = (0.0, -0.0, 1.5, math.inf, -math.inf, 5e-324, NOT_A_NUMBER)
INTS = (0, 1, -1, 127, -128, 128, -129, 2**30, -(2**30), 2**31 - 1, -(2**31), 2**31, -(2**31) - 1)
WHOLE = (*INTS, 2**60 - 1, 2**60, -(2**60), 2**63 - 1, -(2**63))


def column(draw: random.Random, count: int) -> list[Any]:
    """Values for a column, as a drawn program may emit them: of one type, or of some."""
    kinds: list[Any] = [
        *((None,), (True, False), INTS[:5], INTS[:11], WHOLE, FLOATS, TEXTS[:5], TEXTS, WIDE, TEXTS + WIDE),
        *((b"", b"a", b"\xff\0", b"x" * 33), (b"", b"x" * 300)),
        *(((), (1, ("a", None)), ((2.5,),)), (1, True, 1.0)),
    ]
    some: list[Any] = list(draw.choice(kinds))
    if draw.random() < 0.3:
        some.append(None)
    if draw.random() < 0.1:
        some += draw.choice(kinds)
    if draw.random() < 0.2:  # one that differs from the others, somewhere
        values = [some[0]] * count
        values[draw.randrange(count)] = draw.choice(draw.choice(kinds))
        return values
    return [draw.choice(some) for _ in range(count)]


def drawn_rows(draw: random.Random) -> list[tuple[Any, ...]]:
    """Rows of one arity, fewer and more than a block has."""
    count = draw.choice((1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 300))
    return list(zip(*(column(draw, count) for _ in range(draw.choice((1, 1, 2, 3, 17)))), strict=True))


@pytest.mark.parametrize("seed", range(150))
def test_columns_come_back_exactly(seed: int) -> None:
    """As pickle brings them back, with the bits of not-a-numbers."""
    print(f"seed {seed}")
    given_rows = drawn_rows(random.Random(seed))
    encoded = encode_rows(given_rows)
    assert encoded is not None
    for decoder in (DECODER, Decoder()):
        found = decoder.decode(encoded)
        assert list(map(marked, found)) == list(map(marked, pickle.loads(pickle.dumps(given_rows, 5))))


def marked(value: Any) -> Any:
    """A value with its type and, of a float, its bits."""
    if isinstance(value, tuple):
        return tuple(map(marked, value))
    return type(value), struct.pack("=d", value) if isinstance(value, float) else value


def test_values_without_a_form_are_found_in_any_block() -> None:
    for place in (0, BLOCK - 1, BLOCK, 2 * BLOCK + 5):
        for value in (2**63, -(2**63) - 1, Word("a"), Colour.RED, [1], (1, [2])):
            given_rows: list[tuple[Any, ...]] = [(1, "a")] * (3 * BLOCK)
            given_rows[place] = (1, value)
            assert encode_rows(given_rows) is None


@pytest.mark.parametrize("seed", range(40))
def test_spoilt_bytes_are_refused_or_make_other_values(seed: int) -> None:
    """Nothing is read beyond them: the sanitizer runs these, too."""
    print(f"seed {seed}")
    draw = random.Random(seed)
    encoded = encode_rows(drawn_rows(draw)[: draw.choice((1, 5, 200))])
    assert encoded is not None
    for _ in range(100):
        spoilt = bytearray(encoded)
        for _ in range(draw.choice((1, 1, 3))):
            place = draw.randrange(8 if draw.random() < 0.1 else 0, len(spoilt)) if len(spoilt) > 8 else 0
            spoilt[place] = draw.choice((0, 1, 2, 4, 7, 127, 128, 255, draw.randrange(256)))
        alone = memoryview(bytes(spoilt[: draw.randrange(len(spoilt))] if draw.random() < 0.3 else spoilt))
        try:
            rows_found = Decoder().decode(alone)
        except (ValueError, SystemError):
            continue
        assert len(rows_found) == struct.unpack_from("=I", alone)[0]


def test_equal_rows_have_equal_bytes() -> None:
    """Of other objects, too, and after other rows: what a successor emits is compared so."""
    words = [f"word{n % 7}" for n in range(500)]
    first = encode_rows([(word, n) for n, word in enumerate(words)])
    encode_rows([("other", 1)] * 1000)
    assert encode_rows([("".join(list(word)), n) for n, word in enumerate(words)]) == first


# -- what a decoder keeps of texts


def decoded(decoder: Decoder, given_rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return decoder.decode(encode_rows(given_rows) or b"")


def test_a_row_of_a_text_alone_is_the_same_object() -> None:
    decoder = Decoder()
    first, second = decoded(decoder, [("word",), ("word",)])
    assert first is second
    (beside,) = decoded(decoder, [("word", 1)])
    assert beside[0] is first[0], "and has the text that other rows have"
    assert decoded(decoder, [(b"word",), (1,)]) == [(b"word",), (1,)]
    first, second = decoded(decoder, [(b"word",), (b"word",)])
    assert first is second


@pytest.mark.parametrize("text", ["x" * 14, "x" * 15, "x" * 32, "é" * 7, "ж" * 16, "😀" * 8])
def test_texts_are_told_apart_by_all_of_their_bytes(text: str) -> None:
    decoder = Decoder()
    others = [text[:n] + chr(ord(text[n]) ^ 1) + text[n + 1 :] for n in range(len(text))]
    others += [text[:-1], text + "a"]
    given_rows = [(other,) for other in (text, *others)]
    for _ in range(2):
        assert decoded(decoder, given_rows) == given_rows


def test_same_bytes_of_other_widths_are_other_texts() -> None:
    decoder = Decoder()
    texts = ("\xe9\x01", "\u01e9", "\xe9\x01\0\0", "\u01e9\0", "ab")
    given_rows = [(text, text.encode()) for text in texts]
    for _ in range(2):
        assert decoded(decoder, given_rows) == given_rows
    for _ in range(2):
        assert list(map(marked, decoded(decoder, [(b"ab",), (b"\xe9\x01",)]))) == [
            ((bytes, b"ab"),),
            ((bytes, b"\xe9\x01"),),
        ]


def test_what_comes_often_stays_the_same_object_while_others_come_once() -> None:
    decoder = Decoder()
    (often,) = decoded(decoder, [("often",)])[0]
    for number in range(400):
        texts = [f"{number}/{n}" for n in range(20)] + ["often"] * 10
        found = decoded(decoder, [(text,) for text in texts])
        assert all(row[0] is often for row in found[20:]), number


@pytest.mark.skipif(not sys.getallocatedblocks(), reason="this interpreter's allocator counts no blocks")
def test_what_is_kept_is_bounded() -> None:
    decoder, places = Decoder(), 16384
    for number in range(200):  # twice in a row, so that each has been known
        decoded(decoder, [(f"text {number} {n // 2}", n) for n in range(4000)])
    before = sys.getallocatedblocks()
    del decoder
    held = before - sys.getallocatedblocks()
    assert places / 2 < held < 1.1 * places


def test_a_column_is_let_alone_while_its_texts_do_not_come_again() -> None:
    decoder = Decoder()
    numbers = iter(range(10**9))

    def is_kept(position: int) -> bool:
        """True if a text that comes twice in a column is one object."""
        one, other = decoded(decoder, [("same", f"new {next(numbers)}")] * 2)
        return one[position] is other[position]

    def let_pass(count: int) -> None:
        for _ in range(count // 512):
            decoded(decoder, [("same", f"new {next(numbers)}") for _ in range(512)])

    assert is_kept(0) and is_kept(1)
    let_pass(2 * 8192)
    assert is_kept(0), "the other column's texts come again"
    assert not is_kept(1)
    let_pass(15 * 8192 + 1024)
    assert is_kept(1), "it is tried again"


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
