"""A spout over a few sentences."""

from viperstorm import Spout

SENTENCES = [
    "the cow jumped over the moon",
    "an apple a day keeps the doctor away",
    "four score and seven years ago",
    "the early bird catches the worm",
]


class Sentences(Spout):
    """Emits each sentence once, and ends; a spout that never ends defines next_tuple instead."""

    outputs = ["sentence"]

    def tuples(self):
        """Yield the values of one tuple after the other."""
        for sentence in SENTENCES:
            yield [sentence]
