"""The bolt on its own: what it emits for what it is given."""

from io import BytesIO

from bolts.words import Count
from streamparse import Tuple


def test_count_goes_on():
    emitted = []
    bolt = Count(input_stream=BytesIO(), output_stream=BytesIO())
    bolt.emit = emitted.append
    bolt.initialize({}, {})
    for word in ("cow", "moon", "cow"):
        bolt.process(Tuple("id", "words", "default", 1, (word,)))
    assert emitted == [["cow", 1], ["moon", 1], ["cow", 2]]
