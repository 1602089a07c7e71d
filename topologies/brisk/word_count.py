"""Word count: the words of sentences, each with how often it has come.

A word is as long as there are letters, digits and underscores, by ASCII. The paper's sentences have ten of
them.
"""

import re

from viperstorm import Bolt, ValueState

WORDS = re.compile(r"\w+", re.ASCII)


class Parser(Bolt):
    """Passes lines on that are not blank."""

    outputs = ["sentence"]
    config = {"viper.stateless": True}

    def process(self, tup):
        (line,) = tup.values
        if line.strip():
            self.emit([line])


class Splitter(Bolt):
    """Emits the words of each sentence."""

    outputs = ["word"]
    config = {"viper.stateless": True}

    def process(self, tup):
        for word in WORDS.findall(tup.values[0]):
            self.emit([word])


class Counter(Bolt):
    """Emits each word with how often it has come so far."""

    outputs = ["word", "count"]
    seen = ValueState("int64", default=0)

    def process(self, tup):
        (word,) = tup.values
        self.emit([word, self.seen.add(1)])
