"""The spouts on columns, and what bolts on columns have in common: text taken apart, and rows by key."""

from array import array
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from brisk import spouts
from viperstorm import Block, Stream

PORTIONS = 2
"""Of what is drawn, so many are a block: the longer columns are, the less of the work is Python's."""
TEXT, WHOLE, REAL = "string not null", "int64 not null", "float64 not null"
STATELESS = {"viper.stateless": True}
RUNS = {"viper.shuffle.run": 1024}
"""Columns are cut and put in order again run by run: of single rows, that would be most of the work."""
IS_WORD = np.zeros(256, np.uint8)
IS_WORD[[byte for byte in range(128) if chr(byte).isalnum() or chr(byte) == "_"]] = 1


def texts(*fields):
    """A stream of them."""
    return Stream(schema=dict.fromkeys(fields, TEXT))


# -- spouts


class Columns:
    """Brings lines as columns, in the place of tuples."""

    outputs = [texts("line")]

    def made(self, partition, start_us):
        """Draw the blocks of lines from now on."""
        portions = self.portions(partition, start_us)
        while several := list(islice(portions, PORTIONS)):
            times, lines = array("q"), []
            for numbers, portion in several:
                times.extend(numbers)
                lines += portion
            yield Block(times, pa.record_batch([pa.array(lines, pa.string())], ["line"]))


class Sentences(Columns, spouts.Sentences):
    """The input of word count."""


class Transactions(Columns, spouts.Transactions):
    """The input of fraud detection."""


class Readings(Columns, spouts.Readings):
    """The input of spike detection."""


class Requests(Columns, spouts.Requests):
    """The input of log processing."""


# -- text


def words_of(column):
    """All words of a column of texts, and for each text the number of words up to its end.

    A word is as long as there are letters, digits and underscores, by ASCII.

    Args:
        column: of Arrow's strings without nulls.
    """
    offsets, text = buffers_of(column)
    is_word = IS_WORD[text].view(np.bool_)
    begins = is_word.copy()
    begins[1:] &= ~is_word[:-1]
    firsts = offsets[:-1][offsets[:-1] < len(text)]
    # A text that is behind another one begins a word of its own.
    begins[firsts] |= is_word[firsts]
    letters = np.concatenate((np.zeros(1, np.int32), np.cumsum(is_word, dtype=np.int32)))
    at = np.flatnonzero(begins)
    ends = np.concatenate((letters[at], letters[-1:]))
    words = pa.StringArray.from_buffers(len(at), pa.py_buffer(ends), pa.py_buffer(text[is_word]))
    return words, np.searchsorted(at, offsets[1:])


def buffers_of(column):
    """Find the offsets of a column's texts in an array of bytes, with the end of the last, and that array."""
    _, offsets, text = column.buffers()
    offsets = np.frombuffer(offsets, np.int32, len(column) + 1, column.offset * 4) if len(column) else [0]
    offsets = np.asarray(offsets, np.int32)
    whole = np.zeros(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    return offsets - offsets[0], whole[offsets[0] : offsets[-1]]


def split(column, count, pattern=None):
    """Texts taken apart: which of them have so many parts, and each of these parts as a column.

    Args:
        column: of Arrow's strings.
        count: of parts.
        pattern: what is between them; None for blanks.
    """
    if pattern is None:
        lists = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(column))
    else:
        lists = pc.split_pattern(column, pattern, max_splits=count - 1)
    fits = pc.list_value_length(lists).to_numpy() == count
    if not fits.all():
        lists = lists.filter(pa.array(fits))
    parts = lists.flatten()
    places = np.arange(0, len(parts), count)
    return fits, [parts.take(pa.array(places + part)) for part in range(count)]


# -- keys


class Runs:
    """The rows of a batch by key, those of each in their order.

    Args:
        slots: a number for the key of each row, as `rows.slots` gives it.
    """

    def __init__(self, slots):
        self.order = np.argsort(slots, kind="stable")
        """The indexes of the rows."""
        differs = np.diff(slots[self.order]) != 0
        self.firsts = np.concatenate(([0], np.flatnonzero(differs) + 1)) if len(slots) else np.zeros(0, int)
        """The index of each key's first row in that order."""
        self.lengths = np.diff(np.append(self.firsts, len(slots)))
        """The number of rows of each key."""
        self.nth = np.arange(len(slots)) - np.repeat(self.firsts, self.lengths)
        """Of each of them, how many of its key there are before."""

    def keys(self, column):
        """The key of each run, of a column of them."""
        return column.take(pa.array(self.order[self.firsts]))

    def lasts(self):
        """The index of each key's last row in that order."""
        return self.firsts + self.lengths - 1

    def in_rows(self, values):
        """Values in the order of the rows."""
        found = np.empty_like(values)
        found[self.order] = values
        return found


def numbers_of(state, keys):
    """The numbers that keys have."""
    return np.asarray(state.add_all(keys, np.zeros(len(keys), np.int64)))
