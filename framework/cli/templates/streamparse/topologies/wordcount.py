"""Counts words that come without end."""

from bolts.words import Count
from spouts.words import Words
from streamparse import Grouping, Topology


class WordCount(Topology):
    """Each word goes to the task that counts it."""

    words = Words.spec()
    count = Count.spec(inputs={words: Grouping.fields("word")}, par=2)
