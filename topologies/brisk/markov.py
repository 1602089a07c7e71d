"""The model that transactions are judged by: the probability of each kind of them after each other one.

A kind has three letters. The first says whether the amount is low, medium or high. The second says whether
something expensive is bought, ``N`` for none and ``H`` for high. The third says whether the last transaction
is long, a normal time, or a short time ago. DSPBench's model was learnt from transactions, and is its own; a
model in its format can be read.
"""

import csv
from itertools import product

import numpy as np

STATES = tuple(map("".join, product("LMH", "NH", "LNS")))
"""The kinds of transactions."""
OFTEN = ((0.31, 0.46, 0.23), (0.81, 0.19), (0.36, 0.45, 0.19))
"""About how often each letter comes, in the order above."""


class Model:
    """A Markov model.

    Args:
        states: their names.
        rows: for each of them, how likely each of them follows.

    Raises:
        ValueError: there are not as many rows and columns as states, or a row does not add up to 1.
    """

    def __init__(self, states, rows):
        self.states = tuple(states)
        count = len(self.states)
        if len(rows) != count or any(len(row) != count for row in rows):
            raise ValueError(f"a model of {count} states has {list(map(len, rows))} numbers in its rows")
        for state, row in zip(self.states, rows, strict=True):
            if abs(sum(row) - 1) > 1e-6:
                raise ValueError(f"the probabilities behind {state} add up to {sum(row)}: expected 1")
        self.rows = tuple(map(tuple, rows))
        """The probability of each state after each other one."""
        self.misses = tuple(tuple(_others(row, target) for target in range(count)) for row in rows)
        """For each state and the one that followed, how likely another one would have."""
        self.index = {state: number for number, state in enumerate(self.states)}


def _others(row, target):
    # One behind the other, as newer Pythons' sum does not add.
    found = 0.0
    for state, probability in enumerate(row):
        if state != target:
            found += probability
    return found


def drawn(seed=1):
    """A model of the usual states: frequent ones are likely after each of them, a bit more or less so."""
    chance = np.random.default_rng(seed)
    often = np.array([a * b * c for a, b, c in product(*OFTEN)])
    rows = often * chance.uniform(0.8, 1.25, (len(STATES), len(STATES)))
    return Model(STATES, (rows / rows.sum(axis=1, keepdims=True)).tolist())


def read(path):
    """A model from a file: a line with the names of states, and one with numbers for each of them.

    Args:
        path: of the file.

    Raises:
        ValueError: it has no such lines.
    """
    with open(path, newline="", encoding="ascii") as file:
        states, *rows = csv.reader(file)
    return Model(states, [list(map(float, row)) for row in rows])
