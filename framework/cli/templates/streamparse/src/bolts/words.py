"""Words to counts."""

from collections import Counter

from streamparse import Bolt


class Count(Bolt):
    """Emits each word with how often it has come so far, and logs every hundred thousandth count."""

    outputs = ["word", "count"]

    def initialize(self, conf, ctx):
        """Begin with nothing counted."""
        self.counts = Counter()

    def process(self, tup):
        """Take one word."""
        word = tup.values[0]
        self.counts[word] += 1
        if self.counts[word] % 100_000 == 0:
            self.logger.info("%s: %s", word, self.counts[word])
        self.emit([word, self.counts[word]])
