"""The bolts of the applications on columns; they have the same state by key, and emit the same.

Columns stay columns where a bolt emits to a single stream. State lies in numbers and bytes, which are read
and written for all keys of a batch in one call.
"""

from functools import reduce
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from brisk import fraud_detection, spike_detection
from brisk.columns import (
    REAL,
    RUNS,
    STATELESS,
    TEXT,
    WHOLE,
    Readings,
    Requests,
    Runs,
    Sentences,
    Transactions,
    numbers_of,
    split,
    texts,
    words_of,
)
from brisk.log_batches import (
    Cities,
    Countries,
    Geography,
    RequestParser,
    StatusCounter,
    VolumeCounter,
)
from viperstorm import BatchBolt, Stream, ValueState

__all__ = [
    "Cities",
    "Counter",
    "Countries",
    "Detector",
    "Geography",
    "LineParser",
    "MovingAverage",
    "Predictor",
    "ReadingParser",
    "Readings",
    "RequestParser",
    "Requests",
    "Sentences",
    "Splitter",
    "StatusCounter",
    "TransactionParser",
    "Transactions",
    "VolumeCounter",
]

NOTHING, COMMA = pa.scalar(""), pa.scalar(",")
STATE = "^[^,]*,(?P<state>[^,]*)"
"""The pattern of the state of a record, after the name of the transaction."""


# -- word count


class LineParser(BatchBolt):
    """Passes lines on that are not blank."""

    outputs = [texts("sentence")]
    config = STATELESS | RUNS

    def process_rows(self, rows):
        lines = rows.array("line")
        found = pc.not_equal(pc.utf8_trim_whitespace(lines), NOTHING)
        if pc.all(found).as_py():
            self.emit_rows({"sentence": lines})
        else:
            batch, of = rows.where(found)
            self.emit_rows({"sentence": batch.column(0)}, of)


class Splitter(BatchBolt):
    """Emits the words of each sentence."""

    outputs = [texts("word")]
    config = STATELESS | RUNS

    def process_rows(self, rows):
        words, ends = words_of(rows.array("sentence"))
        self.emit_rows({"word": words}, ends=ends, gives_away=True)


class Counter(BatchBolt):
    """Emits each word with how often it has come so far."""

    outputs = [Stream(schema={"word": TEXT, "count": WHOLE})]
    seen = ValueState("int64", default=0)

    def process_rows(self, rows):
        words = rows.array("word")
        self.emit_rows({"word": words, "count": np.asarray(self.seen.add_all(words))}, gives_away=True)


# -- fraud detection


class TransactionParser(BatchBolt):
    """Takes the entity of a transaction from the rest."""

    outputs = [texts("entity", "record")]
    config = STATELESS | RUNS

    def process_rows(self, rows):
        fits, (entity, record) = split(rows.array("line"), 2, ",")
        if not fits.all():
            raise fraud_detection.no_transaction(rows.column("line")[int(np.argmin(fits))])
        self.emit_rows({"entity": entity, "record": record}, gives_away=True)


class Predictor(BatchBolt):
    """Tells the transactions that are far from likely.

    Args:
        model: a file with the model, see `markov.read`; None for one that is drawn.
        window: the last transactions of an entity that are judged by, 2 to 12.
        threshold: scores above it are reported.

    Raises:
        ValueError: the window or the model is out of the question.
    """

    outputs = [Stream(schema={"entity": TEXT, "score": REAL, "states": TEXT})]
    recent = ValueState("int64", default=0)

    def __init__(self, model=None, window=fraud_detection.WINDOW, threshold=fraud_detection.THRESHOLD):
        super().__init__()
        self._settings = fraud_detection.Settings(model, window, threshold)

    def initialize(self, conf, context):
        self._misses = np.array(self._settings.model.misses)
        self._names = pa.array(self._settings.model.states)

    def process_rows(self, rows):
        runs, entities = Runs(rows.slots("entity")), rows.array("entity")
        keys = runs.keys(entities)
        stored = numbers_of(self.recent, keys)
        recent = self._recent(runs, self._states(rows)[runs.order], stored)
        self.recent.add_all(keys, recent[runs.lasts()] - stored)
        self._tell(rows, entities, runs.in_rows(recent))

    def _states(self, rows):
        """The state of each row."""
        found = pc.index_in(pc.struct_field(pc.extract_regex(rows.array("record"), STATE), 0), self._names)
        if found.null_count:
            row = int(np.argmin(found.is_valid().to_numpy(zero_copy_only=False)))
            raise fraud_detection.no_state(rows.column("record")[row], self._settings.model)
        return found.to_numpy().astype(np.int64)

    def _recent(self, runs, states, stored):
        """For rows by key the number of the last states, as single transactions would leave it."""
        bits, digit = fraud_detection.BITS, (1 << fraud_detection.BITS) - 1
        stored, at = np.repeat(stored, runs.lengths), np.arange(len(states))
        recent = states + 1
        for lag in range(1, self._settings.window):
            # What lies so far behind is among these rows, or was before them.
            known = stored >> bits * np.maximum(lag - runs.nth - 1, 0) & digit
            recent |= np.where(runs.nth >= lag, states[np.maximum(at - lag, 0)] + 1, known) << bits * lag
        return recent

    def _tell(self, rows, entities, recent):
        digit = (1 << fraud_detection.BITS) - 1
        of = np.flatnonzero(recent >> self._settings.places[0])
        states = [(recent[of] >> place & digit) - 1 for place in self._settings.places]
        misses = [self._misses[before, state] for before, state in pairwise(states)]
        scores = reduce(np.add, misses) / len(misses)
        told = np.flatnonzero(scores > self._settings.threshold)
        if len(told):
            names = [self._names.take(pa.array(state[told])) for state in states]
            joined = pc.binary_join_element_wise(*names, COMMA)
            entity = entities.take(pa.array(of[told]))
            self.emit_rows(
                {"entity": entity, "score": scores[told], "states": joined}, of[told], gives_away=True
            )


# -- spike detection


class ReadingParser(BatchBolt):
    """Takes readings from lines; those that are too short or no numbers are left out.

    Args:
        form: what lines are like, one of `spike_detection.FORMS`.

    Raises:
        ValueError: it is none of them.
    """

    outputs = [Stream(schema={"device": TEXT, "time": WHOLE, "value": REAL})]
    config = STATELESS | RUNS

    def __init__(self, form="laboratory"):
        super().__init__()
        self._parsed = spike_detection.parser_of(form)
        self._together = {"laboratory": _laboratory, "smart_grid": _smart_grid}[form]

    def process_rows(self, rows):
        try:
            fits, columns = self._together(rows.array("line"))
            of = np.flatnonzero(fits)
        except pa.ArrowInvalid:  # A field is no number, so lines are looked at one by one.
            parsed = list(map(self._parsed, rows.column("line")))
            of = np.array([row for row, reading in enumerate(parsed) if reading is not None], np.int64)
            columns = list(zip(*filter(None, parsed), strict=True))
        if len(of):
            found = dict(zip(self.outputs[0].fields, columns, strict=True))
            self.emit_rows({name: _column(values) for name, values in found.items()}, of, gives_away=True)


def _column(values):
    return list(values) if isinstance(values, tuple) else values


def _laboratory(lines):
    fits, parts = split(lines, spike_detection.FIELDS)
    times = pc.binary_join_element_wise(parts[0], parts[1], pa.scalar(" ")).cast(pa.timestamp("us"))
    return fits, (parts[3], times.cast(pa.int64()), parts[4].cast(pa.float64()))


def _smart_grid(lines):
    fits, (time, value, *device) = split(lines, spike_detection.GRID_FIELDS)
    times = pc.multiply(time.cast(pa.int64()), pa.scalar(spike_detection.MICROSECONDS))
    return fits, (pc.binary_join_element_wise(*device[::-1], pa.scalar("-")), times, value.cast(pa.float64()))


class MovingAverage(BatchBolt):
    """Emits each reading with the average of its sensor's last ones.

    Args:
        window: how many they are.
    """

    outputs = [Stream(schema={"device": TEXT, "average": REAL, "value": REAL})]
    total = ValueState("float64", default=0.0)
    last = ValueState("binary", default=b"")
    """The last readings, the oldest first."""

    def __init__(self, window=spike_detection.WINDOW):
        super().__init__()
        self._window = window

    def process_rows(self, rows):
        runs, devices = Runs(rows.slots("device")), rows.array("device")
        keys = runs.keys(devices)
        values, averages = rows.numpy("value")[runs.order], np.empty(len(rows))
        totals, kept = [], []
        before = zip(self.total.get_all(keys), self.last.get_all(keys), strict=True)
        for first, length, (total, last) in zip(runs.firsts, runs.lengths, before, strict=True):
            new, old = values[first : first + length], np.frombuffer(last)
            known = np.concatenate((old, new))
            sums = self._sums(total, known, len(old))
            counts = np.minimum(np.arange(len(old) + 1, len(known) + 1), self._window)
            averages[first : first + length] = sums / counts
            totals.append(float(sums[-1]))
            kept.append(known[-self._window :].tobytes())
        self.total.put_all(keys, totals)
        self.last.put_all(keys, kept)
        made = {"device": devices, "average": runs.in_rows(averages), "value": rows.array("value")}
        self.emit_rows(made, gives_away=True)

    def _sums(self, total, known, first):
        """The sum after each reading from the first new one on. From one to the next the oldest is taken away
        and the newest is added, one after the other, as single readings would do it."""
        leaves, gone = np.zeros(len(known) - first), max(len(known) - self._window, 0)
        leaves[len(leaves) - gone :] = -known[:gone]
        steps = np.empty(2 * len(leaves) + 1)
        steps[0], steps[1::2], steps[2::2] = total, leaves, known[first:]
        return np.add.accumulate(steps)[2::2]


class Detector(BatchBolt):
    """Tells readings that are far from the average.

    Args:
        threshold: how far, as a share of the average.
    """

    outputs = [Stream(schema={"device": TEXT, "average": REAL, "value": REAL, "message": TEXT})]
    config = STATELESS | RUNS

    def __init__(self, threshold=spike_detection.THRESHOLD):
        super().__init__()
        self._threshold = threshold

    def process_rows(self, rows):
        average = rows.numpy("average")
        of = np.flatnonzero(np.abs(rows.numpy("value") - average) > self._threshold * average)
        if len(of):
            found = rows.batch().take(pa.array(of))
            told = dict(zip(found.schema.names, found.columns, strict=True))
            message = pa.repeat(spike_detection.MESSAGE, len(of))
            self.emit_rows({**told, "message": message}, of, gives_away=True)
