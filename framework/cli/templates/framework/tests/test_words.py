"""The bolts, each on its own: what they emit for what they are given."""

from bolts.words import Count, Split

from framework import Tuple


def emitted_by(bolt, *inputs):
    """What a bolt emits while it processes tuples of these values."""
    emitted = []
    bolt.emit = emitted.append
    bolt.initialize({}, {})
    for values in inputs:
        bolt.process(Tuple("id", "source", "default", 1, values))
    return emitted


def test_split_emits_words():
    assert emitted_by(Split(), ("four score",)) == [["four"], ["score"]]


def test_count_goes_on():
    assert emitted_by(Count(), ("cow",), ("moon",), ("cow",)) == [["cow", 1], ["moon", 1], ["cow", 2]]
