"""Word count: lines of a text, their words, running counts, the most frequent words."""

import gzip
from heapq import nlargest
from pathlib import Path

from streamparse import Bolt, Spout

TEXT = Path(__file__).parent.parent / "data" / "kjv.txt.gz"


class Lines(Spout):
    """Emits a text line by line, from a plain or gzipped file (config key ``words.text``)."""

    outputs = ["line"]

    def initialize(self, storm_conf, context):
        path = storm_conf.get("words.text", str(TEXT))
        opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
        with opened as text:
            self.lines = iter(text.read().splitlines())

    def next_tuple(self):
        self.emit([next(self.lines)])


class Split(Bolt):
    """Emits the words of each line."""

    outputs = ["word"]

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
    """Emits the most frequent words, with their counts, at each tick and at the end of the text."""

    outputs = ["rank", "word", "count"]
    config = {"topology.tick.tuple.freq.secs": 86400}

    def initialize(self, storm_conf, context):
        self.size = storm_conf.get("words.top", 10)
        self.counts = {}

    def process(self, tup):
        word, count = tup.values
        self.counts[word] = count

    def process_tick(self, tup):
        top = nlargest(self.size, self.counts.items(), key=lambda entry: (entry[1], entry[0]))
        for rank, (word, count) in enumerate(top, start=1):
            self.logger.debug("%2d. %s: %d", rank, word, count)
            self.emit([rank, word, count])
