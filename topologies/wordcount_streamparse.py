"""Word count over the King James Bible, as a streamparse topology with streamparse components.

    viper run --print top topologies/wordcount_streamparse.py
"""

from streamparse import Grouping, Topology
from words.components_streamparse import Count, Lines, Split, TopWords


class WordCount(Topology):
    """Lines to words, words to counts, counts to the most frequent words."""

    lines = Lines.spec()
    split = Split.spec(inputs=[lines], par=2)
    count = Count.spec(inputs={split: Grouping.fields("word")}, par=2)
    top = TopWords.spec(inputs={count: Grouping.GLOBAL})
