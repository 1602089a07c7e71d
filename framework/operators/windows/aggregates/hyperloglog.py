"""HyperLogLog: how many different hashes there were, from the greatest rank in each of many registers.

The sketch is that of P. Flajolet, E. Fusy, O. Gandouet and F. Meunier (2007), of hashes with 64 bits. The
estimate is the improved raw one of O. Ertl ("New cardinality estimation algorithms for HyperLogLog sketches",
2017), which needs neither tables nor other formulas for few or many values. Its standard error is 1.04 over
the root of the number of registers.
"""

from __future__ import annotations

from collections import Counter
from math import inf, log, sqrt
from typing import Final

Registers = dict[int, int] | bytearray
"""The rank in each register: by its number while few have one, then of all, in a byte each."""

LEAST_PRECISION: Final = 4
MOST_PRECISION: Final = 18
_HASH_BITS: Final = 64
_MOST_SPARSE: Final = 1 / 16
"""The share of registers beyond which all are kept: an entry of a dict takes as much memory as 16 or more."""


def noted(registers: Registers, value: int, precision: int) -> Registers:
    """Note a hash.

    Args:
        registers: what is known; it may be changed.
        value: the hash, in [0, 2**64), of which every bit is as random as the others.
        precision: the number of bits that choose the register.

    Returns:
        The registers, the same or others.
    """
    rest_bits = _HASH_BITS - precision
    index = value >> rest_bits
    rank = rest_bits - (value & ((1 << rest_bits) - 1)).bit_length() + 1
    if isinstance(registers, dict):
        if rank > registers.get(index, 0):
            registers[index] = rank
            return _fitting(registers, precision)
    elif rank > registers[index]:
        registers[index] = rank
    return registers


def union(first: Registers, second: Registers, precision: int) -> Registers:
    """The registers of the hashes of both; neither is changed."""
    if isinstance(first, bytearray) and isinstance(second, bytearray):
        return bytearray(map(max, first, second))
    few, many = (first, second) if isinstance(first, dict) else (second, first)
    assert isinstance(few, dict), "of two that are not both dense one is sparse"
    found = many.copy()
    for index, rank in few.items():
        if rank > (found.get(index, 0) if isinstance(found, dict) else found[index]):
            found[index] = rank
    return _fitting(found, precision) if isinstance(found, dict) else found


def estimate(registers: Registers, precision: int) -> float:
    """Estimate the number of different hashes; 0.0 for none."""
    size = 1 << precision
    ranks = Counter(registers.values() if isinstance(registers, dict) else registers)
    empty = ranks.pop(0, 0) + (size - len(registers))
    most = _HASH_BITS - precision + 1
    total = size * _tau(1 - ranks[most] / size)
    for rank in range(most - 1, 0, -1):
        total = 0.5 * (total + ranks[rank])
    total += size * _sigma(empty / size)
    return size * size / (2 * log(2) * total) if total else inf


def _fitting(registers: dict[int, int], precision: int) -> Registers:
    size = 1 << precision
    if len(registers) <= size * _MOST_SPARSE:
        return registers
    dense = bytearray(size)
    for index, rank in registers.items():
        dense[index] = rank
    return dense


def _sigma(share: float) -> float:
    """Ertl's correction for registers without a rank, where these have a share of all."""
    if share == 1:
        return inf
    weight, total, before = 1.0, share, -1.0
    while total != before:
        share *= share
        before, total = total, total + share * weight
        weight += weight
    return total


def _tau(share: float) -> float:
    """Ertl's correction for registers with the greatest rank, where the others have a share of all."""
    if share in (0, 1):
        return 0.0
    weight, total, before = 1.0, 1 - share, -1.0
    while total != before:
        share = sqrt(share)
        weight *= 0.5
        before, total = total, total - (1 - share) ** 2 * weight
    return total / 3
