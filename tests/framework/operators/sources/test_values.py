"""Declared types of fields: what they take of text and of JSON, and that it is what a typed stream takes."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from framework.common.units import micros_of
from framework.model.errors import SourceError
from framework.operators.sources import CsvSource, JsonLinesSource
from framework.operators.sources.values import columns_of
from tests.framework.common.test_units import NO_TEXTS, NOON, NOON_TEXTS
from tests.framework.operators.sources.test_formats import read, timed, written
from viper.columns.fitting import fit_of
from viper.schema import parsed

KINDS = (
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float32", "float64", "bool", "date32", "decimal128(10, 2)", "decimal128(38, 0)"),
    *(f"timestamp[{unit}]" for unit in ("s", "ms", "us", "ns")),
    "timestamp[us, Europe/Berlin]",
)
TEXTS = (
    *("0", "-0", "1", "+1", " 7 ", "-1", "127", "128", "255", "256", "65535", "65536", "2147483648"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616"),
    *(
        "1_0",
        "1.0",
        "1.5",
        ".5",
        "5.",
        "1e2",
        "1e-1",
        "1.005",
        "1.00500",
        "1.50",
        "12345678901.5",
        "99999999.99",
    ),
    *("1e39", "1e400", "-1e400", "1e-400", "3.4028235677973366e38", "16777217", "0.1", "1e999999999", "0x10"),
    *(
        "inf",
        "-inf",
        "Infinity",
        "nan",
        "NaN",
        "-NaN",
        "sNaN",
        "NaN1",
        "٣",
        "1\u00a0",
        "1 0",
        "--1",
        "+-1",
        "e5",
        ".",
    ),
    *("-1.50", "-0.00", "-0.01", "007.50", "99999999.99", "-99999999.99", "100000000.00", "-0", "12", "-12"),
    *(
        "0001-01-01",
        "9999-12-31",
        "2023-02-29",
        "2024-05-31\n2024-05-31",
        "1.50\n1.50",
        "5\n5",
        "\x1c5",
        "5\x00",
    ),
    *(
        "2024-05-31T00:00:00",
        "2024-05-31T00:00:00.000Z",
        "2024-05-31T00:00:00.500Z",
        "1969-12-31T23:59:59.999Z",
    ),
    *("true", "TRUE", " true ", "tRue", "yes", "None", "null", " ", "9" * 5000),
    *("2024-05-31", "20240531", "2024-5-31 ", "2024-05-31T00:00:00Z", "2024-05-31T00:00:00.5Z"),
    *("2024-05-31T00:00:00.123456789Z", "2024-05-31T00:00:00.1234567891Z", "1677-09-21T00:12:43.145224192Z"),
    *("2262-04-11T23:47:16.854775807Z", "2262-04-11T23:47:16.854775808Z", "9999-12-31T23:59:59.999999Z"),
    *("0001-01-01T00:00:00Z", "2024-05-31T24:00:00", "2024-05-31T23:59:60Z", "2024-W22-5"),
)


def of_text(kind: str, text: str) -> Any:
    (column,) = columns_of(["v"], {"v": kind}, of_text=True)
    assert column is not None
    return column.one(text)


def of_json(kind: str, value: Any) -> Any:
    (column,) = columns_of(["v"], {"v": kind}, of_text=False)
    assert column is not None
    return column.one(value)


def told(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_a_typed_stream_carries(kind: str) -> None:
    fit, taken = fit_of(parsed(kind, "v")), 0
    for text in TEXTS:
        try:
            found = of_text(kind, text)
        except ValueError:
            continue
        taken += 1
        assert told(fit(found)) == told(found), text
    assert taken


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of_texts", [True, False])
def test_many_at_once_are_as_one_by_one(kind: str, of_texts: bool) -> None:
    (column,) = columns_of(["v"], {"v": kind}, of_text=of_texts)
    assert column is not None
    values: list[Any] = list(TEXTS)
    if not of_texts:
        values += [
            0,
            -1,
            255,
            2**63,
            2**64,
            1.5,
            1.0,
            0.1,
            1e39,
            math.inf,
            math.nan,
            True,
            False,
            "x",
            "\ud800",
        ]
    for value in values:
        try:
            expected = told(column.one(value))
        except ValueError:
            with pytest.raises(Exception):  # noqa: B017 - any, as `many` says
                column.many([value])
        else:
            for count in (1, 2, 3):
                assert [told(found) for found in column.many([value] * count)] == [expected] * count, value


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("decimal128(10, 2)", "1.50", Decimal("1.50")),
        ("decimal128(10, 2)", "1.5", Decimal("1.50")),
        ("decimal128(10, 2)", "1e2", Decimal("100.00")),
        ("decimal128(10, 2)", "1.500", Decimal("1.50")),
        ("decimal128(10, 2)", " -99999999.99 ", Decimal("-99999999.99")),
        ("decimal128(10, 2)", "-0", Decimal("0.00")),
        ("float32", "0.1", 0.10000000149011612),
        ("float32", "16777217", 16777216.0),
        ("float64", "Infinity", math.inf),
        ("float64", "1e-400", 0.0),
        ("bool", " true ", True),
        ("int8", " -128 ", -128),
        ("uint64", "18446744073709551615", 2**64 - 1),
        ("timestamp[ns]", "2024-01-01T00:00:00.123456789Z", 1_704_067_200_123_456_789),
        ("timestamp[ns]", "1677-09-21T00:12:43.145224192Z", -(2**63)),
        ("timestamp[us]", "2024-01-01T00:00:00.123456000Z", 1_704_067_200_123_456),
        ("timestamp[s]", "0001-01-01", -62_135_596_800),
        ("timestamp[ms]", "9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ("timestamp[us, Europe/Berlin]", "2024-01-01T00:00", 1_704_067_200_000_000),
        ("timestamp[s]", " +5 ", 5),
    ],
)
def test_texts_of_a_type(kind: str, text: str, value: Any) -> None:
    assert told(of_text(kind, text)) == told(value)


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("decimal128(10, 2)", "1.005", "it has more digits behind the point"),
        ("decimal128(10, 2)", "12345678901.5", "it has too many digits"),
        ("decimal128(10, 2)", "1e999999999", "it has too many digits"),
        ("float32", "1e39", "it is too large"),
        ("float64", "1e400", "it is too large"),
        ("uint8", "-1", "from 0 to 255"),
        ("timestamp[us]", "2024-01-01T00:00:00.1234567Z", "it is finer than the unit"),
        ("timestamp[s]", "1970-01-01T00:00:00.5Z", "it is finer than the unit"),
        ("timestamp[ns]", "2024-01-01T00:00:00.1234567891Z", "it is finer than the unit"),
        ("timestamp[ns]", "9999-12-31", "from -9223372036854775808 to 9223372036854775807"),
        ("timestamp[s]", "9223372036854775808", "from -9223372036854775808 to 9223372036854775807"),
    ],
)
def test_texts_that_do_not_fit_say_why(kind: str, text: str, reason: str) -> None:
    with pytest.raises(ValueError) as raised:
        of_text(kind, text)
    assert str(raised.value) == f"'v' is {text!r}: expected {kind} ({reason})"


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("decimal128(10, 2)", ["NaN", "sNaN", "Infinity", "1_0", "٣", "0x10", "1 0", ""]),
        ("int64", ["1_0", "1.5", "1.0", "1e3", "٣", "0x10", "true", " ", "1 0"]),
        ("float64", ["1_0.0", "٣", "0x10", "1 0", "nan1"]),
        ("bool", ["tRue", "yes", "2", "1.0"]),
        ("date32", ["2024-05-31T00:00", "2024-W22-5", "2024-152", "19874", "31.5.2024"]),
        ("timestamp[us]", ["1.5", "1e3", "1_0", "٣", "today", "24:00"]),
    ],
)
def test_texts_of_no_type(kind: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=r"'v' is .*: expected"):
            of_text(f"{kind} not null", text)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int64", True),
        ("int64", 1.0),
        ("int64", "1"),
        ("int8", 128),
        ("float64", 2**53 + 1),
        ("float64", "1.5"),
        ("float64", True),
        ("float32", 1e39),
        ("float32", 16777217),
        ("bool", 1),
        ("string", "\ud800"),
        ("string", 5),
        ("timestamp[us]", 1.5),
        ("timestamp[us]", True),
        ("timestamp[us]", 2**63),
        ("timestamp[us]", ""),
        ("date32", ""),
        ("date32", 19874),
        ("decimal128(10, 2)", ""),
        ("decimal128(10, 2)", True),
        ("decimal128(10, 2)", 1.5),
        ("decimal128(10, 2)", "NaN"),
        ("decimal128(10, 2)", 10**9),
    ],
)
def test_values_of_json_that_are_of_no_type(kind: str, value: Any, tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", json.dumps({"v": value}) + "\n")
    with pytest.raises(SourceError, match=r"a.jsonl:1: 'v' is .*: expected"):
        read(JsonLinesSource(path, ["v"], types={"v": kind}))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("float64", 1, 1.0),
        ("float32", 0.1, 0.10000000149011612),
        ("timestamp[ms]", 5, 5),
        ("timestamp[ms]", "5", 5),
        ("decimal128(10, 2)", 7, Decimal("7.00")),
        ("decimal128(10, 2)", "1.25", Decimal("1.25")),
        ("int64", None, None),
        ("string", "", ""),
    ],
)
def test_values_of_json(kind: str, value: Any, expected: Any) -> None:
    assert told(of_json(kind, value)) == told(expected)


class TestOneReaderOfTimes:
    """Event times, declared types and emits read the same forms of text, and so does Spark, in its test."""

    def readings(self, folder: Path, text: str) -> list[int | None]:
        table = written(folder, "a.csv", f't,n\n"{text}",1\n')
        lines = written(folder, "a.jsonl", json.dumps({"t": text}) + "\n")
        found: list[int | None] = []
        for source in (CsvSource(table, timestamp="t"), JsonLinesSource(lines, ["t"], timestamp="t")):
            found.append(self.attempt(lambda source=source: timed(source)[0][0]))  # type: ignore[misc]
        types = {"t": "timestamp[us]"}
        for source in (CsvSource(table, types=types), JsonLinesSource(lines, ["t"], types=types)):
            found.append(self.attempt(lambda source=source: read(source)[0][0]))  # type: ignore[misc]
        return [*found, self.attempt(lambda: micros_of(text, "us"))]

    def attempt(self, reading: Any) -> int | None:
        try:
            found: int = reading()
        except (SourceError, ValueError):
            return None
        return found

    @pytest.mark.parametrize("text", NOON_TEXTS)
    def test_texts_of_one_moment(self, tmp_path: Path, text: str) -> None:
        assert self.readings(tmp_path, text) == [NOON] * 5

    @pytest.mark.parametrize("text", [text for text in NO_TEXTS if text and not text.isdecimal()])
    def test_texts_of_none(self, tmp_path: Path, text: str) -> None:
        assert self.readings(tmp_path, text) == [None] * 5

    def test_digits_alone_are_a_number_where_a_unit_is_known_and_never_a_date(self, tmp_path: Path) -> None:
        """The text is a day of 2024, and 1970 as well."""
        assert self.readings(tmp_path, "20240310") == [None, None, 20_240_310, 20_240_310, None]


class TestNumbersAsEventTimes:
    @pytest.mark.parametrize(
        ("unit", "text", "micros"),
        [
            ("s", " 5 ", 5_000_000),
            ("s", "1e3", 1_000_000_000),
            ("s", "1704067200.1234567", 1_704_067_200_123_456),
            ("s", "-0.0000001", -1),
            ("s", "253402300799.999999", 253_402_300_799_999_999),
            ("ns", "9223372036854775807", 9_223_372_036_854_775),
        ],
    )
    def test_are_exact(self, tmp_path: Path, unit: str, text: str, micros: int) -> None:
        path = written(tmp_path, "a.csv", f"t,n\n{text},1\n")
        assert [time_us for time_us, _ in timed(CsvSource(path, timestamp="t", unit=unit))] == [micros]

    @pytest.mark.parametrize("text", ["1_0", "٣", "nan", "inf", "0x10", "1 0", "", "true", "1e999999999"])
    @pytest.mark.parametrize("before", [0, 3])
    def test_of_no_number(self, tmp_path: Path, text: str, before: int) -> None:
        path = written(tmp_path, "a.csv", "t,n\n" + "0,1\n" * before + f"{text},1\n")
        with pytest.raises(SourceError, match=rf"a.csv:{before + 2}: 't' is .*: expected a number, in us"):
            read(CsvSource(path, timestamp="t", unit="us"))

    @pytest.mark.parametrize("number", [253_402_300_800, -62_135_596_801, 2**62, 10**30])
    @pytest.mark.parametrize("quote", ["", '"'])
    def test_out_of_the_calendar_are_malformed_rows(self, tmp_path: Path, number: int, quote: str) -> None:
        """Most likely they are of another unit; the row is named, and may be left out."""
        path = written(tmp_path, "a.jsonl", f'{{"t": 1}}\n{{"t": {quote}{number}{quote}}}\n')
        with pytest.raises(
            SourceError, match=r"a.jsonl:2: .* \(it is not of the years 1 to 9999: is the unit"
        ):
            read(JsonLinesSource(path, ["t"], timestamp="t", unit="s"))
        source = JsonLinesSource(path, ["t"], timestamp="t", unit="s", on_malformed="skip")
        assert [time_us for time_us, _ in timed(source)] == [1_000_000]
