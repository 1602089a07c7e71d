"""A spout of words without end."""

from itertools import cycle

from streamparse import Spout


class Words(Spout):
    """Emits the same words over and over."""

    outputs = ["word"]

    def initialize(self, stormconf, context):
        """Begin with the first word."""
        self.words = cycle(["cow", "moon", "apple", "doctor", "bird", "worm"])

    def next_tuple(self):
        """Emit one word."""
        self.emit([next(self.words)])
