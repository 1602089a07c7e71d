"""Sentences to words, words to counts."""

from collections import Counter

from viperstorm import Bolt


class Split(Bolt):
    """Emits each word of a sentence."""

    outputs = ["word"]
    # Its output depends on nothing but its input, so it may have any number of tasks.
    config = {"viper.stateless": True}

    def process(self, tup):
        """Take one sentence."""
        (sentence,) = tup.values
        for word in sentence.split():
            self.emit([word])


class Count(Bolt):
    """Emits each word with how often it has come so far."""

    outputs = ["word", "count"]

    def initialize(self, storm_conf, context):
        """Begin with nothing counted."""
        self.counts = Counter()

    def process(self, tup):
        """Take one word."""
        (word,) = tup.values
        self.counts[word] += 1
        self.emit([word, self.counts[word]])
