"""Words of columns of texts: those that `str.split` finds in each."""

from __future__ import annotations

import random
import sys

import numpy as np
import pyarrow as pa
import pytest

from viper.columns.splitting import split_words
from viper.rows import split_words as split_in_c

SPACES = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
NEARLY = list("\x00\x08\x0e\x1b!\x7f\u200b\u180e\u2027\u202a\u2060\ufeff")
"""Characters beside white space that are none."""
LETTERS = ["a", "b", "z", "~", "é", "ß", "\u20ac", "\u3042", "\U0001f600"]


def check(texts: list[str | None], array: pa.Array) -> None:
    """Compare the words of an array with those that Python finds in the same texts."""
    words, ends = split_words(array)
    words.validate(full=True)
    expected = [[] if text is None else text.split() for text in texts]
    assert words.to_pylist() == [word for found in expected for word in found]
    assert ends.format == "I" and ends.tolist() == np.cumsum([len(e) for e in expected]).tolist()
    assert words.type == array.type and words.null_count == 0


def drawn_text(drawn: random.Random, longest: int) -> str:
    """A text of words between white space, of which either may be long."""
    kinds = drawn.choice([(SPACES, LETTERS), ([" "], ["a", "b"]), ([" ", "\t"], LETTERS), (SPACES, NEARLY)])
    parts = []
    while sum(map(len, parts)) < longest:
        parts.append("".join(drawn.choices(drawn.choice(kinds), k=drawn.choice([1, 2, 3, 15, 17, 70]))))
    return "".join(parts)[:longest]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("seed", range(30))
def test_words_are_those_of_python(seed: int, kind: pa.DataType) -> None:
    print("seed", seed)
    drawn = random.Random(seed)
    texts: list[str | None] = [drawn_text(drawn, drawn.choice([0, 1, 7, 63, 64, 65, 200])) for _ in range(40)]
    check(texts, pa.array(texts, kind))
    for index in drawn.sample(range(40), 10):
        texts[index] = None
    array = pa.array(texts, kind)
    check(texts, array)
    for first, count in ((0, 0), (3, 20), (39, 1), (40, 0)):
        check(texts[first : first + count], array.slice(first, count))


@pytest.mark.parametrize("space", SPACES, ids=ascii)
def test_every_white_space_divides_words_wherever_it_lies(space: str) -> None:
    texts: list[str | None] = ["x" * n + space + "y" * 3 for n in range(58, 68)]
    texts += [space, space * 3, space + "a", "a" + space, "é" * 31 + space + "b", "a" + space * 70 + "b"]
    check(texts, pa.array(texts))


@pytest.mark.parametrize("other", NEARLY, ids=ascii)
def test_nothing_else_divides_them(other: str) -> None:
    texts: list[str | None] = [f"a{other}b", other * 40, f"{other} {other}"]
    check(texts, pa.array(texts))


def test_parts_of_white_space_at_the_end_of_a_text_belong_to_no_other() -> None:
    """Bytes are looked at within one text, though those of the next follow at once."""
    raw = [b"a\xc2", b"\x85b", b"a\xe2", b"\x80\x80b", b"a\xe2\x80", b"\x80b", b" c"]
    words, ends = split_words(pa.array(raw, pa.binary()).view(pa.string()))
    assert words.view(pa.binary()).to_pylist() == [*raw[:6], b"c"] and ends.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_words_outlive_the_texts() -> None:
    words, _ = split_words(pa.array(["in the beginning"] * 1000))
    assert words.slice(2997).to_pylist() == ["in", "the", "beginning"]


OTHERS = [pa.array([b"a"]), pa.array([1]), ["a b"], pa.array(["a"]).dictionary_encode()]


@pytest.mark.parametrize("column", OTHERS)
def test_a_column_of_another_type_is_refused(column: object) -> None:
    with pytest.raises(TypeError, match="expected an array of strings"):
        split_words(column)
    if not isinstance(column, list):
        with pytest.raises(TypeError, match="expected u or U"):
            split_in_c(column, lambda address: None)


def test_what_takes_the_words_may_refuse_them() -> None:
    def refuse(address: int) -> None:
        raise RuntimeError("not these")

    with pytest.raises(RuntimeError, match="not these"):
        split_in_c(pa.array(["a b"]), refuse)
