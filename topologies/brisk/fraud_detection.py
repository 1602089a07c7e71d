"""Fraud detection: entities whose last transactions follow one another as they rarely do.

The score of a transaction is the probability that others would have come in place of those that came. It is
the average over the last transactions of its entity, each beside the one before. If it is above a threshold,
the transaction is reported. There is no score before an entity has had as many transactions.

DSPBench judges by five transactions and reports scores above 0.96. It adds up all probabilities one after the
other; here those of each pair are added up first, which makes a difference in the last digits of a score.
"""

from itertools import pairwise

from brisk import markov
from viperstorm import Bolt, ValueState

WINDOW, THRESHOLD = 5, 0.96
BITS = 5
"""That a state takes in the number which says the last ones; 0 is none."""
MOST = 12
"""States that a number of 64 bits has room for."""


class Settings:
    """The settings by which transactions are judged.

    Args:
        model: a file, see `markov.read`; None for one that is drawn.
        window: the last transactions of an entity that are judged by.
        threshold: scores above it are reported.

    Raises:
        ValueError: the window is too small or too large, or there are too many states.
    """

    def __init__(self, model, window, threshold):
        if not 2 <= window <= MOST:
            raise ValueError(f"a window of {window} transactions: expected 2 to {MOST}")
        self.model = markov.drawn() if model is None else markov.read(model)
        if len(self.model.states) >= 1 << BITS:
            raise ValueError(
                f"a model with {len(self.model.states)} states: expected {(1 << BITS) - 1} at most"
            )
        self.window = window
        self.threshold = threshold
        self.places = tuple(range(BITS * (window - 1), -1, -BITS))
        """The shifts of a window's states in its number, from the oldest to the newest."""


def no_transaction(line):
    """The error of a line that is none."""
    return ValueError(f"transaction {line!r}: expected entity,record,state")


def no_state(record, model):
    """The error of the rest of a transaction that has none of a model's states."""
    return ValueError(f"record {record!r}: expected record,state with one of the states {model.states}")


class Parser(Bolt):
    """Takes the entity of a transaction from the rest."""

    outputs = ["entity", "record"]
    config = {"viper.stateless": True}

    def process(self, tup):
        (line,) = tup.values
        entity, comma, record = line.partition(",")
        if not comma:
            raise no_transaction(line)
        self.emit([entity, record])


class Predictor(Bolt):
    """Tells the transactions that are far from likely.

    Args:
        model: a file with the model, see `markov.read`; None for one that is drawn.
        window: the last transactions of an entity that are judged by, 2 to 12.
        threshold: scores above it are reported.

    Raises:
        ValueError: the window or the model is out of the question.
    """

    outputs = ["entity", "score", "states"]
    recent = ValueState("int64", default=0)
    """The states of the last transactions, the newest in the lowest bits; each is its number and one."""

    def __init__(self, model=None, window=WINDOW, threshold=THRESHOLD):
        super().__init__()
        self._settings = Settings(model, window, threshold)
        self._full = (1 << BITS * window) - 1

    def process(self, tup):
        entity, record = tup.values
        model, places = self._settings.model, self._settings.places
        _, *rest = record.split(",", 2)
        state = model.index.get(rest[0]) if rest else None
        if state is None:
            raise no_state(record, model)
        recent = (self.recent.value << BITS | state + 1) & self._full
        self.recent.value = recent
        if not recent >> places[0]:
            return
        states = [(recent >> place & (1 << BITS) - 1) - 1 for place in places]
        score = 0.0
        for before, state in pairwise(states):
            score += model.misses[before][state]
        score /= len(states) - 1
        if score > self._settings.threshold:
            self.emit([entity, score, ",".join(model.states[state] for state in states)])
