"""Messages: JSON with a line ``end`` after it, in pieces of any size."""

from __future__ import annotations

import datetime
import decimal
from collections import namedtuple
from typing import Any

import pytest

from framework.errors import ProgramError
from framework.multilang.messages import Decoder, InvalidMessage, encoded

TEXT = '{"command": "log", "msg": "ä\\nend\\n"}\nend\n[1, 2]\nend\n\n\n{"a":\r\n 1}\r\nend\r\n'.encode()
MESSAGES = [{"command": "log", "msg": "ä\nend\n"}, [1, 2], {"a": 1}]


def decoded(pieces: list[bytes]) -> list[Any]:
    decoder, found = Decoder(), []
    for piece in pieces:
        decoder.feed(piece)
        while (message := decoder.next()) is not None:
            found.append(message)
    assert decoder.rest == ""
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(TEXT)])
def test_messages_come_in_pieces(size: int) -> None:
    assert decoded([TEXT[first : first + size] for first in range(0, len(TEXT), size)]) == MESSAGES


def test_a_large_message_comes_in_many_pieces() -> None:
    text = encoded({"tuple": ["x" * 3_000_000]})
    assert decoded([text[first : first + 65536] for first in range(0, len(text), 65536)]) == [
        {"tuple": ["x" * 3_000_000]}
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"hello\n", "hello"),  # seen although no end has come
        (b'  hello\n{"a": 1}\nend\n', "hello"),
        (b"{'a': 1}\n{\"a\": 1}\nend\n", "{'a': 1}"),
        (b'{"a": 1}\nhello\nend\n', "hello"),
        (b"end\n", "end"),
        (b"\xff\n", "\ufffd"),
        (b'hello{"a": 1}\nend\n', 'hello{"a": 1}'),
    ],
)
def test_the_line_that_is_no_message_is_named(text: bytes, line: str) -> None:
    decoder = Decoder()
    decoder.feed(text)
    with pytest.raises(InvalidMessage) as error:
        decoder.next()
    assert error.value.line.strip() == line


def test_a_message_without_an_end_is_none_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framework.multilang.messages.LONGEST", 1000)
    decoder = Decoder()
    decoder.feed(b"{" * 1000)
    assert decoder.next() is None
    decoder.feed(b"{")
    with pytest.raises(InvalidMessage):
        decoder.next()


def test_values_are_written_as_pystorm_writes_them() -> None:
    point = namedtuple("point", "x y")(1, 2)
    values = [
        "ä",
        b"\xc3\xa4",
        (1, 2),
        point,
        {1: "a", None: "b"},
        decimal.Decimal("1.10"),
        2**70,
        None,
        True,
    ]
    text = encoded(values)
    assert text.isascii()
    assert decoded([text]) == [
        ["ä", "ä", [1, 2], [1, 2], {"1": "a", "null": "b"}, 1.10, 2**70, None, True],
    ]


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({1, 2}, "{1, 2}, a set"),
        (float("nan"), "nan, a float"),
        (datetime.date(2024, 1, 1), "datetime.date(2024, 1, 1), a date"),
        (b"\xff", "b'\\xff', a bytes"),
        ({(1, 2): 3}, "{(1, 2): 3}, a dict"),
    ],
)
def test_what_json_cannot_carry_is_named(value: Any, named: str) -> None:
    with pytest.raises(ProgramError) as error:
        encoded({"tuple": ("fine", [1, {"deep": value}])})
    assert str(error.value).startswith(f"JSON cannot carry {named}: ")
