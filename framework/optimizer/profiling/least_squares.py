"""The least squares that are not negative, drawn to a first guess.

All errors are relative, so that cheap tasks count as much as dear ones. If rows cannot tell terms apart, the
guess decides: its terms keep their proportions, as each is drawn to it by the part of the time that it is
guessed to take. Terms without a guess are drawn to 0, and share.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

Term = Hashable
Matrix = list[list[float]]
_DAMPING = 1e-3
"""The weight that draws a term to its guess: so little that one row with any evidence outweighs it."""
_LEAST_SHARE = 0.01
"""The least part of the time for which a guess counts: one that is far too small must not hold its term."""
_ROUNDING = 1e-9
_PATIENCE = 3


def least_squares(
    rows: Sequence[tuple[Mapping[Term, float], float]], guess: Mapping[Term, float] | None = None
) -> dict[Term, float]:
    """The coefficients, none of them negative, with the least sum of squares of relative errors.

    Args:
        rows: for each the counts of its terms, which are above 0, and their sum of costs, which is, too.
        guess: coefficients that are expected, above 0; terms that are left out are drawn to 0.
    """
    sums: dict[Term, float] = defaultdict(float)
    squares: dict[Term, float] = defaultdict(float)
    for terms, total in rows:
        for term, count in terms.items():
            sums[term] += count / total
            squares[term] += (count / total) ** 2
    index = {term: number for number, term in enumerate(squares)}
    unit = [1 / math.sqrt(square) for square in squares.values()]
    normal = [[0.0] * len(index) for _ in index]
    right = [0.0] * len(index)
    for terms, total in rows:
        parts = [(number := index[term], count / total * unit[number]) for term, count in terms.items()]
        for number, part in parts:
            right[number] += part
            for other, beside in parts:
                normal[number][other] += part * beside
    for term, number in index.items():
        expected = (guess or {}).get(term, 0.0)
        share = expected * squares[term] / sums[term]
        drawn = _DAMPING / max(share, _LEAST_SHARE) if expected else _DAMPING
        normal[number][number] += drawn
        right[number] += drawn * expected / unit[number]
    found = not_negative(normal, right)
    return {term: found[number] * unit[number] for term, number in index.items()}


def not_negative(normal: Matrix, right: Sequence[float]) -> list[float]:
    """The x >= 0 for which x'Ax/2 - b'x is least, by block principal pivoting (Júdice and Pires, 1994).

    Args:
        normal: A, symmetric and positive definite.
        right: b.
    """
    size = len(right)
    free = set(range(size))
    fewest, patience = size + 1, _PATIENCE
    while True:
        order = sorted(free)
        found = [0.0] * size
        for number, value in zip(order, solved(normal, right, order), strict=True):
            found[number] = value
        wrong = [at for at in range(size) if _is_wrong(at, found, normal, right, at in free)]
        if not wrong:
            return [max(0.0, value) for value in found]
        if len(wrong) < fewest:
            fewest, patience = len(wrong), _PATIENCE
        else:
            patience -= 1
        # One at a time comes to an end always, all at once nearly always, and sooner.
        free ^= set(wrong) if patience >= 0 else {wrong[-1]}


def _is_wrong(at: int, found: Sequence[float], normal: Matrix, right: Sequence[float], is_free: bool) -> bool:
    if is_free:
        return found[at] < -_ROUNDING
    slope = sum(one * value for one, value in zip(normal[at], found, strict=True))
    return right[at] - slope > _ROUNDING


def solved(normal: Matrix, right: Sequence[float], chosen: Sequence[int]) -> list[float]:
    """The solution of some of the equations in as many of the unknowns, by Cholesky's method.

    Args:
        normal: the matrix of all of them, symmetric and positive definite.
        right: the right sides of all.
        chosen: the indexes of equations and unknowns.
    """
    lower: Matrix = []
    halfway: list[float] = []
    for row, number in enumerate(chosen):
        line: list[float] = []
        for column in range(row):
            known = sum(map(float.__mul__, line, lower[column]))
            line.append((normal[number][chosen[column]] - known) / lower[column][column])
        pivot = math.sqrt(normal[number][number] - sum(map(float.__mul__, line, line)))
        halfway.append((right[number] - sum(map(float.__mul__, line, halfway))) / pivot)
        lower.append([*line, pivot])
    found = [0.0] * len(chosen)
    for row in range(len(chosen) - 1, -1, -1):
        later = sum(lower[below][row] * found[below] for below in range(row + 1, len(chosen)))
        found[row] = (halfway[row] - later) / lower[row][row]
    return found
