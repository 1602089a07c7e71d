"""The hash by which a Storm cluster places keys, so that placement can be the same here.

Storm takes ``Arrays.deepHashCode`` of the selected values as its JSON reader made them (2.6 and later). An
integer becomes an Integer if it fits, else a Long, else a BigInteger. Any other number becomes a Double, or a
BigDecimal if its text is longer than 18 characters.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

_LONGEST_DOUBLE = 18
"""Characters."""


def storm_hash(values: Sequence[Any]) -> int:
    """``Arrays.deepHashCode`` of the values of a key, a signed 32-bit integer.

    Raises:
        TypeError: a value that Storm's JSON could not carry.
    """
    return _of_list(values)


def _of_value(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool):
        return 1231 if value else 1237
    if isinstance(value, str):
        return _of_string(value)
    if isinstance(value, bytes):
        return _of_bytes(value)
    if isinstance(value, int):
        return _of_int(value)
    if isinstance(value, float):
        return _of_number_text(float.__repr__(value))
    if isinstance(value, Decimal):
        return _of_number_text(str(value))
    if isinstance(value, list | tuple):
        return _of_list(value)
    if isinstance(value, Mapping):
        return _signed(sum(_of_string(_json_key(k)) ^ _of_value(v) for k, v in value.items()))
    raise TypeError(f"{value!r} is no key for a Storm cluster: its JSON has no {type(value).__qualname__}")


def _signed(number: int) -> int:
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def _of_list(values: Sequence[Any]) -> int:
    result = 1
    for value in values:
        result = (31 * result + _of_value(value)) & 0xFFFFFFFF
    return _signed(result)


def _of_string(text: str) -> int:
    data = text.encode("utf-16-le", "surrogatepass")
    result = 0
    for unit in struct.unpack(f"<{len(data) // 2}H", data):
        result = (31 * result + unit) & 0xFFFFFFFF
    return _signed(result)


def _of_bytes(value: bytes) -> int:
    try:
        return _of_string(value.decode())
    except UnicodeDecodeError as error:
        raise TypeError(
            f"{value!r} is no key for a Storm cluster: its JSON has text only ({error})"
        ) from None


def _of_int(value: int) -> int:
    if -(1 << 31) <= value < 1 << 31:
        return value
    if -(1 << 63) <= value < 1 << 63:
        return _signed(value ^ ((value & 0xFFFFFFFFFFFFFFFF) >> 32))
    return _of_big_integer(value)


def _of_big_integer(value: int) -> int:
    magnitude, result = abs(value), 0
    for shift in range((magnitude.bit_length() + 31) // 32 * 32 - 32, -1, -32):
        result = (31 * result + (magnitude >> shift & 0xFFFFFFFF)) & 0xFFFFFFFF
    return _signed(-result if value < 0 else result)


def _of_number_text(text: str) -> int:
    if text.lstrip("-").isdigit():
        return _of_int(int(text))
    if not Decimal(text).is_finite():
        raise TypeError(f"{text} is no key for a Storm cluster: its JSON has no such number")
    return _of_big_decimal(text) if len(text) > _LONGEST_DOUBLE else _of_double(float(text))


def _of_big_decimal(text: str) -> int:
    sign, digits, exponent = Decimal(text).as_tuple()
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    return _signed(31 * _of_big_integer(unscaled) - int(exponent))


def _of_double(value: float) -> int:
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return _signed(bits ^ bits >> 32)


def _json_key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)
