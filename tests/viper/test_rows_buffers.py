"""Functions on the bytes of a buffer, against the same in Python."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from viper.hashing import xxh64
from viper.rows import descent, is_ascii

MASK = 2**64 - 1
PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def rotated(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & MASK


def added(total: int, word: int) -> int:
    return rotated((total + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def reference(data: bytes, seed: int) -> int:
    """XXH64 as its specification has it."""

    def word(at: int, size: int = 8) -> int:
        return int.from_bytes(data[at : at + size], "little")

    end = len(data) // 32 * 32
    found = (seed + PRIMES[4]) & MASK
    if end:
        sums = [(seed + more) & MASK for more in (PRIMES[0] + PRIMES[1], PRIMES[1], 0, -PRIMES[0])]
        for at in range(0, end, 32):
            sums = [added(total, word(at + 8 * lane)) for lane, total in enumerate(sums)]
        found = sum(rotated(total, by) for total, by in zip(sums, (1, 7, 12, 18), strict=True)) & MASK
        for total in sums:
            found = ((found ^ added(0, total)) * PRIMES[0] + PRIMES[3]) & MASK
    found = (found + len(data)) & MASK
    while len(data) - end >= 8:
        found = (rotated(found ^ added(0, word(end)), 27) * PRIMES[0] + PRIMES[3]) & MASK
        end += 8
    if len(data) - end >= 4:
        found = (rotated(found ^ word(end, 4) * PRIMES[0] & MASK, 23) * PRIMES[1] + PRIMES[2]) & MASK
        end += 4
    for byte in data[end:]:
        found = rotated(found ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    found = (found ^ found >> 33) * PRIMES[1] & MASK
    found = (found ^ found >> 29) * PRIMES[2] & MASK
    return found ^ found >> 32


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0xEF46DB3751D8E999), (b"a", 0xD24EC4F1A98C6E5B), (b"abc", 0x44BC2CF5AD770999)],
)
def test_checksums_that_are_known(data: bytes, expected: int) -> None:
    assert xxh64(data) == reference(data, 0) == expected


@given(st.binary(max_size=200), st.integers(0, MASK))
def test_checksums_of_any_bytes(data: bytes, seed: int) -> None:
    assert xxh64(data, seed) == reference(data, seed)


@given(st.binary(min_size=1, max_size=200), st.data())
def test_one_bit_makes_another_checksum(data: bytes, drawn: st.DataObject) -> None:
    bit = drawn.draw(st.integers(0, 8 * len(data) - 1))
    other = bytearray(data)
    other[bit // 8] ^= 1 << bit % 8
    assert xxh64(other) != xxh64(data)


@given(st.binary(max_size=40), st.integers(0, 600))
@example(b"\x80", 255)
@example(b"\x80", 256)
def test_ascii(data: bytes, before: int) -> None:
    data = b"a" * before + data
    assert is_ascii(data) == data.isascii()
    assert is_ascii(memoryview(data)[before:]) == data[before:].isascii()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20), st.integers(0, 600))
@example([5, 5, 6, -1], 0)
@example([300, 299], 256)
def test_where_times_go_back(times: list[int], before: int) -> None:
    times = [*([-(2**63)] * before), *times]
    found = next((at for at in range(1, len(times)) if times[at] < times[at - 1]), -1)
    assert descent(array("q", times)) == found


def test_what_is_no_buffer_is_refused() -> None:
    for function in (xxh64, is_ascii, descent):
        with pytest.raises(TypeError, match="bytes-like"):
            function("text")  # type: ignore[operator]
