"""Messages: JSON with a line ``end`` after it, in pieces of any size."""

from __future__ import annotations

import datetime
import decimal
from collections import namedtuple
from typing import Any

import pytest

from framework.frontends.multilang.messages import DEEPEST, Decoder, InvalidMessage, encoded
from framework.model.errors import ProgramError

TEXT = '{"command": "log", "msg": "ä\\nend\\n"}\nend\n[1, 2]\nend\n\n\n{"a":\r\n 1}\r\nend\r\n'.encode()
INF = float("inf")
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
        (b'hello\n{"a": 1}\nend\n', "hello"),
        (b"end\n", "end"),
        (b"\n\nend\n", "end"),
        (b"null\nend\n", "null"),
        (b'{"a": 1}\n{"b": 2}\nend\n', '{"a": 1} {"b": 2}'),
        (b'{"a": 1}\nend \n', "end"),  # behind which nothing may come
        (b'{"a": 1}\n\tend\r\n{"b": 2}\nend\n', "end"),
        (b'{"a": 1}end\n', "end"),
        (b'{"a": 1}end\n{"b": 2}\nend\n', '{"a": 1}end'),
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


def noted(text: bytes, size: int) -> tuple[list[Any], list[str]]:
    """The messages of a text that comes in pieces of a size, and what is noted of them."""
    notes: list[str] = []
    decoder, found = Decoder(lambda kind, told: notes.append(kind)), []
    for first in range(0, len(text), size):
        decoder.feed(text[first : first + size])
        while (message := decoder.next()) is not None:
            found.append(message)
    while decoder.close() and (message := decoder.next()) is not None:
        found.append(message)
    return found, notes


NO_UTF8, MORE = "messages that are no UTF-8", "messages with more behind them"


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("text", "message", "notes"),
    [
        # What Storm's JsonSerializer of 2.8.3 makes of each.
        (b'{"a": "caf\xe9", "b": 1}', {"a": "caf\ufffd", "b": 1}, [NO_UTF8]),
        (b'{"a": "\xc0\xaf \xff"}', {"a": "\ufffd\ufffd \ufffd"}, [NO_UTF8]),
        (b'{"a": "\xf0\x9f\x98"}', {"a": "\ufffd"}, [NO_UTF8]),
        (b'{"a": "\xed\xa0\xbd\xed\xb8\x80"}', {"a": "\ufffd\ufffd"}, [NO_UTF8]),
        (b'{"a": "\xf0\x9f\x98\x80"}', {"a": "\U0001f600"}, []),
        (b'{"a": "\\ud83d"}', {"a": "\ud83d"}, []),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}, []),
        (b'{"a": "x\ty\nz\0"}', {"a": "x\ty\nz\0"}, []),
        (b'{"a": "x\r\ny\rz"}', {"a": "x\ny\nz"}, []),
        (b'{"a": "x\xe2\x80\xa8y\xc2\x85z"}', {"a": "x\u2028y\u0085z"}, []),
        (b'\n \n{"a": 1}\n\n', {"a": 1}, []),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}, []),  # which Storm does not take
        (b'{"a": 1}\nweekend', {"a": 1}, [MORE]),
        (b'{"a": 1}} // more', {"a": 1}, [MORE]),
        (b'{"a": 1, "a": 2}', {"a": 2}, []),
        (
            b'{"a": 1e400, "b": -1e400, "c": 12345678901234567890}',
            {"a": INF, "b": -INF, "c": 12345678901234567890},
            [],
        ),
    ],
)
@pytest.mark.parametrize("eol", [b"\n", b"\r\n", b"\r"])
def test_what_storm_takes_is_taken_in_pieces_of_any_size(
    text: bytes, message: Any, notes: list[str], size: int, eol: bytes
) -> None:
    if b"\n" in text and eol == b"\r" and b"weekend" not in text:
        eol = b"\n"  # a CR behind which a line feed comes is one end of a line
    whole = text + eol + b"end" + eol
    assert noted(whole * 2, size) == ([message] * 2, notes * 2)
    assert noted(whole + text + eol + b"end", size) == ([message] * 2, notes * 2)  # at the end of all output


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_levels_are_those_of_storm(opening: bytes) -> None:
    """json-smart takes 400 of them, and refuses the next as malicious."""
    closing = b"]" if opening == b"[" else b"}"
    inner = DEEPEST - 1
    text = b'{"a": %s1%s, "b": "[[[{{{"}\nend\n'
    message = decoded([text % (opening * inner, closing * inner)])
    assert message[0]["b"] == "[[[{{{"
    decoder = Decoder()
    for levels in (inner + 1, 3_000, 100_000):
        decoder = Decoder()
        decoder.feed(text % (opening * levels, closing * levels))
        with pytest.raises(InvalidMessage, match="more than 400 levels of lists and objects, as on Storm"):
            decoder.next()


def test_a_number_of_too_many_digits_is_named() -> None:
    decoder = Decoder()
    decoder.feed(b'{"a": %s}\nend\n' % (b"1" * 5_000))
    with pytest.raises(InvalidMessage, match="4300 digits"):
        decoder.next()


def test_values_of_many_levels_are_refused_when_they_are_sent() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ProgramError, match=r"JSON cannot carry .*list.*: it has too many levels"):
        encoded({"tuple": [value]})
    while isinstance(value, list):  # which Python would take apart by as many calls
        value = value.pop()


def test_a_message_without_an_end_is_none_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framework.frontends.multilang.messages.LONGEST", 1000)
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
