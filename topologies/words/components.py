"""Word count: lines of a text, their words, running counts, the most frequent words."""

import gzip
from heapq import nlargest
from pathlib import Path

from viperstorm import Bolt, Spout

TEXT = Path(__file__).parent.parent / "data" / "kjv.txt.gz"


class Lines(Spout):
    """Emits a text line by line, from a plain or gzipped file (config key ``words.text``)."""

    outputs = ["number", "line"]
    # The number of a line is its time, a second per line. So what happens by time, as ticks do,
    # happens at the same word in every run.
    config = {"viper.timestamp.field": "number", "viper.timestamp.unit": "s"}

    def initialize(self, storm_conf, context):
        path = storm_conf.get("words.text", str(TEXT))
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8") as text:
            self.lines = enumerate(text.read().splitlines(), start=1)

    def next_tuple(self):
        self.emit(next(self.lines))


class Split(Bolt):
    """Emits the words of each line."""

    outputs = ["word"]
    # Its output depends on nothing but the line, so any of its tasks may get it.
    config = {"viper.stateless": True}

    def process(self, tup):
        for word in tup.values.line.split():
            self.emit([word])


class Count(Bolt):
    """Emits every word with the number of times that it has come so far."""

    outputs = ["word", "count"]

    def initialize(self, storm_conf, context):
        self.counts = {}

    def process(self, tup):
        word = tup.values.word
        count = self.counts[word] = self.counts.get(word, 0) + 1
        self.emit([word, count])


class TopWords(Bolt):
    """Emits the most frequent words with their counts (config key ``words.top``: how many)."""

    outputs = ["rank", "word", "count"]
    # A tick every so many lines, and one at the end of the text, which is shorter than that.
    config = {"topology.tick.tuple.freq.secs": 100_000}

    def initialize(self, storm_conf, context):
        self.size = storm_conf.get("words.top", 10)
        self.counts = {}

    def process(self, tup):
        word, count = tup.values
        self.counts[word] = count

    def process_tick(self, tup):
        top = nlargest(self.size, self.counts.items(), key=lambda entry: (entry[1], entry[0]))
        for rank, (word, count) in enumerate(top, start=1):
            self.emit([rank, word, count])
